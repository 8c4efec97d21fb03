"""`/fleet`: every RNIC in one answer."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from wallwatch_backend.fleet.overview.answers import FleetAnswers, answers_of
from wallwatch_backend.fleet.overview.schemas import Fleet
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.settings_dependency import TheSettings

router = APIRouter(tags=["fleet"])


@router.get("/fleet", operation_id="getFleet", response_model=Fleet, responses=problems.responses(*READ_ERRORS))
async def get_fleet(
    request: Request, caller: AsViewer, settings: TheSettings, fleet: Annotated[FleetAnswers, Depends(answers_of)]
) -> Response:
    """Return the whole fleet in columns, ordered by rack, host and PCI address."""
    # Serialised by hand: 40,000 rows through response validation would take longer than reading them.
    return (await fleet.current(settings.sampling_interval_s)).response(request)
