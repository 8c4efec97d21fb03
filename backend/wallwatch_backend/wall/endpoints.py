"""`/wall`: every RNIC of the fleet in one answer."""

import orjson
from fastapi import APIRouter, Response

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.wall import service
from wallwatch_backend.wall.schemas import Wall

router = APIRouter(tags=["wall"])


@router.get("/wall", operation_id="getWall", response_model=Wall, responses=problems.responses(*READ_ERRORS))
async def get_wall(caller: AsViewer, session: Reading) -> Response:
    """Return the whole fleet in columns, ordered by rack, host and PCI address."""
    # Serialised here: 40,000 rows through response validation would take longer than reading them.
    return Response(orjson.dumps(await service.whole_wall(session)), media_type="application/json")
