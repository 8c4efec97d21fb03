"""`/placements`: which function goes on which card."""

from fastapi import APIRouter

from wallwatch_backend.contention.models.errors import NoModel
from wallwatch_backend.contention.placements import service
from wallwatch_backend.contention.placements.errors import UnusableBatch
from wallwatch_backend.contention.placements.schemas import PlacementPlan, PlacementRequest
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import WRITE_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.process_pool import TookTooLong

router = APIRouter(tags=["contention"])


@router.post("/placements", operation_id="placeFunctions", responses=problems.responses(*WRITE_ERRORS, NoModel, UnusableBatch, TookTooLong))
async def place(caller: AsViewer, body: PlacementRequest, session: Reading) -> PlacementPlan:
    """Assign a batch of functions to cards so that each keeps its SLA, and compare with where they run now. Nothing is stored."""
    return await service.place(session, body)
