"""`/incidents`: list, one, and what people do with one."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from wallwatch_backend.incidents import errors, grouping_service, service
from wallwatch_backend.incidents.filters import ListQuery
from wallwatch_backend.incidents.requests import IncidentChange, Merge, NewComment, Split
from wallwatch_backend.incidents.schemas import Incident, IncidentSummary
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.etags import IfMatch, VersionMismatch, etag
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.kit.paging import BadCursor, Page

router = APIRouter(prefix="/incidents", tags=["incidents"])

IncidentId = Annotated[UUID, Path()]

ONE = problems.responses(*READ_ERRORS, problems.NotFound)
_CHANGE = (*WRITE_ERRORS, problems.NotFound, VersionMismatch, errors.MergedAway)
_POST = (*_CHANGE, IdempotencyKeyReused)


@router.get("", operation_id="listIncidents", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_incidents(caller: AsViewer, session: Reading, query: Annotated[ListQuery, Query()]) -> Page[IncidentSummary]:
    """List incidents, newest first unless sorted otherwise."""
    return await service.list_incidents(session, query)


@router.get("/{incident_id}", operation_id="getIncident", responses=ONE)
async def get_incident(caller: AsViewer, incident_id: IncidentId, session: Reading, response: Response) -> Incident:
    """Return one incident with findings, evidence, hypotheses and timeline; the ETag is its version."""
    incident = await service.get_incident(session, incident_id)
    response.headers["ETag"] = etag(incident.version)
    return incident


@router.post("/{incident_id}/acknowledge", operation_id="acknowledgeIncident", responses=problems.responses(*_POST, errors.AlreadyResolved))
async def acknowledge(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Say that someone has taken the incident. Doing it again changes nothing."""
    done = await once(session, caller, None, Incident, lambda: service.acknowledge(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(done.version)
    return done


@router.post(
    "/{incident_id}/unacknowledge", operation_id="unacknowledgeIncident", responses=problems.responses(*_POST, errors.AlreadyResolved)
)
async def unacknowledge(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Take an acknowledgement back: the incident waits for someone again. Nothing changes where nobody has acknowledged it."""
    done = await once(session, caller, None, Incident, lambda: service.unacknowledge(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(done.version)
    return done


@router.post("/{incident_id}/resolve", operation_id="resolveIncident", responses=problems.responses(*_POST))
async def resolve(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Close the incident. If a symptom is still present, its next finding reopens it."""
    done = await once(session, caller, None, Incident, lambda: service.resolve(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(done.version)
    return done


@router.post("/{incident_id}/reopen", operation_id="reopenIncident", responses=problems.responses(*_POST))
async def reopen(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Open a resolved incident again. If its symptoms are over, it stays so until someone resolves it."""
    done = await once(session, caller, None, Incident, lambda: service.reopen(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(done.version)
    return done


@router.post("/{incident_id}/comments", operation_id="commentIncident", status_code=201, responses=problems.responses(*_POST))
async def comment(
    caller: AsOperator,
    incident_id: IncidentId,
    body: NewComment,
    session: Writing,
    once: TheOnce,
    response: Response,
    if_match: IfMatch = None,
) -> Incident:
    """Add a comment to the timeline."""
    done = await once(session, caller, body, Incident, lambda: service.comment(session, caller, incident_id, body.text, if_match))
    response.headers["ETag"] = etag(done.version)
    return done


@router.patch("/{incident_id}", operation_id="updateIncident", responses=problems.responses(*_CHANGE))
async def update(
    caller: AsOperator, incident_id: IncidentId, body: IncidentChange, session: Writing, response: Response, if_match: IfMatch = None
) -> Incident:
    """Assign the incident, or link it to tickets."""
    done = await service.update(session, caller, incident_id, body, if_match)
    response.headers["ETag"] = etag(done.version)
    return done


@router.post(
    "/{incident_id}/merge",
    operation_id="mergeIncidents",
    responses=problems.responses(*_POST, errors.AlreadyResolved, errors.CannotMerge),
)
async def merge(
    caller: AsOperator, incident_id: IncidentId, body: Merge, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Take the findings of other incidents into this one. The others are closed and answer with `merged_into`; split undoes it."""
    done = await once(session, caller, body, Incident, lambda: grouping_service.merge(session, caller, incident_id, body, if_match))
    response.headers["ETag"] = etag(done.version)
    return done


@router.post(
    "/{incident_id}/split",
    operation_id="splitIncident",
    status_code=201,
    responses=problems.responses(*_POST, errors.CannotSplit),
)
async def split(
    caller: AsOperator, incident_id: IncidentId, body: Split, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Give findings an incident of their own, which is returned. It is not grouped automatically again."""
    done = await once(session, caller, body, Incident, lambda: grouping_service.split(session, caller, incident_id, body, if_match))
    response.headers["ETag"] = etag(done.version)
    return done
