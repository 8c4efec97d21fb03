"""`/fleet`: every RNIC in one answer."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from wallwatch_backend.fleet.overview import answers
from wallwatch_backend.fleet.overview.answers import FleetAnswers, answers_of
from wallwatch_backend.fleet.overview.schemas import Fleet
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.settings_dependency import TheSettings

router = APIRouter(tags=["fleet"])


@router.get("/fleet", operation_id="getFleet", response_model=Fleet, responses=problems.responses(*READ_ERRORS))
async def get_fleet(
    request: Request, caller: AsViewer, session: Reading, settings: TheSettings, fleet: Annotated[FleetAnswers, Depends(answers_of)]
) -> Response:
    """Return the whole fleet in columns, ordered by rack, host and PCI address."""
    # Serialised by hand: 40,000 rows through response validation would take longer than reading them.
    zipped = answers.accepts_gzip(request)
    return answers.response(await fleet.current(session, settings.sampling_interval_s, zipped=zipped), zipped=zipped)
