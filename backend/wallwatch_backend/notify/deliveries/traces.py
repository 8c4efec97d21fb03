"""Attempts to deliver an event, in the trace of the incident or remedy that it is about."""

from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.subject_traces import Attributes, Step, subject_of, traceparent
from wallwatch_backend.notify.deliveries.outcome import Outcome


def header(subject: str, delivery_id: UUID, at: datetime) -> dict[str, str]:
    """With this header a receiver that traces what it does continues the trace; none for events of a group or a condition."""
    traced = subject_of(subject)
    return {"traceparent": traceparent(traced, _key(delivery_id, at))} if traced is not None else {}


def note(session: WriteSession, subject: str, delivery_id: UUID, event: str, attempt: int, url: str, outcome: Outcome) -> None:
    """Trace an attempt. Of the address only the host: the rest may be secret."""
    traced = subject_of(subject)
    if traced is None:
        return
    attributes: Attributes = {
        "wallwatch.delivery_id": str(delivery_id),
        "wallwatch.attempt": attempt,
        "server.address": urlsplit(url).hostname,
        "http.response.status_code": outcome.status,
    }
    ended = outcome.at + timedelta(milliseconds=outcome.duration_ms)
    failure = None if outcome.delivered else outcome.error or "not delivered"
    session.trace(traced, Step(f"send {event}", outcome.at, ended, _key(delivery_id, outcome.at), attributes, failure))


def _key(delivery_id: UUID, at: datetime) -> str:
    """By its time: attempts are counted again when somebody sends a delivery again."""
    return f"delivery {delivery_id} {at.isoformat()}"
