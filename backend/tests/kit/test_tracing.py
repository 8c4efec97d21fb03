"""Requests are traced by OTLP to a receiver that reads OpenTelemetry's own messages."""

import asyncio
import gzip
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from sqlalchemy import text

from wallwatch_backend.app import create_app
from wallwatch_backend.kit import tracing
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_testing.local_http import LocalHttp, QuietHandler

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


class Collector:
    """What was exported, and the receiver's address."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        collector = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.requests.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

        self._server = LocalHttp(Handler)
        self.url = f"{self._server.url}/v1/traces"

    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def stop(self) -> None:
        self._server.stop()


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.stop()


def values(span: Span) -> dict[str, Any]:
    return {attribute.key: attribute.value.string_value for attribute in span.attributes}


async def requested(app: FastAPI, *paths: str) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://wallwatch.example") as client:
        for path in paths:
            answer = await client.get(path, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
            assert answer.status_code == 200


async def test_a_request_continues_the_trace_of_its_caller_and_tells_no_query(collector: Collector) -> None:
    app = FastAPI()

    @app.get("/things/{name}")
    async def thing(name: str) -> str:
        return name

    @app.get("/-/live")
    async def live() -> str:
        return "yes"

    provider = tracing.start(app, [], collector.url, "1.2.3")
    await requested(app, "/things/one?code=of-a-sign-in", "/-/live")
    await asyncio.to_thread(provider.shutdown)
    [span] = collector.spans()
    assert span.name == "GET /things/{name}"
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert "of-a-sign-in" not in str(collector.requests)
    [resource] = [each.resource for request in collector.requests for each in request.resource_spans]
    named = {attribute.key: attribute.value.string_value for attribute in resource.attributes}
    assert (named["service.name"], named["service.version"]) == ("wallwatch-backend", "1.2.3")


@pytest.mark.integration
async def test_the_statements_of_a_request_are_below_it(collector: Collector, migrated_url: str) -> None:
    database = Database(Settings(database_url=migrated_url))
    app = FastAPI()

    @app.get("/count")
    async def count() -> int:
        async with database.read() as session:
            rows = await session.execute(text("SELECT count(*) FROM rnic WHERE host = :host"), {"host": "host-of-nobody"})
            return int(rows.scalar_one())

    provider = tracing.start(app, database.engines, collector.url, "1.2.3")
    try:
        await requested(app, "/count")
    finally:
        await database.dispose()
        await asyncio.to_thread(provider.shutdown)
    spans = collector.spans()
    assert {span.trace_id.hex() for span in spans} == {TRACE}
    [request] = [span for span in spans if span.name == "GET /count"]
    statement = next(span for span in spans if "SELECT count(*)" in str(span.attributes))
    assert statement.parent_span_id == request.span_id
    assert "host-of-nobody" not in str(collector.requests)


def test_without_the_setting_nothing_is_traced() -> None:
    assert create_app(Settings(traces_endpoint=None)).state.traces is None
