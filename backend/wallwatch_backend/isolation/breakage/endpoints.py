"""`/isolation/fleet`: broken seconds of the fleet."""

from typing import Annotated

from fastapi import APIRouter, Query

from wallwatch_backend.isolation.breakage import service
from wallwatch_backend.isolation.breakage.schemas import FleetIsolation
from wallwatch_backend.isolation.parameters import Since, Until, interval
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading

router = APIRouter(prefix="/isolation", tags=["isolation"])


@router.get("/fleet", operation_id="getFleetIsolation", responses=problems.responses(*READ_ERRORS, problems.InvalidInput))
async def get_fleet(
    caller: AsViewer,
    session: Reading,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="RNICs to return")] = 200,
) -> FleetIsolation:
    """Return broken seconds by RNIC, victim, aggressor and tenant, worst first."""
    start, end = interval(since, until)
    return await service.fleet(session, start, end, limit)
