"""Input and output of policies: events, steps of a subject, violations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Event:
    """An event of `wallwatch.event`. `at_us` is microseconds since 1970, which is the identity of events."""

    kind: str
    at_us: int
    host: str
    pci: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)


class Step(NamedTuple):
    """All events of one subject at one time that a policy uses. `kinds` is `("timer",)` if a timer caused the step."""

    at_us: int
    propositions: tuple[str, ...]
    kinds: tuple[str, ...]
    host: str


@dataclass(frozen=True, slots=True)
class Violation:
    """`steps` are the last ones of the subject, oldest first; the last one violates. `host` and `pci` are of its event."""

    policy: str
    subject: tuple[str, ...]
    at_us: int
    steps: tuple[Step, ...]
    host: str = ""
    pci: str = ""
    cut: bool = False
    """Earlier steps, or lost events, are missing."""

    @property
    def trace(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """`(at_us, propositions)` of each step."""
        return tuple((step.at_us, step.propositions) for step in self.steps)


@dataclass(slots=True)
class Counts:
    """What one policy has done. `subjects` and those below are of now, the others only grow."""

    events: int = 0
    late: int = 0
    gaps: int = 0
    evicted: int = 0
    violations: int = 0
    subjects: int = 0
    holding: int = 0
    satisfied: int = 0
    unknown: int = 0
