"""A planted device: what it describes, what makes it fail, and how it blurs its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from dut_zoo.conditions import Requirement
from dut_zoo.parameters import Config, Parameter, brute_force
from dut_zoo.topology import Topology


@dataclass(frozen=True)
class Metric:
    """A measured quantity and its value for the default configuration."""

    name: str
    unit: str
    higher_is_better: bool
    base: float

    def worse(self, change: float) -> float:
        """The factor of a change for the worse by a share; a negative share is an improvement."""
        return 1 - change if self.higher_is_better else 1 + change

    def describe(self) -> dict[str, Any]:
        """As in `describe`."""
        return {"name": self.name, "unit": self.unit, "better": "higher" if self.higher_is_better else "lower"}


@dataclass(frozen=True)
class Fault:
    """All conditions together make a symptom, or a degradation of a metric without one."""

    conditions: tuple[Requirement, ...]
    symptom: str | None
    effects: Mapping[str, float] = field(default_factory=dict)
    """Worsening of metrics, as shares; of a fault without a symptom exactly one."""
    crash: bool = False
    """The device answers nothing else: other faults are hidden, metrics mean nothing."""

    @property
    def metric(self) -> str | None:
        """The metric that a fault without a symptom degrades."""
        return None if self.symptom else next(iter(self.effects))

    @property
    def names(self) -> set[str]:
        """The parameters of its conditions."""
        return {name for one in self.conditions for name in one.names}

    def holds(self, config: Config) -> bool:
        """Whether a configuration meets all its conditions."""
        return all(one.holds(config) for one in self.conditions)

    def report(self) -> dict[str, Any]:
        """As a lab reports it."""
        return {"symptom": self.symptom, "metric": self.metric, "conditions": [one.report() for one in self.conditions]}


@dataclass(frozen=True)
class Trend:
    """A metric that changes smoothly with a parameter; never enough to be a degradation."""

    metric: str
    parameter: str
    change: float
    """Worsening from one end of the parameter to the other, as a share; negative: an improvement."""


@dataclass(frozen=True)
class Blur:
    """What stands between the truth and an answer."""

    shows: float = 1.0
    """Probability that a fault shows where its conditions hold."""
    false_alarm: float = 0.0
    """Probability of a symptom where nothing holds."""
    noise: float = 0.0
    """Standard deviation of each metric, as a share of it."""
    drift: float = 0.0
    """How far metrics move up and down over `DRIFT_TESTS` tests, as a share."""
    errors: float = 0.0
    """Probability that a test fails and a retry may pass."""


DRIFT_TESTS = 400
"""Tests in which a drift goes up and down once."""


@dataclass(frozen=True)
class Planted:
    """One device and its truth."""

    kind: str
    seed: int
    description: str
    parameters: tuple[Parameter, ...]
    metrics: tuple[Metric, ...]
    symptoms: tuple[str, ...]
    default: Config
    faults: tuple[Fault, ...] = ()
    trends: tuple[Trend, ...] = ()
    blur: Blur = Blur()
    topology: Topology | None = None
    memory: bool = False
    """After a fault every test is bad until a reset."""
    crash_metrics: str = "empty"
    """What a crashed device measures: `empty` (nothing) or `zero`."""

    @property
    def name(self) -> str:
        """Kind and seed."""
        return f"{self.kind}-{self.seed}"

    @property
    def brute_force(self) -> int:
        """Tests of all combinations of five levels, valid or not."""
        return brute_force(self.parameters)

    def parameter(self, name: str) -> Parameter:
        """The parameter of a name."""
        return next(one for one in self.parameters if one.name == name)

    def describe(self) -> dict[str, Any]:
        """The answer to `describe`."""
        return {
            "protocol": "dut/1",
            "name": self.name,
            "description": self.description,
            "parameters": [one.describe() for one in self.parameters],
            "metrics": [one.describe() for one in self.metrics],
            "symptoms": list(self.symptoms),
            "topology": self.topology.describe() if self.topology else None,
            "sequential": self.memory,
            "default": dict(self.default),
            "seconds_per_test": 30,
        }

    def invalid(self, config: Mapping[str, Any]) -> str | None:
        """Why a complete configuration cannot be tested; None when it can."""
        for one in self.parameters:
            if not one.contains(config[one.name]):
                return f"{one.name}: {config[one.name]!r} is outside its domain"
        unknown = sorted(set(config) - {one.name for one in self.parameters})
        if unknown:
            return f"unknown parameters: {', '.join(unknown)}"
        return self.topology.fault(dict(config)) if self.topology else None

    def active(self, config: Config) -> list[Fault]:
        """The faults that a valid configuration causes and that can be seen: a crash hides the others."""
        held = [fault for fault in self.faults if fault.holds(config)]
        return [fault for fault in held if fault.crash][:1] or held

    def bad(self, config: Config) -> bool:
        """Whether a fresh device fails with a valid configuration."""
        return any(fault.holds(config) for fault in self.faults)

    def truth(self) -> list[dict[str, Any]]:
        """The causes in the report's form."""
        return [fault.report() for fault in self.faults]

    def draw(self, rng: Random) -> Config:
        """Any valid configuration, evenly on each parameter's scale."""
        for _ in range(100_000):
            config = {one.name: one.draw(rng) for one in self.parameters}
            if self.topology is None or self.topology.fault(config) is None:
                return config
        raise ValueError(f"{self.name}: hardly any configuration is valid")
