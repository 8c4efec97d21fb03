"""`/remedy-control`: what holds remedies back. The emergency stop itself is in `orders`, as it withdraws them."""

from typing import Annotated

from fastapi import APIRouter, Path

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.remedies.control import service
from wallwatch_backend.remedies.control.errors import NotStopped
from wallwatch_backend.remedies.control.schemas import Control

router = APIRouter(prefix="/remedy-control", tags=["remedies"])


@router.get("", operation_id="getRemedyControl", responses=problems.responses(*READ_ERRORS))
async def get_control(caller: AsViewer, session: Reading, settings: TheSettings) -> Control:
    """Return what holds remedies back now: emergency stop, limits, circuit breakers."""
    return await service.state(session, settings)


@router.post("/resume", operation_id="resumeRemedies", responses=problems.responses(*WRITE_ERRORS, NotStopped))
async def resume(caller: AsAdmin, session: Writing, settings: TheSettings) -> Control:
    """End the emergency stop. What it withdrew is not sent again."""
    await service.resume(session, caller)
    return await service.state(session, settings)


@router.post("/breakers/{action}/reset", operation_id="resetRemedyBreaker", responses=problems.responses(*WRITE_ERRORS, problems.NotFound))
async def reset_breaker(
    caller: AsAdmin, action: Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,63}$")], session: Writing, settings: TheSettings
) -> Control:
    """Reset the circuit breaker of an action: its earlier failures no longer count."""
    await service.reset_breaker(session, caller, action)
    return await service.state(session, settings)
