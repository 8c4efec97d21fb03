"""What one webhook hears of one incident: pure decisions.

The rules: the first that a receiver hears of an unresolved incident is its opening, whatever made it match; a receiver that heard
of an incident hears of its end, even when it matches no more; what is suppressed is not told; what came and went before
anything was told is not told either.
"""

from enum import StrEnum
from typing import Literal

from wallwatch_backend.webhooks.schemas import EventType

OPENED, UPDATED, RESOLVED = EventType.opened, EventType.updated, EventType.resolved


class Hears(StrEnum):
    """What becomes of an event that is not told."""

    nothing = "nothing"  # what is known of the incident is kept
    forget = "forget"  # nothing more will come of this incident


Heard = EventType | Literal[Hears.nothing, Hears.forget]


def decide(
    event: EventType, state: str, wanted: frozenset[str], *, known: bool, told: bool, pending: str | None, last_state: str | None
) -> Heard:
    """Say what the webhook is told.

    Parameters
    ----------
    event, state
        What happened to the incident, and its state since.
    wanted
        Events that the webhook has subscribed to.
    known, told, pending, last_state
        Whether the webhook had this incident already; whether a request about it was queued; an event that waits to be told
        (groups only); the incident's state at the last event.

    >>> decide(UPDATED, "open", frozenset(EventType), known=False, told=False, pending=None, last_state=None).value
    'incident.opened'
    """
    if state == "suppressed":
        return Hears.nothing
    if state == "resolved" and event != RESOLVED:  # news that is older than the incident's end, which is told by an event of its own
        return Hears.nothing if known else Hears.forget
    if state == "resolved":
        unheard = known and not told and (last_state == "suppressed" or pending == OPENED)
        return Hears.forget if unheard or RESOLVED not in wanted else RESOLVED
    if OPENED in wanted and (event == OPENED or not told or pending == OPENED):
        return OPENED
    return UPDATED if event == UPDATED and UPDATED in wanted else Hears.nothing
