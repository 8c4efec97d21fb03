"""`/incidents/{id}/...`: the context of an incident."""

from typing import Annotated

from fastapi import APIRouter, Query

from wallwatch_backend.incidents.context import service as context
from wallwatch_backend.incidents.context import similar
from wallwatch_backend.incidents.context.schemas import Before, Containers, SimilarIncidents
from wallwatch_backend.incidents.parameters import GET_RESPONSES, IncidentId
from wallwatch_backend.kit.access import AsViewer
from wallwatch_backend.kit.database import Reading

router = APIRouter(prefix="/incidents", tags=["incidents"])


@router.get("/{incident_id}/similar", operation_id="listSimilarIncidents", responses=GET_RESPONSES)
async def list_similar(
    caller: AsViewer, incident_id: IncidentId, session: Reading, limit: Annotated[int, Query(ge=1, le=50)] = 10
) -> SimilarIncidents:
    """List similar resolved incidents, with the remedies that were applied."""
    return await similar.list_similar(session, incident_id, limit)


@router.get("/{incident_id}/containers", operation_id="listIncidentContainers", responses=GET_RESPONSES)
async def list_containers(caller: AsViewer, incident_id: IncidentId, session: Reading) -> Containers:
    """List the containers on the RNICs of the incident, from the events of the CNI chain."""
    return await context.containers(session, incident_id)


@router.get("/{incident_id}/before", operation_id="getBeforeIncident", responses=GET_RESPONSES)
async def get_before(caller: AsViewer, incident_id: IncidentId, session: Reading) -> Before:
    """List changes on its hosts in the 15 minutes before the incident started."""
    return await context.before(session, incident_id)
