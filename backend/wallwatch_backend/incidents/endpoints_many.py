"""`/incidents`: counts, change feed, export and bulk actions. Included before the paths with an id."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from wallwatch_backend.incidents import bulk, export, service
from wallwatch_backend.incidents.filters import ExportQuery, IncidentFilter
from wallwatch_backend.incidents.requests import Bulk, BulkResult, IncidentChanges, IncidentCounts
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, TheDatabase, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce

router = APIRouter(prefix="/incidents", tags=["incidents"])


@router.get("/counts", operation_id="countIncidents", responses=problems.responses(*READ_ERRORS))
async def count(caller: AsViewer, session: Reading, query: Annotated[IncidentFilter, Query()]) -> IncidentCounts:
    """Count incidents by state, severity, symptom, cause and scope."""
    return await service.counts(session, query)


@router.get("/changes", operation_id="listIncidentChanges", responses=problems.responses(*READ_ERRORS))
async def changes(
    caller: AsViewer,
    session: Reading,
    since: Annotated[int, Query(ge=0, le=2**63 - 1, description="`next_since` of the call before; 0 for all")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> IncidentChanges:
    """Follow incidents, in the order in which their changes were committed; those merged into others are included."""
    return await service.changes_since(session, since, limit)


@router.get(
    "/export",
    operation_id="exportIncidents",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "All incidents that the filters leave, newest first",
            "content": {"text/csv": {"schema": {"type": "string"}}, "application/json": {"schema": {"type": "array"}}},
        },
        **problems.responses(*READ_ERRORS),
    },
)
async def export_incidents(caller: AsViewer, database: TheDatabase, query: Annotated[ExportQuery, Query()]) -> StreamingResponse:
    """Export incidents as CSV or JSON."""
    return export.response(database, query)


@router.post("/bulk", operation_id="bulkIncidents", responses=problems.responses(*WRITE_ERRORS, IdempotencyKeyReused))
async def bulk_action(caller: AsOperator, body: Bulk, session: Writing, once: TheOnce, response: Response) -> BulkResult:
    """Do the same with many incidents: what cannot be done with one is skipped and named."""
    return await once(session, caller, body, BulkResult, lambda: bulk.run(session, caller, body))
