"""`/metrics/fleet`: the fleet for Prometheus. (`/metrics` has this process's own metrics and needs no sign-in.)"""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, choose_encoder

from wallwatch_backend.fleet.exposition.service import exposition
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import TheDatabase
from wallwatch_backend.kit.text import StorableText

router = APIRouter(tags=["metrics"])

OPENMETRICS = "application/openmetrics-text"
_UNAVAILABLE = {
    "model": problems.Problem,
    "content": {problems.MEDIA_TYPE: {}},
    "description": "The database does not answer (`database_unavailable`)",
}
_OK = {
    "description": "Prometheus's text format, or OpenMetrics where the Accept header asks for it",
    "content": {"text/plain": {"schema": {"type": "string"}}, OPENMETRICS: {"schema": {"type": "string"}}},
}


@router.get(
    "/metrics/fleet",
    operation_id="getFleetMetrics",
    response_class=StreamingResponse,
    responses={200: _OK, **problems.responses(*READ_ERRORS, problems.InvalidInput), 503: _UNAVAILABLE},
)
async def fleet_metrics(
    request: Request,
    caller: AsViewer,
    database: TheDatabase,
    rack: Annotated[
        str | None, Query(max_length=200, description="Only this rack: divides a large fleet among scrapes"), StorableText
    ] = None,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> StreamingResponse:
    """Return identity, symptoms and headroom of every RNIC, and the numbers of incidents, as metrics."""
    if len(request.query_params.getlist("rack")) > 1:  # one of them would be ignored silently
        raise problems.InvalidInput("The parameter rack is given more than once: scrape one rack at a time, or all without it.")
    openmetrics = choose_encoder(accept)[1].startswith(OPENMETRICS)
    pieces = exposition(database, rack, openmetrics)
    first = await anext(pieces)  # before the answer begins: an unreachable database is an error, not half an answer
    media_type = f"{OPENMETRICS}; version=1.0.0; charset=utf-8" if openmetrics else CONTENT_TYPE_PLAIN_0_0_4
    return StreamingResponse(_with(first, pieces), media_type=media_type)


async def _with(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece
