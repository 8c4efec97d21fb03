"""Kinds of conditions, and a condition as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from wallwatch_backend.kit.matchers import Labels
from wallwatch_backend.notify.events import ConditionKind
from wallwatch_backend.notify.schemas import CONDITION_ENDS, EventType


class Kind(NamedTuple):
    """A kind, and the event with which webhooks subscribe to it."""

    name: ConditionKind
    begin: EventType
    action: str
    """Names the condition in chats and alerts."""
    ended: str
    """What became of a subject that is in the kind's condition no longer."""

    @property
    def end(self) -> str:
        return CONDITION_ENDS[self.begin]


FORECAST = Kind(
    "forecast", EventType.forecast_expected, "limit forecast", "is no longer expected to reach a limit within the hour, or has no forecast"
)
DECLINE = Kind(
    "decline",
    EventType.decline_expected,
    "decline forecast",
    "is no longer predicted to lose bandwidth within the hour, or has lost it by now, or has no forecast",
)
POLICY = Kind("policy", EventType.policy_violated, "policy violation", "has not been violated for an hour, or is disabled")
AGENT = Kind("agent", EventType.agent_lost, "lost agent", "has a connected agent again, or was removed")
CERTIFICATE = Kind("certificate", EventType.certificate_late, "late certificate", "has a new certificate, or was removed")

KINDS = (FORECAST, DECLINE, POLICY, AGENT, CERTIFICATE)


@dataclass(frozen=True)
class Condition:
    """A subject's condition now. A subject that is not among a kind's conditions is not in it."""

    subject: str
    """Identifies it among its kind, and is its place in words."""
    standing: Literal["begins", "holds", "over"]
    """`begins`: announce it; `holds`: between the thresholds, so nothing changes; `over`: it has ended, with `text` as the reason."""
    since: datetime
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    path: str = ""
    """Of its page."""
