"""`/incidents/{id}/merge` and `/split`: grouping by hand."""

from fastapi import APIRouter, Response

from wallwatch_backend.incidents import errors
from wallwatch_backend.incidents.grouping import service
from wallwatch_backend.incidents.grouping.schemas import Merge, Split
from wallwatch_backend.incidents.parameters import POST_ERRORS, IncidentId
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import AsOperator
from wallwatch_backend.kit.database import Writing
from wallwatch_backend.kit.etags import IfMatch, etag
from wallwatch_backend.kit.idempotency import TheOnce

router = APIRouter(prefix="/incidents", tags=["incidents"])


@router.post(
    "/{incident_id}/merge",
    operation_id="mergeIncidents",
    responses=problems.responses(*POST_ERRORS, errors.AlreadyResolved, errors.CannotMerge),
)
async def merge(
    caller: AsOperator, incident_id: IncidentId, body: Merge, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Move the findings of other incidents into this one. The others are resolved and name it in `merged_into`; split undoes it."""
    incident = await once(session, caller, body, Incident, lambda: service.merge(session, caller, incident_id, body, if_match))
    response.headers["ETag"] = etag(incident.version)
    return incident


@router.post(
    "/{incident_id}/split",
    operation_id="splitIncident",
    status_code=201,
    responses=problems.responses(*POST_ERRORS, errors.CannotSplit),
)
async def split(
    caller: AsOperator, incident_id: IncidentId, body: Split, session: Writing, once: TheOnce, response: Response, if_match: IfMatch = None
) -> Incident:
    """Move findings into an incident of their own, which is returned. It is never grouped automatically again."""
    incident = await once(session, caller, body, Incident, lambda: service.split(session, caller, incident_id, body, if_match))
    response.headers["ETag"] = etag(incident.version)
    return incident
