"""What is told to one webhook at one time, before it has a form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

MOST_INCIDENTS = 100
"""In one body; the rest is counted. A receiver that wants all reads the API."""


@dataclass(frozen=True)
class Notification:
    """Incidents (as the API shows them, JSON) that are told together; one, where the webhook does not group."""

    event: str
    at: datetime
    receiver: str
    webhook_id: UUID
    incidents: Sequence[Mapping[str, Any]]
    group_labels: Mapping[str, str]
    grouped: bool
    repeated: bool = False
    public_url: str | None = None

    @property
    def group_key(self) -> str:
        """Which group this is, for as long as the webhook lives."""
        inner = ", ".join(f'{name}="{value}"' for name, value in sorted(self.group_labels.items()))
        if not self.grouped:
            inner = f'incident="{self.incidents[0]["id"]}"'
        return f"wallwatch/{self.webhook_id}:{{{inner}}}"

    @property
    def shown(self) -> Sequence[Mapping[str, Any]]:
        return self.incidents[:MOST_INCIDENTS]

    @property
    def left_out(self) -> int:
        return max(len(self.incidents) - MOST_INCIDENTS, 0)

    @property
    def status(self) -> Literal["firing", "resolved"]:
        return "firing" if any(not is_resolved(incident) for incident in self.incidents) else "resolved"

    def link(self, incident: Mapping[str, Any]) -> str:
        """Address of the incident's page; empty while nobody has set WALLWATCH_PUBLIC_URL."""
        return f"{self.public_url}/incidents/{incident['id']}" if self.public_url else ""


def is_resolved(incident: Mapping[str, Any]) -> bool:
    return incident.get("state") == "resolved"


def place_of(incident: Mapping[str, Any]) -> str:
    """Where an incident is, in a few words.

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
