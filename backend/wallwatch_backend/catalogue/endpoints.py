"""`/catalogue`: what Wallwatch knows, for labels."""

from fastapi import APIRouter

from wallwatch_backend.catalogue import service
from wallwatch_backend.catalogue.schemas import Catalogue
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer

router = APIRouter(tags=["catalogue"])


@router.get("/catalogue", operation_id="getCatalogue", responses=problems.responses(*READ_ERRORS))
async def get_catalogue(caller: AsViewer) -> Catalogue:
    """Return symptoms, causes, walls, models and fields with labels and units."""
    return service.get_catalogue()
