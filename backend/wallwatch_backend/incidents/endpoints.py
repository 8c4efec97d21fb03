"""`/incidents`: list, one, acknowledge, resolve, comment."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from wallwatch_backend.incidents import service
from wallwatch_backend.incidents.schemas import Incident, IncidentState, IncidentSummary, NewComment, Severity
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.text import HostName, PciAddress

router = APIRouter(prefix="/incidents", tags=["incidents"])

IncidentId = Annotated[UUID, Path()]


@router.get("", operation_id="listIncidents", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_incidents(
    caller: AsViewer,
    session: Reading,
    state: Annotated[list[IncidentState] | None, Query(description="May be repeated")] = None,
    host: Annotated[HostName | None, Query()] = None,
    pci: Annotated[PciAddress | None, Query()] = None,
    symptom: Annotated[str | None, Query(pattern=r"^S[1-8]$")] = None,
    severity: Annotated[Severity | None, Query()] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[IncidentSummary]:
    """List incidents, newest first."""
    return await service.list_incidents(
        session, states=state, host=host, pci=pci, symptom=symptom, severity=severity, limit=limit, cursor=cursor
    )


@router.get("/{incident_id}", operation_id="getIncident", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_incident(caller: AsViewer, incident_id: IncidentId, session: Reading) -> Incident:
    """Return one incident with evidence, hypotheses and timeline."""
    return await service.get_incident(session, incident_id)


@router.post(
    "/{incident_id}/acknowledge",
    operation_id="acknowledgeIncident",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, service.AlreadyResolved),
)
async def acknowledge(caller: AsOperator, incident_id: IncidentId, session: Writing) -> Incident:
    """Say that someone has taken the incident. Doing it again changes nothing."""
    return await service.acknowledge(session, caller, incident_id)


@router.post("/{incident_id}/resolve", operation_id="resolveIncident", responses=problems.responses(*WRITE_ERRORS, problems.NotFound))
async def resolve(caller: AsOperator, incident_id: IncidentId, session: Writing) -> Incident:
    """Close the incident. If the symptom is still present, its next finding reopens it."""
    return await service.resolve(session, caller, incident_id)


@router.post(
    "/{incident_id}/comments",
    operation_id="commentIncident",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound),
)
async def comment(caller: AsOperator, incident_id: IncidentId, body: NewComment, session: Writing) -> Incident:
    """Add a comment to the timeline."""
    return await service.comment(session, caller, incident_id, body.text)
