"""`/incidents`: lists, one incident, counts, groups, the change feed and export."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from wallwatch_backend.incidents.listing import assignees as assignable
from wallwatch_backend.incidents.listing import export, service
from wallwatch_backend.incidents.listing.filters import ExportQuery, GroupsQuery, IncidentFilter, ListQuery
from wallwatch_backend.incidents.listing.schemas import Assignees, IncidentChanges, IncidentCounts, IncidentGroups
from wallwatch_backend.incidents.parameters import GET_RESPONSES, IncidentId
from wallwatch_backend.incidents.schemas import Incident, IncidentSummary
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, TheDatabase
from wallwatch_backend.kit.etags import etag
from wallwatch_backend.kit.json_answers import TheSharedJson
from wallwatch_backend.kit.paging import BadCursor, Page
from wallwatch_backend.kit.text import SafeText
from wallwatch_backend.kit.wakeups import TheIncidentWakeups, TooManyWaiting

router = APIRouter(prefix="/incidents", tags=["incidents"])


@router.get("", operation_id="listIncidents", response_model=Page[IncidentSummary], responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_incidents(request: Request, caller: AsViewer, shared: TheSharedJson, query: Annotated[ListQuery, Query()]) -> Response:
    """List incidents, newest first unless sorted otherwise."""
    return await shared.response(request, "listIncidents", query, lambda session: service.list_incidents(session, query))


@router.get("/counts", operation_id="countIncidents", response_model=IncidentCounts, responses=problems.responses(*READ_ERRORS))
async def count(request: Request, caller: AsViewer, shared: TheSharedJson, query: Annotated[IncidentFilter, Query()]) -> Response:
    """Count incidents by state, severity, symptom, cause and scope."""
    return await shared.response(request, "countIncidents", query, lambda session: service.counts(session, query))


@router.get("/groups", operation_id="listIncidentGroups", response_model=IncidentGroups, responses=problems.responses(*READ_ERRORS))
async def in_groups(request: Request, caller: AsViewer, shared: TheSharedJson, query: Annotated[GroupsQuery, Query()]) -> Response:
    """List groups of incidents by host, rack, symptom, model, tenant or assignee, with their counts."""
    return await shared.response(request, "listIncidentGroups", query, lambda session: service.in_groups(session, query))


@router.get("/changes", operation_id="listIncidentChanges", responses=problems.responses(*READ_ERRORS, TooManyWaiting))
async def changes(
    caller: AsViewer,
    database: TheDatabase,
    wakeups: TheIncidentWakeups,
    since: Annotated[int, Query(ge=0, le=2**63 - 1, description="`next_since` of the previous answer; 0 for all")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    wait_s: Annotated[int, Query(ge=0, le=50, description="If nothing has changed, wait up to this many seconds for a change")] = 0,
) -> IncidentChanges:
    """List incidents by their last change, in commit order; incidents merged into others are included."""

    async def read() -> IncidentChanges:
        async with database.read() as session:  # not held while waiting
            return await service.changes_since(session, since, limit)

    return await wakeups.until(read, lambda found: bool(found.items), wait_s)


@router.get("/assignees", operation_id="listAssignees", responses=problems.responses(*READ_ERRORS))
async def assignees(
    caller: AsOperator,
    session: Reading,
    q: Annotated[SafeText, Query(max_length=100, description="Part of the name; the name itself comes first")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Assignees:
    """List to whom an incident can be assigned, by name: accounts that can sign in."""
    return await assignable.listed(session, q, limit)


@router.get(
    "/export",
    operation_id="exportIncidents",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "All incidents that pass the filters, newest first",
            "content": {
                "text/csv": {"schema": {"type": "string"}},
                "application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/IncidentSummary"}}},
            },
        },
        **problems.responses(*READ_ERRORS),
    },
)
async def export_incidents(caller: AsViewer, database: TheDatabase, query: Annotated[ExportQuery, Query()]) -> StreamingResponse:
    """Export incidents as CSV or JSON."""
    return export.response(database, query)


@router.get("/{incident_id}", operation_id="getIncident", responses=GET_RESPONSES)
async def get_incident(caller: AsViewer, incident_id: IncidentId, session: Reading, response: Response) -> Incident:
    """Return one incident with findings, evidence, hypotheses and timeline; the ETag is its version."""
    incident = await service.get_incident(session, incident_id)
    response.headers["ETag"] = etag(incident.version)
    return incident
