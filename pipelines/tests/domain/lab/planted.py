"""Small devices with planted faults: a function of the configuration behind a `Tester` that counts and checks what it is asked."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wallwatch.domain.lab.device import Config, Device, Value, parse_device
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.search import run_lab
from wallwatch.domain.lab.tester import BudgetReached, Options, Outcome, Phase, one_by_one
from wallwatch.domain.lab.topology import Topology

Behaviour = Callable[[Config], "tuple[Sequence[str], Mapping[str, float]]"]
HEALTHY_GBPS = 98.0


def integer(name: str, low: int, high: int, step: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "integer", "min": low, "max": high, "step": step, "component": f"part of {name}", **more}


def boolean(name: str) -> dict[str, Any]:
    return {"name": name, "kind": "boolean", "component": f"part of {name}"}


def choice(name: str, *values: Any) -> dict[str, Any]:
    return {"name": name, "kind": "choice", "values": list(values), "component": f"part of {name}"}


def sequence(name: str, *values: Any) -> dict[str, Any]:
    return {"name": name, "kind": "sequence", "values": list(values), "component": f"part of {name}"}


def first_value(parameter: Mapping[str, Any]) -> Any:
    if parameter["kind"] == "integer":
        return parameter["min"]
    if parameter["kind"] == "boolean":
        return False
    return parameter["values"] if parameter["kind"] == "sequence" else parameter["values"][0]


def description(*parameters: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The answer to `describe`; the default is the first value of each parameter."""
    return {
        "protocol": "dut/1",
        "name": "planted",
        "description": "a planted device",
        "parameters": list(parameters),
        "metrics": [{"name": "bw_gbps", "unit": "Gbit/s", "better": "higher"}],
        "symptoms": ["S3", "S6", "S7"],
        "default": {one["name"]: first_value(one) for one in parameters},
        **more,
    }


def device_of(*parameters: Mapping[str, Any], **more: Any) -> Device:
    return parse_device(description(*parameters, **more))


def fails_when(predicate: Callable[[Config], bool], symptom: str = "S6") -> Behaviour:
    """A symptom wherever the predicate holds; bandwidth falls with it."""
    return lambda config: ((symptom,), {"bw_gbps": 40.0}) if predicate(config) else ((), {"bw_gbps": HEALTHY_GBPS})


class PlantedTester:
    """Answers from a behaviour. Invalid configurations fail the test at once: the search must never send one.

    `budget` is the number of operations after which it ends the search; `damage` says after which configurations a device that remembers
    shows `S6` until a reset; `answers_errors` fails every operation from that number on.
    """

    def __init__(
        self,
        device: Device,
        behaviour: Behaviour,
        *,
        budget: int = 3000,
        damage: Callable[[Config], bool] | None = None,
        flip: float = 0.0,
        noise: float = 0.0,
        noise_seed: int = 7,
        answers_errors: int | None = None,
    ) -> None:
        self.device = device
        self._behaviour = behaviour
        self._budget = budget
        self._damage = damage
        self._is_damaged = False
        self._flip, self._noise = flip, noise
        self._answers_errors = answers_errors
        self._rng = random.Random(noise_seed)
        self._topology = Topology(device)
        self.sent: list[tuple[Phase, tuple[Value, ...] | None]] = []
        """Phase and configuration of each operation; None is a reset."""

    @property
    def tests(self) -> list[Config]:
        return [self.device.config_of(key) for _, key in self.sent if key is not None]

    @property
    def resets(self) -> int:
        return sum(key is None for _, key in self.sent)

    def _spend(self) -> None:
        if len(self.sent) >= self._budget:
            raise BudgetReached("budget reached")

    def test(self, config: Config, phase: Phase) -> Outcome:
        self._spend()
        self.sent.append((phase, self.device.key(config)))
        assert config.keys() == self.device.by_name.keys()
        assert all(one.contains(config[one.name]) for one in self.device.parameters), f"outside the domain: {config}"
        assert self._topology.is_valid(config), f"not valid: {config}"
        if self._answers_errors is not None and len(self.sent) >= self._answers_errors:
            return Outcome("error", reason="the link is down")
        symptoms, metrics = self._behaviour(config)
        shown = set(symptoms)
        if self._flip and self._rng.random() < self._flip:
            shown ^= {"S6"}
        if self._is_damaged:
            shown.add("S6")
        if self._damage is not None and self._damage(config):
            self._is_damaged = True
        noisy = {name: value * (1 + self._rng.gauss(0, self._noise)) if self._noise else value for name, value in metrics.items()}
        return Outcome("ok", frozenset(shown), noisy)

    def test_all(self, configs: Sequence[Config], phase: Phase) -> list[Outcome]:
        return one_by_one(self.test, configs, phase)

    def reset(self, phase: Phase) -> None:
        self._spend()
        self.sent.append((phase, None))
        self._is_damaged = False


def search(device: Device, behaviour: Behaviour, *, options: Options | None = None, **tester: Any) -> tuple[Report, PlantedTester]:
    """A search of a planted device and the tester with all that was sent."""
    planted = PlantedTester(device, behaviour, **tester)
    return run_lab(device, planted, options or Options()), planted


def conditions_of(report: Report) -> list[set[tuple[Any, ...]]]:
    """The conditions of each cause: (parameter or expression, operator, value)."""
    found = []
    for cause in report.causes:
        entries = cause.cause.conditions_json()
        found.append({(one["parameter"] or one["expression"], one["op"], _hashable(one["value"])) for one in entries})
    return found


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
