"""Traces of incidents and remedies: from a finding to its webhooks, from an order to its proof.

A trace has the id of its incident or remedy. So whoever knows that finds it, and no step has to hand anything to the next one: what
happens after a restart, in another process or a day later is in the same trace. OpenTelemetry is imported only where traces are sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import SpanContext

Attributes = Mapping[str, str | int | bool | None]

ROOT = "root"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Step:
    """Something that happened to the subject of a trace."""

    name: str
    began: datetime
    ended: datetime
    key: str
    """Its identity within the trace: what is sent again after a restart is the same span."""
    attributes: Attributes = field(default_factory=dict)
    failure: str | None = None
    links: Sequence[SpanContext] = ()
    inside: str = ROOT
    """Key of the step that this one is a part of."""


def span_id(subject: UUID, key: str) -> int:
    """The id of a step's span: always the same, and never 0, which means none."""
    return int.from_bytes(hashlib.sha256(subject.bytes + key.encode()).digest()[:8]) | 1


def traceparent(subject: UUID, key: str) -> str:
    """The header with which a receiver continues a trace at a step.

    >>> traceparent(UUID("0af76519-16cd-43dd-8448-eb211c80319c"), "delivery 1")[:36]
    '00-0af7651916cd43dd8448eb211c80319c-'
    """
    return f"00-{subject.hex}-{span_id(subject, key):016x}-01"


def subject_of(text: str) -> UUID | None:
    """The incident or remedy that `kind=id` names; None where it names something else.

    >>> subject_of("incident=0af76519-16cd-43dd-8448-eb211c80319c"), subject_of("rack='r1'"), subject_of("agent=host01")
    (UUID('0af76519-16cd-43dd-8448-eb211c80319c'), None, None)
    """
    kind, _, id = text.partition("=")
    try:
        return UUID(id) if kind in ("incident", "remedy") else None
    except ValueError:
        return None


def context_of(subject: UUID, key: str = ROOT) -> SpanContext:
    """What a step of another trace links to."""
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(subject.int, span_id(subject, key), is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def request_now() -> Sequence[SpanContext]:
    """The traced request in which this is called, to link to."""
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    return [context] if context.is_valid else []


class SubjectTraces:
    """Sends the steps of incidents and remedies. Call it from one thread."""

    def __init__(self, provider: TracerProvider, ids: GivenIds) -> None:
        self._tracer, self._ids = provider.get_tracer("wallwatch.subjects"), ids

    def send(self, subject: UUID, step: Step) -> None:
        from opentelemetry import trace

        parent = trace.INVALID_SPAN_CONTEXT if step.key == ROOT else context_of(subject, step.inside)
        self._ids.trace_id, self._ids.span_id = subject.int, span_id(subject, step.key)
        span = self._tracer.start_span(
            step.name,
            trace.set_span_in_context(trace.NonRecordingSpan(parent)),
            attributes={name: value for name, value in step.attributes.items() if value is not None},
            links=[trace.Link(link) for link in step.links],
            start_time=_ns(min(step.began, step.ended)),  # by another clock, perhaps
        )
        if step.failure is not None:
            span.set_status(trace.Status(trace.StatusCode.ERROR, step.failure))
        span.end(_ns(step.ended))


class GivenIds:
    """Gives OpenTelemetry the ids of the span that is about to start."""

    def __init__(self) -> None:
        self.trace_id = self.span_id = 0

    def generate_trace_id(self) -> int:
        return self.trace_id

    def generate_span_id(self) -> int:
        return self.span_id

    def is_trace_id_random(self) -> bool:
        return False


def _ns(at: datetime) -> int:
    """Nanoseconds since 1970. OTLP has no times before, and a finding's may be whatever a host's clock said.

    >>> _ns(datetime(1970, 1, 2, tzinfo=UTC)), _ns(datetime(1965, 1, 1, tzinfo=UTC))
    (86400000000000, 0)
    """
    return max((at - _EPOCH) // timedelta(microseconds=1), 0) * 1000
