"""`/catalogue`: labels, units and definitions."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from wallwatch_backend.fleet.catalogue import service
from wallwatch_backend.fleet.catalogue.schemas import Catalogue
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer

router = APIRouter(tags=["catalogue"])


@router.get("/catalogue", operation_id="getCatalogue", responses=problems.responses(*READ_ERRORS))
async def get_catalogue(
    caller: AsViewer,
    request: Request,
    brief: Annotated[bool, Query(description="Names only: no definitions of symptoms, and `signals` and `fields` are empty")] = False,
) -> Catalogue:
    """Return symptoms, causes, walls, models and fields with labels and units, and the states of remedies, rollouts, plans, incidents."""
    return service.get_catalogue(request.app.state.state_machines, brief=brief)
