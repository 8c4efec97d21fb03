"""`/remedy-actions` and `/remedies`: list actions; create, follow, approve and undo remedies; stop all of them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from wallwatch_backend.hosts.command_keys.dependencies import TheSigner
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKey, IdempotencyKeyReused
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.kit.text import HostName, PciAddress
from wallwatch_backend.remedies.control import service as control
from wallwatch_backend.remedies.control.errors import ADMISSION_ERRORS, AlreadyStopped
from wallwatch_backend.remedies.control.schemas import Control, NewStop
from wallwatch_backend.remedies.orders import actions, approval, emergency_stop, errors, service
from wallwatch_backend.remedies.orders.dependencies import TheIntake
from wallwatch_backend.remedies.orders.schemas import Approval, Decision, EffectSeries, NewRemedy, Remedy, RemedyAction
from wallwatch_backend.remedies.states import RemedyState

router = APIRouter(tags=["remedies"])

RemedyId = Annotated[UUID, Path()]


@router.get("/remedy-actions", operation_id="listRemedyActions", responses=problems.responses(*READ_ERRORS))
async def list_actions(caller: AsViewer, settings: TheSettings) -> list[RemedyAction]:
    """List what agents can do: parameters, ranges, risk, undo, and how telemetry verifies it."""
    return actions.all_actions(settings)


@router.post(
    "/remedies",
    operation_id="createRemedy",
    status_code=201,
    responses=problems.responses(
        *WRITE_ERRORS,
        errors.UnknownAction,
        errors.BadParameter,
        errors.NoAgent,
        errors.RemedyInProgress,
        errors.IncidentUnknown,
        IdempotencyKeyReused,
        *ADMISSION_ERRORS,
    ),
)
async def create_remedy(
    caller: AsOperator,
    body: NewRemedy,
    intake: TheIntake,
    idempotency_key: IdempotencyKey = None,
) -> Remedy:
    """Request a dry run or apply a remedy; one that needs approval is `pending`. Follow it here or in the stream."""
    return await intake.create(caller, body, idempotency_key)


@router.get("/remedies", operation_id="listRemedies", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_remedies(
    caller: AsViewer,
    session: Reading,
    host: Annotated[HostName | None, Query()] = None,
    pci: Annotated[PciAddress | None, Query()] = None,
    incident_id: Annotated[UUID | None, Query()] = None,
    state: Annotated[list[RemedyState] | None, Query(description="May be repeated")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[Remedy]:
    """List remedies, newest first."""
    return await service.list_remedies(session, host=host, pci=pci, incident_id=incident_id, states=state, limit=limit, cursor=cursor)


@router.get("/remedies/{remedy_id}", operation_id="getRemedy", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_remedy(caller: AsViewer, remedy_id: RemedyId, session: Reading) -> Remedy:
    """Return one remedy."""
    return await service.get(session, remedy_id)


@router.get("/remedies/{remedy_id}/effect", operation_id="getRemedyEffect", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_remedy_effect(caller: AsViewer, remedy_id: RemedyId, session: Reading) -> EffectSeries:
    """Return the signal of the remedy's effect from ten minutes before it to its verdict."""
    return await service.effect_series(session, remedy_id)


@router.post(
    "/remedies/{remedy_id}/undo",
    operation_id="undoRemedy",
    status_code=202,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.NotUndoable, errors.RemedyInProgress, errors.NoAgent),
)
async def undo_remedy(caller: AsOperator, remedy_id: RemedyId, session: Writing, settings: TheSettings, signer: TheSigner) -> Remedy:
    """Restore what the remedy changed."""
    return await service.undo(session, settings, signer, caller, remedy_id)


@router.post(
    "/remedies/{remedy_id}/approve",
    operation_id="approveRemedy",
    status_code=202,
    responses=problems.responses(
        *WRITE_ERRORS,
        problems.NotFound,
        errors.NotPending,
        errors.SecondPersonNeeded,
        errors.RemedyInProgress,
        errors.NoAgent,
        *ADMISSION_ERRORS,
    ),
)
async def approve_remedy(
    caller: AsOperator, remedy_id: RemedyId, session: Writing, settings: TheSettings, signer: TheSigner, body: Approval | None = None
) -> Remedy:
    """Approve a remedy that somebody else requested, with or without a comment; it is sent to the host immediately."""
    return await approval.approve(session, settings, signer, caller, remedy_id, body.comment if body is not None else None)


@router.post(
    "/remedies/{remedy_id}/reject",
    operation_id="rejectRemedy",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.NotPending),
)
async def reject_remedy(caller: AsOperator, remedy_id: RemedyId, body: Decision, session: Writing) -> Remedy:
    """Reject a pending remedy, or withdraw your own."""
    return await approval.reject(session, caller, remedy_id, body.reason)


@router.post("/remedy-control/stop", operation_id="stopRemedies", responses=problems.responses(*WRITE_ERRORS, AlreadyStopped))
async def stop_remedies(caller: AsOperator, body: NewStop, session: Writing, settings: TheSettings) -> Control:
    """Emergency stop: nothing is applied from now on, and what was not sent yet expires. Undo and dry runs stay possible."""
    await emergency_stop.stop_all(session, caller, body.reason)
    return await control.state(session, settings)
