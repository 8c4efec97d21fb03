"""What one webhook is sent at one time about incidents, before it has a format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from wallwatch_backend.notify.states import NotedState

MAX_INCIDENTS = 100
"""In one body; the rest is only counted. A receiver that needs all of them queries the API."""


@dataclass(frozen=True)
class Notification:
    """Incidents (JSON as in the API) that are sent together; exactly one if the webhook does not group."""

    event: str
    at: datetime
    receiver: str
    webhook_id: UUID
    incidents: Sequence[Mapping[str, Any]]
    group_labels: Mapping[str, str]
    grouped: bool
    repeated: bool = False
    public_url: str | None = None
    repeat_interval_s: int | None = None

    @property
    def group_key(self) -> str:
        """Identifies the group for the lifetime of the webhook."""
        inner = ", ".join(f'{name}="{value}"' for name, value in sorted(self.group_labels.items()))
        if not self.grouped:
            inner = f'incident="{self.incidents[0]["id"]}"'
        return f"wallwatch/{self.webhook_id}:{{{inner}}}"

    @property
    def included(self) -> Sequence[Mapping[str, Any]]:
        return self.incidents[:MAX_INCIDENTS]

    @property
    def truncated(self) -> int:
        return max(len(self.incidents) - MAX_INCIDENTS, 0)

    @property
    def status(self) -> Literal["firing", "resolved"]:
        return "firing" if any(not is_resolved(incident) for incident in self.incidents) else "resolved"

    def link(self, incident: Mapping[str, Any]) -> str:
        """URL of the incident's page; empty unless WALLWATCH_PUBLIC_URL is set."""
        return f"{self.public_url}/incidents/{incident['id']}" if self.public_url else ""


def is_resolved(incident: Mapping[str, Any]) -> bool:
    return incident.get("state") == NotedState.resolved


def place_of(incident: Mapping[str, Any]) -> str:
    """The place of an incident, in a few words.

    >>> place_of({"scope": "rnic", "host": "host01", "pci": "0000:3b:00.0"})
    'host01 0000:3b:00.0'
    >>> place_of({"scope": "rack", "subject": "rack r7", "host": "host01", "pci": ""})
    'rack r7'
    """
    if incident.get("scope") not in (None, "rnic") and incident.get("subject"):
        return str(incident["subject"])
    return " ".join(str(part) for part in (incident.get("host"), incident.get("pci")) if part) or "an unknown place"


def about(notification: Notification) -> str:
    """One line for the delivery log."""
    first = notification.incidents[0]
    if len(notification.incidents) == 1:
        return f"{first.get('symptom', '')} on {place_of(first)}".strip()
    labels = ", ".join(f"{name} {value}" for name, value in notification.group_labels.items() if value)
    return f"{len(notification.incidents)} incidents{f' of {labels}' if labels else ''}"


_WORDS = {"incident.opened": "Opened", "incident.updated": "Changed", "incident.resolved": "Resolved"}


def headline(notification: Notification) -> tuple[str, str, str]:
    """What happened in a word, what it is about, and its page (empty without a public address), for chats."""
    if notification.repeated:
        word = "Still unresolved"
    elif notification.grouped:
        word = "Resolved" if notification.status == "resolved" else "Incidents"
    else:
        word = _WORDS.get(notification.event, "Incident")
    link = notification.link(notification.incidents[0])
    if len(notification.incidents) > 1:
        link = f"{notification.public_url}/incidents" if notification.public_url else ""
    return word, about(notification), link


def title_of(incident: Mapping[str, Any]) -> str:
    return f"{incident.get('symptom', '')} {incident.get('title', '')}".strip()


def state_of(incident: Mapping[str, Any]) -> str:
    """The state, who acknowledged it, and whether the symptom is over.

    >>> state_of({"state": "acknowledged", "acknowledged_by": "ann", "active": False})
    'acknowledged by ann, symptom cleared'
    """
    acknowledged_by = incident.get("acknowledged_by") if incident.get("state") == NotedState.acknowledged else None
    who = f" by {acknowledged_by}" if acknowledged_by else ""
    cleared = ", symptom cleared" if incident.get("active") is False and not is_resolved(incident) else ""
    return f"{incident.get('state', NotedState.open)}{who}{cleared}"


def values_of(incident: Mapping[str, Any]) -> dict[str, str]:
    """What a chat shows of an incident, by title; what is unknown is left out."""
    values = {
        "Severity": incident.get("severity"),
        "State": state_of(incident),
        "Where": place_of(incident),
        "Rack": incident.get("rack"),
        "Likely cause": incident.get("cause") or incident.get("top_cause"),
        "Recommended": (incident.get("upgrade") or {}).get("title"),
        "Assignee": incident.get("assignee"),
    }
    return {title: str(value) for title, value in values.items() if value}
