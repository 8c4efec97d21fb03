"""An event of a remedy, a rollout or a campaign of the lab as plain data, before it has a format."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from wallwatch_backend.kit.states import Outcome
from wallwatch_backend.notify.schemas import EventType

Level = Literal["info", "good", "bad"]


@dataclass(frozen=True)
class OrderEvent:
    """One event of one remedy, rollout or campaign; `data` is the JSON that the API shows, `labels` what an alert carries."""

    event: EventType
    outcome: Outcome
    over: bool
    """Nothing more is to be expected (an undo may still follow)."""
    at: datetime
    began_at: datetime
    kind: Literal["remedy", "rollout", "campaign"]
    id: UUID
    action: str
    place: str
    text: str
    data: Mapping[str, Any]
    labels: Mapping[str, str]
    url: str

    @property
    def subject(self) -> str:
        """Deliveries of one subject are sent one after another."""
        return f"{self.kind}={self.id}"

    @property
    def about(self) -> str:
        """One line for the delivery log."""
        return f"{self.action} on {self.place}"

    @property
    def level(self) -> Level:
        """How a receiver may colour it."""
        return self.outcome if self.outcome in ("good", "bad") else "info"
