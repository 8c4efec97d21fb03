"""`/rollouts`: one remedy on many hosts, a canary first, then in waves; it stops by itself when something goes wrong."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.remedies.errors import BadParameter, IncidentUnknown, NoAgent, NotUndoable, SecondPersonNeeded, UnknownAction
from wallwatch_backend.remedies.schemas import Approval, Decision
from wallwatch_backend.rollouts import service
from wallwatch_backend.rollouts.errors import WrongState
from wallwatch_backend.rollouts.schemas import NewRollout, Rollout, StopRollout, UndoRollout

router = APIRouter(prefix="/rollouts", tags=["remedies"])

RolloutId = Annotated[UUID, Path()]
_CHANGE = problems.responses(*WRITE_ERRORS, problems.NotFound, WrongState)


@router.post(
    "",
    operation_id="createRollout",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, UnknownAction, BadParameter, NoAgent, IncidentUnknown, IdempotencyKeyReused),
)
async def create_rollout(caller: AsOperator, body: NewRollout, session: Writing, settings: TheSettings, once: TheOnce) -> Rollout:
    """Order a rollout. One of more than a few hosts, or of a risky action, waits for a second person's approval."""
    return await once(session, caller, body, Rollout, lambda: service.create(session, settings, caller, body))


@router.get("", operation_id="listRollouts", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_rollouts(caller: AsViewer, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[Rollout]:
    """List rollouts, newest first."""
    return await service.list_rollouts(session, limit=limit, cursor=cursor)


@router.get("/{rollout_id}", operation_id="getRollout", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_rollout(caller: AsViewer, rollout_id: RolloutId, session: Reading) -> Rollout:
    """Return one rollout with the state of each target."""
    return await service.get(session, rollout_id)


@router.post(
    "/{rollout_id}/approve",
    operation_id="approveRollout",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, WrongState, SecondPersonNeeded),
)
async def approve_rollout(caller: AsOperator, rollout_id: RolloutId, session: Writing, body: Approval | None = None) -> Rollout:
    """Let it begin, with a comment or without; not for whoever ordered it."""
    return await service.approve(session, caller, rollout_id, body.comment if body is not None else None)


@router.post("/{rollout_id}/reject", operation_id="rejectRollout", responses=_CHANGE)
async def reject_rollout(caller: AsOperator, rollout_id: RolloutId, body: Decision, session: Writing) -> Rollout:
    """Reject or withdraw it before it begins."""
    return await service.reject(session, caller, rollout_id, body.reason)


@router.post("/{rollout_id}/pause", operation_id="pauseRollout", responses=_CHANGE)
async def pause_rollout(caller: AsOperator, rollout_id: RolloutId, session: Writing) -> Rollout:
    """Begin nothing further for now; what is under way goes on."""
    return await service.pause(session, caller, rollout_id)


@router.post("/{rollout_id}/resume", operation_id="resumeRollout", responses=_CHANGE)
async def resume_rollout(caller: AsOperator, rollout_id: RolloutId, session: Writing) -> Rollout:
    """Go on where it paused."""
    return await service.resume(session, caller, rollout_id)


@router.post("/{rollout_id}/stop", operation_id="stopRollout", responses=_CHANGE)
async def stop_rollout(caller: AsOperator, rollout_id: RolloutId, body: StopRollout, session: Writing) -> Rollout:
    """End it for good, with or without taking back what it has done."""
    return await service.stop(session, caller, rollout_id, body.reason, undo=body.undo)


@router.post(
    "/{rollout_id}/undo",
    operation_id="undoRollout",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, WrongState, NotUndoable),
)
async def undo_rollout(caller: AsOperator, rollout_id: RolloutId, body: UndoRollout, session: Writing) -> Rollout:
    """Take it back on every target, the last wave first; after it was held up, try again what failed. Follow it in `undo`."""
    return await service.undo(session, caller, rollout_id, body)
