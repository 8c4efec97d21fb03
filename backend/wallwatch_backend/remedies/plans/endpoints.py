"""`/plans`: request and read mask plans."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse

from wallwatch_backend.hosts.command_keys.dependencies import TheSigner
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.kit.text import HostName, PciAddress
from wallwatch_backend.remedies.orders.errors import IncidentUnknown, NoAgent
from wallwatch_backend.remedies.plans import errors, service
from wallwatch_backend.remedies.plans.schemas import NewPlan, Plan, PlanSummary
from wallwatch_backend.remedies.plans.states import PlanState

router = APIRouter(prefix="/plans", tags=["plans"])

PlanId = Annotated[UUID, Path()]


@router.post(
    "",
    operation_id="createPlan",
    status_code=201,
    responses=problems.responses(
        *WRITE_ERRORS, problems.NotFound, errors.ModelUnknown, NoAgent, IncidentUnknown, errors.PlanInProgress, IdempotencyKeyReused
    ),
)
async def create_plan(caller: AsOperator, body: NewPlan, session: Writing, settings: TheSettings, signer: TheSigner, once: TheOnce) -> Plan:
    """Read the flows of an RNIC and plan the order of its masks. Nothing on the host changes; follow it here or in the stream."""
    return await once(session, caller, body, Plan, lambda: service.create(session, settings, signer, caller, body))


@router.get("", operation_id="listPlans", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_plans(
    caller: AsViewer,
    session: Reading,
    host: Annotated[HostName | None, Query()] = None,
    pci: Annotated[PciAddress | None, Query()] = None,
    state: Annotated[PlanState | None, Query()] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[PlanSummary]:
    """List plans, newest first."""
    return await service.list_plans(session, host=host, pci=pci, state=state, limit=limit, cursor=cursor)


@router.get("/{plan_id}", operation_id="getPlan", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_plan(caller: AsViewer, plan_id: PlanId, session: Reading) -> Plan:
    """Return a plan with its chains, its proof, and its measured outcome."""
    return await service.get(session, plan_id)


@router.get(
    "/{plan_id}/operations",
    operation_id="getPlanOperations",
    response_class=PlainTextResponse,
    responses=problems.responses(*READ_ERRORS, problems.NotFound, errors.PlanNotReady),
)
async def get_plan_operations(caller: AsViewer, plan_id: PlanId, session: Reading) -> PlainTextResponse:
    """Return the operations that the host's agent would carry out as shell commands, one per line."""
    return PlainTextResponse(await service.operations_text(session, plan_id))
