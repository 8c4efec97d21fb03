"""`/stream`: changes, as server-sent events."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from wallwatch_backend.accounts.session.dependencies import TheAccessWatch
from wallwatch_backend.fleet.stream import errors
from wallwatch_backend.fleet.stream.dependencies import TheHub
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer

router = APIRouter(tags=["stream"])

_DESCRIPTION = (
    "Events: `rnic_state` (data: the columns of the fleet, changed RNICs only; id: `seq`), "
    "`incident`, `remedy`, `agent` (data: `{id, state}`), "
    "`resync` (changes were lost: fetch everything again), `heartbeat` (data: `{at}`)."
)


@router.get(
    "/stream",
    operation_id="openStream",
    response_class=StreamingResponse,
    responses={
        200: {"description": _DESCRIPTION, "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        **problems.responses(*READ_ERRORS, errors.TooManyStreams),
    },
)
async def open_stream(
    caller: AsViewer,
    request: Request,
    hub: TheHub,
    access: TheAccessWatch,
    after: Annotated[int | None, Query(ge=0, le=2**63 - 1, description="`seq` of the fleet: rows changed since are sent first")] = None,
    last_event_id: Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=2**63 - 1)] = None,
) -> StreamingResponse:
    """Follow changes as they happen. Fetch the fleet first, then open the stream with its `seq`.

    It ends within two seconds of its session or token, and when the caller's role changes.
    """
    frames = await hub.subscribe(
        lambda end: access.watching(request, caller.role, end), last_event_id if last_event_id is not None else after
    )
    return StreamingResponse(frames, media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
