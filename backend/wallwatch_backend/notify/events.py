"""An event of a remedy, a rollout, a campaign of the lab or a condition as plain data, before it has a format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from wallwatch_backend.kit.states import Outcome

Level = Literal["info", "good", "bad"]
ConditionKind = Literal["forecast", "decline", "policy", "agent", "certificate"]


def subject_of(kind: str, id: UUID | str) -> str:
    """Deliveries of one subject are sent one after another."""
    return f"{kind}={id}"


@dataclass(frozen=True)
class OrderEvent:
    """One event of one remedy, rollout, campaign or condition.

    `data` is the JSON that the API shows, `labels` what identifies its alert.
    """

    event: str
    outcome: Outcome
    over: bool
    """Nothing more is to be expected (an undo may still follow)."""
    at: datetime
    began_at: datetime
    kind: Literal["remedy", "rollout", "campaign"] | ConditionKind
    id: UUID | str
    action: str
    place: str
    text: str
    data: Mapping[str, Any]
    labels: Mapping[str, str]
    url: str
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else is known of its place. It may change, or be unknown at the end, so it identifies no alert."""

    @property
    def of_condition(self) -> bool:
        return self.kind in get_args(ConditionKind)

    @property
    def subject(self) -> str:
        return subject_of(self.kind, self.id)

    @property
    def about(self) -> str:
        """One line for the delivery log."""
        return f"{self.action} on {self.place}"

    @property
    def level(self) -> Level:
        """How a receiver may colour it."""
        return self.outcome if self.outcome in ("good", "bad") else "info"
