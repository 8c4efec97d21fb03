"""`/incidents`: what people do with one incident, and with many at once."""

from fastapi import APIRouter, Response

from wallwatch_backend.incidents import errors
from wallwatch_backend.incidents.parameters import CHANGE_ERRORS, POST_ERRORS, IncidentId
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.incidents.triage import bulk_actions, service
from wallwatch_backend.incidents.triage.schemas import Bulk, BulkResult, IncidentChange, NewComment
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import WRITE_ERRORS, AsOperator
from wallwatch_backend.kit.database import Writing
from wallwatch_backend.kit.etags import IfMatch, etag
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce

router = APIRouter(prefix="/incidents", tags=["incidents"])


@router.post(
    "/bulk", operation_id="bulkIncidents", responses=problems.responses(*WRITE_ERRORS, IdempotencyKeyReused, errors.UnknownAssignee)
)
async def bulk_action(caller: AsOperator, body: Bulk, session: Writing, once: TheOnce, response: Response) -> BulkResult:
    """Apply one action to many incidents. Those that it cannot be applied to are skipped, each with the reason."""
    return await once(session, caller, body, BulkResult, lambda: bulk_actions.run(session, caller, body))


@router.post(
    "/{incident_id}/acknowledge", operation_id="acknowledgeIncident", responses=problems.responses(*POST_ERRORS, errors.AlreadyResolved)
)
async def acknowledge(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Acknowledge the incident, and assign it to yourself when it is unassigned. A second acknowledgement changes nothing."""
    incident = await once(session, caller, None, Incident, lambda: service.acknowledge(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(incident.version)
    return incident


@router.post(
    "/{incident_id}/unacknowledge", operation_id="unacknowledgeIncident", responses=problems.responses(*POST_ERRORS, errors.AlreadyResolved)
)
async def unacknowledge(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Remove the acknowledgement, and the assignment to who gave it. Nothing changes if nobody has acknowledged the incident."""
    incident = await once(session, caller, None, Incident, lambda: service.unacknowledge(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(incident.version)
    return incident


@router.post("/{incident_id}/resolve", operation_id="resolveIncident", responses=problems.responses(*POST_ERRORS))
async def resolve(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Resolve the incident. If a symptom is still present, its next finding reopens it."""
    incident = await once(session, caller, None, Incident, lambda: service.resolve(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(incident.version)
    return incident


@router.post("/{incident_id}/derive-again", operation_id="deriveRecommendationsAgain", responses=problems.responses(*POST_ERRORS))
async def derive_again(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Derive the recommended values again, from the newest measurements. Until then they stay as they were first derived."""
    incident = await once(session, caller, None, Incident, lambda: service.derive_again(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(incident.version)
    return incident


@router.post("/{incident_id}/reopen", operation_id="reopenIncident", responses=problems.responses(*POST_ERRORS))
async def reopen(
    caller: AsOperator, incident_id: IncidentId, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Reopen a resolved incident. If its symptoms have cleared, it stays open until someone resolves it."""
    incident = await once(session, caller, None, Incident, lambda: service.reopen(session, caller, incident_id, if_match))
    response.headers["ETag"] = etag(incident.version)
    return incident


@router.post("/{incident_id}/comments", operation_id="commentIncident", status_code=201, responses=problems.responses(*POST_ERRORS))
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
    incident = await once(session, caller, body, Incident, lambda: service.comment(session, caller, incident_id, body.text, if_match))
    response.headers["ETag"] = etag(incident.version)
    return incident


@router.patch("/{incident_id}", operation_id="updateIncident", responses=problems.responses(*CHANGE_ERRORS, errors.UnknownAssignee))
async def update(
    caller: AsOperator, incident_id: IncidentId, body: IncidentChange, session: Writing, response: Response, if_match: IfMatch = None
) -> Incident:
    """Assign the incident, or link it to tickets."""
    incident = await service.update(session, caller, incident_id, body, if_match)
    response.headers["ETag"] = etag(incident.version)
    return incident
