"""Traces of requests, sent by OTLP; off unless `WALLWATCH_TRACES_ENDPOINT` is set.

The instrumentation is OpenTelemetry's own. It goes on with the trace of a request that has a header `traceparent`. Its packages are
imported here only, so that a server without traces does not carry them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

UNTRACED = "/-/,/metrics,/api/v1/stream"
"""Probes and scrapes say nothing, and a stream lasts as long as its page is open."""
_ADDRESSES = ("http.url", "http.target", "url.full", "url.query")
EXPORT_TIMEOUT_S = 5.0


def start(app: FastAPI, endpoint: str, version: str) -> TracerProvider:
    """Trace the requests of an application; `shutdown()` of what is returned sends the rest."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "wallwatch-backend", "service.version": version}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_TIMEOUT_S)))
    FastAPIInstrumentor.instrument_app(
        app, tracer_provider=provider, excluded_urls=UNTRACED, exclude_spans=["receive", "send"], server_request_hook=_without_query
    )
    return provider


def _without_query(span: Span, _scope: dict[str, Any]) -> None:
    """Leave out what follows the path: the address of a sign-in carries its code."""
    attributes = getattr(span, "attributes", None) or {}
    for name in _ADDRESSES:
        if name in attributes:
            span.set_attribute(name, "" if name == "url.query" else str(attributes[name]).partition("?")[0])
