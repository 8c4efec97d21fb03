"""What a search found, in the form that the command, the API and the page show (docs/lab.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wallwatch.domain.lab.conditions import Cause, Condition
from wallwatch.domain.lab.device import NUMBER_OF_LEVELS, Config, Device, Parameter, brute_force_tests, to_json
from wallwatch.domain.lab.permutation import ENOUGH, log_odds
from wallwatch.domain.lab.tester import Options


@dataclass
class Threshold:
    """Where an integer's condition begins: the last value that passed and the first that failed, `step` apart."""

    parameter: str
    last_good: int
    first_bad: int
    step: int


@dataclass
class Permutation:
    """The paper's test of one parameter: pairs of tests with the others at random, and in how many the signal followed the parameter."""

    parameter: str
    pairs: int
    held: int
    kept: bool


@dataclass
class Agreement:
    """Predictions on fresh configurations: how many came true."""

    agree: int = 0
    of: int = 0

    def add(self, came_true: bool) -> None:
        self.agree += came_true
        self.of += 1


@dataclass(frozen=True)
class Prediction:
    """A fresh configuration inside the cause, or outside with one condition broken, and whether it failed."""

    config: Config
    broken: Condition | None
    is_bad: bool


@dataclass
class FoundCause:
    """A cause with its evidence. `failing` and `passing` are the minimal reproducer and its nearest neighbour that passes."""

    cause: Cause
    failing: Config
    passing: Config
    thresholds: list[Threshold] = field(default_factory=list)
    predictions: list[Prediction] = field(default_factory=list)
    is_settled: bool = True
    """False where the conditions are the best of several that did not all come true."""
    sensitivity: list[dict[str, Any]] = field(default_factory=list)
    effect: dict[str, dict[str, float]] = field(default_factory=dict)
    recovers: bool | None = None
    """Whether the device passes again after it without a reset; None for one that remembers nothing, or was not asked."""
    recognised: dict[str, str] | None = None

    def counted(self, others: Sequence[Cause] = ()) -> list[Prediction]:
        """Predictions that say something of this cause: in the others another one of the same signal holds."""
        same = [one for one in others if one is not self.cause and one.signal == self.cause.signal]
        return [one for one in self.predictions if not any(other.holds(one.config) for other in same)]

    def agreement(self, others: Sequence[Cause] = ()) -> tuple[Agreement, Agreement]:
        """How many predictions inside and outside came true."""
        inside, outside = Agreement(), Agreement()
        for one in self.counted(others):
            if one.broken is None:
                inside.add(one.is_bad)
            else:
                outside.add(not one.is_bad)
        return inside, outside

    def permutation(self, others: Sequence[Cause] = ()) -> list[Permutation]:
        found = []
        for condition in self.cause.conditions:
            pairs = [one for one in self.counted(others) if one.broken == condition]
            if pairs:
                held = sum(not one.is_bad for one in pairs)
                is_kept = log_odds(len(pairs), held) >= ENOUGH
                found.append(Permutation(", ".join(condition.parameters), len(pairs), held, is_kept))
        return found

    def confidence(self, others: Sequence[Cause] = ()) -> float:
        """The share of predictions that came true, one more that did not taken for granted by half."""
        inside, outside = self.agreement(others)
        total = inside.of + outside.of
        return 1 - (total - inside.agree - outside.agree + 0.5) / (total + 1)

    def to_json(self, device: Device, number: int, others: Sequence[Cause] = ()) -> dict[str, Any]:
        inside, outside = self.agreement(others)
        components = {device.by_name[name].component for name in self.cause.parameters} - {""}
        return {
            "id": number,
            "symptom": self.cause.signal.symptom,
            "metric": self.cause.signal.metric,
            "conditions": self.cause.conditions_json(),
            "proven": self.is_settled,
            "confidence": round(self.confidence(others), 4),
            "components": sorted(components),
            "recognised": self.recognised,
            "thresholds": [vars(one) for one in self.thresholds],
            "permutation": [vars(one) for one in self.permutation(others)],
            "verification": {"inside": vars(inside), "outside": vars(outside)},
            "sensitivity": self.sensitivity,
            "effect": self.effect,
            "recovers": self.recovers,
            "failing": to_json(self.failing),
            "passing": to_json(self.passing),
        }


def undecided(found: FoundCause, names: Sequence[str], inside: Agreement) -> str:
    """A note on a failure that no conditions explain; `names` are the parameters in which it differs from the healthy configuration."""
    example = json.dumps(to_json({name: found.failing[name] for name in names}))
    return (
        f"Undecided: {found.cause.signal} also shows where no cause holds, for instance with {example}."
        f" Of {inside.of} configurations in which the best conditions that were tried hold, only {inside.agree} fail,"
        " so they are not reported as a cause."
    )


@dataclass
class Report:
    """`operations` counts tests and resets per phase.

    `strength`: every combination of the levels of so many varied parameters was covered under the exclusions.
    """

    device: Device
    options: Options
    operations: Mapping[str, int] = field(default_factory=dict)
    resets: int = 0
    stopped: str | None = None
    strength: int = 0
    baseline: dict[str, Any] = field(default_factory=lambda: {"healthy": None, "tests": 0, "metrics": {}})
    noise: dict[str, Any] = field(default_factory=lambda: {"flip_rate": 0.0, "repeats": 0, "sequential_decisions": False})
    memory: dict[str, Any] | None = None
    causes: list[FoundCause] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=list)
    next: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return self.stopped is None

    @property
    def varied(self) -> tuple[Parameter, ...]:
        """Parameters that the search varies; the others keep their defaults."""
        return self.device.varied(self.options.only)

    def to_json(self) -> dict[str, Any]:
        causes = [one.cause for one in self.causes]
        return {
            "device": self.device.name,
            "description": self.device.description,
            "tests": sum(self.operations.values()),
            "resets": self.resets,
            "strategy": self.options.strategy,
            "seed": self.options.seed,
            "budget": self.options.budget,
            "target": self.options.target,
            "complete": self.complete,
            "stopped": self.stopped,
            "strength": self.strength,
            "varied": [one.name for one in self.varied],
            "fixed": [one.name for one in self.device.parameters if one not in self.varied],
            "brute_force": {"levels": NUMBER_OF_LEVELS, "tests": str(brute_force_tests(self.varied))},
            "baseline": self.baseline,
            "noise": self.noise,
            "memory": self.memory,
            "causes": [one.to_json(self.device, i + 1, causes) for i, one in enumerate(self.causes)],
            "models": self.models,
            "phases": dict(self.operations),
            "next": self.next,
            "notes": self.notes,
        }
