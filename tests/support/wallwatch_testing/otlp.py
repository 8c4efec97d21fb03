"""A receiver of OTLP over HTTP that reads OpenTelemetry's own messages."""

import gzip
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from wallwatch_testing.local_http import LocalHttp, QuietHandler


class TraceReceiver:
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


def values(span: Span) -> dict[str, Any]:
    """A span's attributes that are texts or numbers."""
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}
