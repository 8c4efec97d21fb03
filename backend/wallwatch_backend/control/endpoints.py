"""`/remedy-control`: the emergency stop, the limits, the circuit breakers."""

from typing import Annotated

from fastapi import APIRouter, Path

from wallwatch_backend.control import service
from wallwatch_backend.control.errors import AlreadyStopped, NotStopped
from wallwatch_backend.control.schemas import Control, NewStop
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.settings_dependency import TheSettings

router = APIRouter(prefix="/remedy-control", tags=["remedies"])


@router.get("", operation_id="getRemedyControl", responses=problems.responses(*READ_ERRORS))
async def get_control(caller: AsViewer, session: Reading, settings: TheSettings) -> Control:
    """What holds remedies back at the moment."""
    return await service.state(session, settings)


@router.post("/stop", operation_id="stopRemedies", responses=problems.responses(*WRITE_ERRORS, AlreadyStopped))
async def stop(caller: AsOperator, body: NewStop, session: Writing, settings: TheSettings) -> Control:
    """Emergency stop: nothing is applied from now on, and what was not sent yet is taken back. Undo and dry runs stay possible."""
    await service.stop_all(session, caller, body.reason)
    return await service.state(session, settings)


@router.post("/resume", operation_id="resumeRemedies", responses=problems.responses(*WRITE_ERRORS, NotStopped))
async def resume(caller: AsAdmin, session: Writing, settings: TheSettings) -> Control:
    """End the emergency stop. Nothing that was taken back is sent again."""
    await service.resume(session, caller)
    return await service.state(session, settings)


@router.post("/breakers/{action}/reset", operation_id="resetRemedyBreaker", responses=problems.responses(*WRITE_ERRORS, problems.NotFound))
async def reset_breaker(
    caller: AsAdmin, action: Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,63}$")], session: Writing, settings: TheSettings
) -> Control:
    """Count an action's failures anew."""
    await service.reset_breaker(session, caller, action)
    return await service.state(session, settings)
