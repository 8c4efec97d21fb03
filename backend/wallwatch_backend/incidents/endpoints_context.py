"""`/incidents/{id}/...`: what surrounds an incident."""

from typing import Annotated

from fastapi import APIRouter, Query

from wallwatch_backend.incidents import context, similar
from wallwatch_backend.incidents.context_schemas import Before, Containers, SimilarIncidents
from wallwatch_backend.incidents.endpoints import ONE, IncidentId
from wallwatch_backend.kit.access import AsViewer
from wallwatch_backend.kit.database import Reading

router = APIRouter(prefix="/incidents", tags=["incidents"])


@router.get("/{incident_id}/similar", operation_id="listSimilarIncidents", responses=ONE)
async def list_similar(
    caller: AsViewer, incident_id: IncidentId, session: Reading, limit: Annotated[int, Query(ge=1, le=50)] = 10
) -> SimilarIncidents:
    """List resolved incidents like this one, with what resolved them."""
    return await similar.list_similar(session, incident_id, limit)


@router.get("/{incident_id}/containers", operation_id="listIncidentContainers", responses=ONE)
async def list_containers(caller: AsViewer, incident_id: IncidentId, session: Reading) -> Containers:
    """List the containers on the RNICs of the incident, from the events of the CNI chain."""
    return await context.containers(session, incident_id)


@router.get("/{incident_id}/before", operation_id="getBeforeIncident", responses=ONE)
async def get_before(caller: AsViewer, incident_id: IncidentId, session: Reading) -> Before:
    """List what changed on its hosts in the 15 minutes before the incident began."""
    return await context.before(session, incident_id)
