"""`/rollouts`: one remedy on many hosts, a canary first, then in waves; stops by itself when something goes wrong."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.remedies.orders.errors import BadParameter, IncidentUnknown, NoAgent, NotUndoable, SecondPersonNeeded, UnknownAction
from wallwatch_backend.remedies.orders.schemas import Approval, Decision
from wallwatch_backend.remedies.rollouts import service
from wallwatch_backend.remedies.rollouts.errors import WrongState
from wallwatch_backend.remedies.rollouts.schemas import NewRollout, Rollout, StopRollout, UndoRollout

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
    """Create a rollout. More than a few hosts, or a high-risk action, need a second person's approval."""
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
    """Approve a rollout that somebody else requested, with or without a comment."""
    return await service.approve(session, caller, rollout_id, body.comment if body is not None else None)


@router.post("/{rollout_id}/reject", operation_id="rejectRollout", responses=_CHANGE)
async def reject_rollout(caller: AsOperator, rollout_id: RolloutId, body: Decision, session: Writing) -> Rollout:
    """Reject or withdraw a pending rollout."""
    return await service.reject(session, caller, rollout_id, body.reason)


@router.post("/{rollout_id}/pause", operation_id="pauseRollout", responses=_CHANGE)
async def pause_rollout(caller: AsOperator, rollout_id: RolloutId, session: Writing) -> Rollout:
    """Pause: nothing new starts; what is under way continues."""
    return await service.pause(session, caller, rollout_id)


@router.post("/{rollout_id}/resume", operation_id="resumeRollout", responses=_CHANGE)
async def resume_rollout(caller: AsOperator, rollout_id: RolloutId, session: Writing) -> Rollout:
    """Resume a paused rollout or rollback."""
    return await service.resume(session, caller, rollout_id)


@router.post("/{rollout_id}/stop", operation_id="stopRollout", responses=_CHANGE)
async def stop_rollout(caller: AsOperator, rollout_id: RolloutId, body: StopRollout, session: Writing) -> Rollout:
    """Stop a rollout permanently, with or without rolling back."""
    return await service.stop(session, caller, rollout_id, body.reason, undo=body.undo)


@router.post(
    "/{rollout_id}/undo",
    operation_id="undoRollout",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, WrongState, NotUndoable),
)
async def undo_rollout(caller: AsOperator, rollout_id: RolloutId, body: UndoRollout, session: Writing) -> Rollout:
    """Roll back every target, the last wave first; when the rollback is paused, retry what failed. Follow it in `undo`."""
    return await service.undo(session, caller, rollout_id, body)
