"""`/search`: hosts, RNICs and pods by parts of their names."""

from typing import Annotated

from fastapi import APIRouter, Query

from wallwatch_backend.fleet.search import service
from wallwatch_backend.fleet.search.schemas import Found
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.text import Line

router = APIRouter(tags=["fleet"])

Text = Annotated[Line, Query(description="Words that must all occur, in any order and case, such as `host36 3b:00.0`")]
Limit = Annotated[int, Query(ge=1, le=20, description="Maximum of each kind")]


@router.get("/search", operation_id="searchFleet", responses=problems.responses(*READ_ERRORS))
async def search_fleet(caller: AsViewer, session: Reading, q: Text, limit: Limit = 6) -> Found:
    """Find hosts, RNICs and pods by parts of their names, the best match first."""
    return await service.find(session, q, limit)
