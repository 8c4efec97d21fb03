"""Alarms of pagers: each event opens an alarm, acknowledges it or closes it. PagerDuty and Opsgenie write the same in other words.

A pager knows an alarm by a key. All events of one incident (or group) have the same key, whichever webhook sends them, so a pager that
gets an incident twice calls once.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats.notification import Notification, headline, is_resolved, place_of, title_of, values_of
from wallwatch_backend.notify.states import NotedState

MAX_INCIDENTS = 20
"""Of a group, in the details of its alarm; the rest is only counted."""

Action = Literal["open", "acknowledge", "close"]
Severity = Literal["critical", "warning", "info"]


@dataclass(frozen=True)
class Alarm:
    """One request to a pager."""

    action: Action
    key: str
    summary: str
    place: str
    severity: Severity
    since: datetime | str
    text: str = ""
    link: str = ""
    kind: str = ""
    """Symptom of the incident, or what a remedy or condition is."""
    acknowledged_by: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)


def alarm_of_notification(notification: Notification) -> Alarm:
    """The alarm of an incident, or of a group that a webhook with `group_by` sends together."""
    first = notification.incidents[0]
    _, about, link = headline(notification)
    unresolved = [incident for incident in notification.incidents if not is_resolved(incident)]
    alone = len(notification.incidents) == 1
    return Alarm(
        action=_action(unresolved),
        key=_key(notification),
        summary=f"{title_of(first)} on {place_of(first)}" if alone else about,
        place=place_of(first) if alone else _group_place(notification),
        severity=_severity(unresolved or notification.incidents),
        since=min(
            (str(incident["opened_at"]) for incident in notification.incidents if incident.get("opened_at")), default=notification.at
        ),
        text=str(first.get("explanation") or first.get("summary") or "") if alone else _titles(notification),
        link=link,
        kind=str(first.get("symptom") or ""),
        acknowledged_by=next((str(each["acknowledged_by"]) for each in unresolved if each.get("acknowledged_by")), None),
        details=values_of(first) if alone else dict(notification.group_labels),
    )


def alarm_of_order(event: OrderEvent) -> Alarm:
    """The alarm of a remedy, a rollout, a campaign or a condition.

    A remedy that failed is over, but somebody has to look: its alarm stays open until a person closes it.
    """
    return Alarm(
        action="close" if event.over and event.level != "bad" else "open",
        key=f"wallwatch/{event.kind}/{_digest(str(event.id))}",
        summary=event.text,
        place=event.place,
        severity="warning" if event.level == "bad" else "info",
        since=event.began_at,
        link=event.url,
        kind=event.kind,
        details={"action": event.action, "event": str(event.event), **event.labels, **event.facts},
    )


def alarm_of_test(webhook_id: UUID, text: str, at: datetime, public_url: str | None) -> Alarm:
    """An alarm of the lowest severity; a person closes it."""
    return Alarm("open", f"wallwatch/test/{webhook_id}", text, "Wallwatch", "info", at, link=public_url or "", kind="test")


def _action(unresolved: Sequence[Mapping[str, Any]]) -> Action:
    if not unresolved:
        return "close"
    return "acknowledge" if all(incident.get("state") == NotedState.acknowledged for incident in unresolved) else "open"


def _severity(incidents: Sequence[Mapping[str, Any]]) -> Severity:
    return "critical" if any(incident.get("severity") == "critical" for incident in incidents) else "warning"


def _key(notification: Notification) -> str:
    if not notification.grouped:
        return f"wallwatch/incident/{notification.incidents[0]['id']}"
    return f"wallwatch/group/{_digest(notification.group_key)}"


def _digest(text: str) -> str:
    """Short enough for every pager, whatever the text.

    >>> len(_digest("rack=" + "r" * 1000))
    32
    """
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _group_place(notification: Notification) -> str:
    return ", ".join(f"{name} {value}" for name, value in notification.group_labels.items() if value) or "the fleet"


def _titles(notification: Notification) -> str:
    included = notification.incidents[:MAX_INCIDENTS]
    lines = [f"{title_of(incident)} on {place_of(incident)}" for incident in included]
    more = len(notification.incidents) - len(included)
    return "\n".join([*lines, *([f"and {more} more"] if more else [])])


def shortened(text: str, longest: int) -> str:
    """Cut a text that a pager would refuse.

    >>> shortened("reaches its limit", 10), shortened("short", 10)
    ('reaches i…', 'short')
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"
