"""Traces of requests, incidents and remedies, sent by OTLP; off unless `WALLWATCH_TRACES_ENDPOINT` is set.

The instrumentation of requests is OpenTelemetry's own. It goes on with the trace of a request that has a header `traceparent`.
OpenTelemetry is imported where it is used, so that a server without traces does not carry it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wallwatch_backend.kit.subject_traces import GivenIds, SubjectTraces

if TYPE_CHECKING:
    from fastapi import FastAPI
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

UNTRACED = "/-/,/metrics,/api/v1/stream"
"""Probes and scrapes say nothing, and a stream lasts as long as its page is open."""
_ADDRESSES = ("http.url", "http.target", "url.full", "url.query")
EXPORT_TIMEOUT_S = 5.0


class Traces:
    """What is traced, and where it is sent to."""

    def __init__(self, endpoint: str, version: str) -> None:
        from opentelemetry.sdk.trace.sampling import ALWAYS_ON

        ids = GivenIds()
        self._requests = _provider(endpoint, version)
        # All of them, whatever share of requests is traced: there are few, and a part of a trace would say something wrong.
        self._subjects = _provider(endpoint, version, sampler=ALWAYS_ON, id_generator=ids)
        self.subjects = SubjectTraces(self._subjects, ids)

    def instrument(self, app: FastAPI) -> None:
        """Trace the requests of an application."""
        from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

        FastAPIInstrumentor.instrument_app(
            app,
            tracer_provider=self._requests,
            excluded_urls=UNTRACED,
            exclude_spans=["receive", "send"],
            server_request_hook=_without_query,
        )

    def shutdown(self) -> None:
        """Send the rest."""
        self._requests.shutdown()
        self._subjects.shutdown()


def _provider(endpoint: str, version: str, **options: Any) -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": "wallwatch-backend", "service.version": version})
    provider = TracerProvider(resource=resource, **options)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_TIMEOUT_S)))
    return provider


def _without_query(span: Span, _scope: dict[str, Any]) -> None:
    """Leave out what follows the path: the address of a sign-in carries its code."""
    attributes = getattr(span, "attributes", None) or {}
    for name in _ADDRESSES:
        if name in attributes:
            span.set_attribute(name, "" if name == "url.query" else str(attributes[name]).partition("?")[0])
