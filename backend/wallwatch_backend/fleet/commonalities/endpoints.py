"""`/fleet/commonalities` and `/fleet/details`."""

from typing import Annotated

from fastapi import APIRouter, Query

from wallwatch_backend.fleet.commonalities import service
from wallwatch_backend.fleet.commonalities.schemas import Commonalities, FleetDetails
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.text import Line, SymptomName

router = APIRouter(prefix="/fleet", tags=["fleet"])


@router.get("/commonalities", operation_id="getFleetCommonalities", responses=problems.responses(*READ_ERRORS))
async def get_commonalities(
    caller: AsViewer,
    session: Reading,
    symptom: Annotated[list[SymptomName] | None, Query(max_length=50, description="Default: any")] = None,
) -> Commonalities:
    """Return what hosts with symptoms have in common beyond chance: models, firmware, racks, tenants, recent changes."""
    return await service.commonalities(session, symptom or [])


@router.get("/details", operation_id="getFleetDetails", responses=problems.responses(*READ_ERRORS, problems.InvalidInput))
async def get_details(
    caller: AsViewer, session: Reading, wall: Annotated[Line | None, Query(description="Wall of the catalogue")] = None
) -> FleetDetails:
    """Return firmware and tenants, and the headroom to one wall, of every RNIC in the order of the fleet."""
    return await service.details(session, wall)
