"""Kinds of conditions, and a condition as plain data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from wallwatch_backend.kit.matchers import Labels
from wallwatch_backend.kit.states import Outcome
from wallwatch_backend.notify.events import ConditionKind
from wallwatch_backend.notify.schemas import CONDITION_ENDS, EventType


def rnic_of(subject: str) -> tuple[str, str]:
    """Host and PCI address of an RNIC that is a subject.

    >>> rnic_of("host01 0000:3b:00.0")
    ('host01', '0000:3b:00.0')
    """
    host, _, pci = subject.rpartition(" ")
    return host, pci


def _labels_of_rnic(subject: str) -> dict[str, str]:
    host, pci = rnic_of(subject)
    return {"host": host, "pci": pci}


def _labels_of_host(subject: str) -> dict[str, str]:
    return {"host": subject}


def _labels_of_policy(subject: str) -> dict[str, str]:
    """Its hosts change. Receivers tell resources apart by `instance`: without one they merge all policies."""
    return {"instance": subject}


class Kind(NamedTuple):
    """A kind, and the event with which webhooks subscribe to it."""

    name: ConditionKind
    begin: EventType
    action: str
    """Names the condition in chats and alerts."""
    ended: str
    """What became of a subject that is in the kind's condition no longer."""
    labels: Callable[[str], dict[str, str]]
    """What identifies a subject in alerts: from the subject alone, because at the end nothing else may be known of it."""
    end_outcome: Outcome = "good"
    """Of an end for which no condition gives the reason."""

    @property
    def end(self) -> str:
        return CONDITION_ENDS[self.begin]


FORECAST = Kind(
    "forecast",
    EventType.forecast_expected,
    "limit forecast",
    "is no longer expected to reach a limit within the hour, or has no forecast",
    _labels_of_rnic,
)
DECLINE = Kind(
    "decline",
    EventType.decline_expected,
    "decline forecast",
    "is no longer predicted to lose bandwidth within the hour, or has lost it by now, or has no forecast",
    _labels_of_rnic,
    end_outcome="neutral",
)
POLICY = Kind(
    "policy", EventType.policy_violated, "policy violation", "has not been violated for an hour, or is disabled", _labels_of_policy
)
AGENT = Kind("agent", EventType.agent_lost, "lost agent", "has a connected agent again, or was removed", _labels_of_host)
CERTIFICATE = Kind("certificate", EventType.certificate_late, "late certificate", "has a new certificate, or was removed", _labels_of_host)

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
