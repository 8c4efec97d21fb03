"""`/fleet`: every RNIC in one answer."""

import orjson
from fastapi import APIRouter, Response

from wallwatch_backend.fleet.overview import service
from wallwatch_backend.fleet.overview.schemas import Fleet
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.settings_dependency import TheSettings

router = APIRouter(tags=["fleet"])


@router.get("/fleet", operation_id="getFleet", response_model=Fleet, responses=problems.responses(*READ_ERRORS))
async def get_fleet(caller: AsViewer, session: Reading, settings: TheSettings) -> Response:
    """Return the whole fleet in columns, ordered by rack, host and PCI address."""
    # Serialised here: 40,000 rows through response validation would take longer than reading them.
    fleet = await service.whole_fleet(session, settings.sampling_interval_s)
    return Response(orjson.dumps(fleet), media_type="application/json")
