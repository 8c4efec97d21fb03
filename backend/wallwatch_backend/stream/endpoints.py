"""`/stream`: what changes, as server-sent events."""

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.stream import service
from wallwatch_backend.stream.dependencies import TheHub

router = APIRouter(tags=["stream"])

_DESCRIPTION = (
    "Events: `rnic_state` (data: the columns of the wall, changed RNICs only), `incident`, `remedy`, `agent` (data: `{id, state}`), "
    "`resync` (changes were lost: fetch again what is shown), `heartbeat` (data: `{at}`)."
)


@router.get(
    "/stream",
    operation_id="openStream",
    response_class=StreamingResponse,
    responses={
        200: {"description": _DESCRIPTION, "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        **problems.responses(*READ_ERRORS, service.TooManyStreams),
    },
)
async def open_stream(caller: AsViewer, hub: TheHub) -> StreamingResponse:
    """Follow changes as they happen. Fetch first, then open the stream; after a reconnect fetch again."""
    return StreamingResponse(
        hub.subscribe(), media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )
