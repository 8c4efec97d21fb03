"""What happened to a remedy or a rollout, before it has a form."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from wallwatch_backend.webhooks.schemas import EventType

Level = Literal["info", "good", "bad"]

LEVELS: Mapping[EventType, Level] = {
    EventType.remedy_verified: "good",
    EventType.remedy_failed: "bad",
    EventType.remedy_expired: "bad",
    EventType.rollout_done: "good",
    EventType.rollout_stopped: "bad",
    EventType.rollout_paused: "bad",
}
"""How a receiver may colour an event; the others only inform."""

OVER = frozenset(
    {
        EventType.remedy_rejected,
        EventType.remedy_verified,
        EventType.remedy_failed,
        EventType.remedy_undone,
        EventType.remedy_expired,
        EventType.rollout_rejected,
        EventType.rollout_stopped,
        EventType.rollout_done,
        EventType.rollout_undone,
    }
)
"""Events after which nothing more is to be expected (an undo may still follow)."""


@dataclass(frozen=True)
class Happening:
    """One event of one remedy or rollout."""

    event: EventType
    at: datetime
    began_at: datetime
    kind: Literal["remedy", "rollout"]
    id: UUID
    action: str
    place: str
    text: str
    data: Mapping[str, Any]
    labels: Mapping[str, str]
    url: str

    @property
    def subject(self) -> str:
        """Events of one remedy are told one after another."""
        return f"{self.kind}={self.id}"

    @property
    def about(self) -> str:
        """One line for the delivery log."""
        return f"{self.action} on {self.place}"

    @property
    def level(self) -> Level:
        return LEVELS.get(self.event, "info")

    @property
    def over(self) -> bool:
        return self.event in OVER
