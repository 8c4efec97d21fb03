"""Which event of an incident a webhook gets, and when: pure decisions.

The first event that a receiver gets of an unresolved incident is `incident.opened`, whatever made it match. A receiver that was notified
of an incident gets its resolution, even if it no longer matches. Suppressed incidents send nothing, nor do incidents that opened and were
resolved before anything was sent.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from wallwatch_backend.notify.schemas import EventType
from wallwatch_backend.notify.states import NotedState

OPENED, UPDATED, RESOLVED = EventType.opened, EventType.updated, EventType.resolved


class NoEvent(StrEnum):
    """Why a webhook gets no event."""

    keep = "keep"  # nothing to send now; what the webhook was sent of the incident is kept
    forget = "forget"  # nothing more will be sent of the incident


Decision = EventType | Literal[NoEvent.keep, NoEvent.forget]


def decide(
    event: EventType, state: str, subscribed: frozenset[str], *, tracked: bool, notified: bool, pending: str | None, last_state: str | None
) -> Decision:
    """Return the event that the webhook gets.

    Parameters
    ----------
    event, state
        What happened to the incident, and its state since.
    subscribed
        Events that the webhook has subscribed to.
    tracked, notified, pending, last_state
        Whether the webhook has had this incident before; whether a request about it was queued; an event that waits to be sent
        (groups only); the incident's state at its last event.

    >>> decide(UPDATED, "open", frozenset(EventType), tracked=False, notified=False, pending=None, last_state=None).value
    'incident.opened'
    """
    if state == NotedState.suppressed:
        return NoEvent.keep
    if state == NotedState.resolved and event != RESOLVED:  # older than the resolution, which has its own event
        return NoEvent.keep if tracked else NoEvent.forget
    if state == NotedState.resolved:
        never_sent = tracked and not notified and (last_state == NotedState.suppressed or pending == OPENED)
        return NoEvent.forget if never_sent or RESOLVED not in subscribed else RESOLVED
    if OPENED in subscribed and (event == OPENED or not notified or pending == OPENED):
        return OPENED
    return UPDATED if event == UPDATED and UPDATED in subscribed else NoEvent.keep


def due_at(now: datetime, last_sent_at: datetime | None, already_due_at: datetime | None, wait_s: int, interval_s: int) -> datetime:
    """When a group sends a change that arrived now: first after `wait_s`, then at least `interval_s` after the last notification.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> due_at(noon, None, None, 30, 300).time().isoformat()
    '12:00:30'
    >>> due_at(noon, noon - timedelta(seconds=100), None, 30, 300).time().isoformat()
    '12:03:20'
    >>> due_at(noon, noon - timedelta(hours=1), None, 30, 300) == noon
    True
    """
    if already_due_at is not None:
        return already_due_at
    if last_sent_at is None:
        return now + timedelta(seconds=wait_s)
    return max(now, last_sent_at + timedelta(seconds=interval_s))


def repeat_at(sent_at: datetime, repeat_interval_s: int | None, any_unresolved: bool) -> datetime | None:
    """When a notification that was sent now is repeated; None if it is not."""
    if repeat_interval_s is None or not any_unresolved:
        return None
    return sent_at + timedelta(seconds=repeat_interval_s)
