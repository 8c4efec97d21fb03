"""Requests are traced by OTLP to a receiver that reads OpenTelemetry's own messages."""

import asyncio
from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI
from pydantic import HttpUrl

from wallwatch_backend.app import create_app
from wallwatch_backend.kit.tracing import Traces
from wallwatch_backend.settings import Settings
from wallwatch_testing.otlp import TraceReceiver

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@pytest.fixture
def collector() -> Iterator[TraceReceiver]:
    collector = TraceReceiver()
    yield collector
    collector.stop()


async def requested(app: FastAPI, *paths: str) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://wallwatch.example") as client:
        for path in paths:
            answer = await client.get(path, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
            assert answer.status_code == 200


async def test_a_request_continues_the_trace_of_its_caller_and_tells_no_query(collector: TraceReceiver) -> None:
    app = FastAPI()

    @app.get("/things/{name}")
    async def thing(name: str) -> str:
        return name

    @app.get("/-/live")
    async def live() -> str:
        return "yes"

    traces = Traces(collector.url, "1.2.3")
    traces.instrument(app)
    await requested(app, "/things/one?code=of-a-sign-in", "/-/live")
    await asyncio.to_thread(traces.shutdown)
    [span] = collector.spans()
    assert span.name == "GET /things/{name}"
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert "of-a-sign-in" not in str(collector.requests)
    [resource] = [each.resource for request in collector.requests for each in request.resource_spans]
    named = {attribute.key: attribute.value.string_value for attribute in resource.attributes}
    assert (named["service.name"], named["service.version"]) == ("wallwatch-backend", "1.2.3")


async def test_the_server_is_traced_where_the_setting_says_so(collector: TraceReceiver) -> None:
    assert Settings().traces_endpoint is None
    app = create_app(Settings(traces_endpoint=HttpUrl(collector.url)))
    await requested(app, "/api/v1/openapi.json")
    await asyncio.to_thread(app.state.traces.shutdown)
    [span] = collector.spans()
    assert (span.name, span.trace_id.hex()) == ("GET /api/v1/openapi.json", TRACE)
