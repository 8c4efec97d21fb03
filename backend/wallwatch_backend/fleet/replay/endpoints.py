"""`/fleet/replay`."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from wallwatch_backend.fleet.replay import service
from wallwatch_backend.fleet.replay.schemas import FleetThen
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.text import Line

router = APIRouter(prefix="/fleet", tags=["fleet"])


@router.get("/replay", operation_id="getFleetReplay", responses=problems.responses(*READ_ERRORS, problems.InvalidInput))
async def get_replay(
    caller: AsViewer,
    session: Reading,
    at: Annotated[datetime, Query(description="A moment of the last 24 hours, with its time zone")],
    wall: Annotated[Line | None, Query(description="Wall of the catalogue")] = None,
) -> FleetThen:
    """Return what changes of every RNIC, as it was in the minute of `at`, in the order of the fleet."""
    return await service.fleet_then(session, at, wall)
