"""A planted device in action: answers tests, remembers what it must, and counts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from dut_zoo.parameters import Config
from dut_zoo.planted import DRIFT_TESTS, Fault, Planted

Answer = dict[str, Any]


class Ledger:
    """Counts operations, and appends each to a file if one is given."""

    def __init__(self, path: Path | None = None) -> None:
        self.tests = 0
        self.resets = 0
        self.invalid = 0
        self._file = path.open("a", buffering=1) if path else None

    @property
    def operations(self) -> int:
        """What a budget counts: tests and resets, whatever the answer."""
        return self.tests + self.resets

    def enter(self, operation: str, answer: Answer, config: Mapping[str, Any] | None = None) -> None:
        """Count an operation that was answered."""
        self.tests += operation == "test"
        self.resets += operation == "reset"
        self.invalid += answer["status"] == "invalid"
        if self._file:
            line: dict[str, Any] = {"op": operation, "status": answer["status"]}
            if config is not None:
                line |= {"config": config, "symptoms": answer.get("symptoms")}
            self._file.write(json.dumps(line) + "\n")

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()


class Device:
    """One planted device; noise is repeatable by `seed`."""

    def __init__(self, planted: Planted, seed: int = 0, ledger: Ledger | None = None) -> None:
        self.planted = planted
        self.ledger = ledger or Ledger()
        self._rng = Random(f"{planted.name}/{seed}")
        self._stuck: list[Fault] = []
        self._time = 0
        self._bases = {metric.name: metric for metric in planted.metrics}
        self._positions = {trend.parameter: self._position(trend.parameter, planted.default) for trend in planted.trends}

    def describe(self) -> Answer:
        """The answer to `describe`."""
        return self.planted.describe()

    def test(self, config: Mapping[str, Any]) -> Answer:
        """Test a configuration; parameters left out take their default."""
        answer = self._test(config)
        self.ledger.enter("test", answer, config)
        return answer

    def reset(self) -> Answer:
        """Bring the device back to its first state."""
        self._stuck = []
        self._time += 1
        answer = {"status": "ok"}
        self.ledger.enter("reset", answer)
        return answer

    def _test(self, config: Mapping[str, Any]) -> Answer:
        planted = self.planted
        self._time += 1
        complete = {**planted.default, **config}
        reason = planted.invalid(complete)
        if reason:
            return {"status": "invalid", "reason": reason}
        blur = planted.blur
        if blur.errors and self._rng.random() < blur.errors:
            return {"status": "error", "reason": "the traffic generator did not start"}
        shown = [fault for fault in planted.active(complete) if blur.shows >= 1 or self._rng.random() < blur.shows]
        if planted.memory:
            shown = self._stuck or shown
            self._stuck = shown
        symptoms = sorted({fault.symptom for fault in shown if fault.symptom})
        if not shown and blur.false_alarm and self._rng.random() < blur.false_alarm:
            symptoms = [self._rng.choice(planted.symptoms)]
        return {"status": "ok", "symptoms": symptoms, "metrics": self._measure(complete, shown)}

    def _measure(self, config: Config, shown: list[Fault]) -> dict[str, float]:
        if any(fault.crash for fault in shown):
            return {} if self.planted.crash_metrics == "empty" else dict.fromkeys(self._bases, 0.0)
        factors = dict.fromkeys(self._bases, 1.0)
        for trend in self.planted.trends:
            moved = self._position(trend.parameter, config) - self._positions[trend.parameter]
            factors[trend.metric] *= self._bases[trend.metric].worse(trend.change * moved)
        for fault in shown:
            for name, change in fault.effects.items():
                factors[name] *= self._bases[name].worse(change)
        blur = self.planted.blur
        if blur.drift:
            drift = 1 + blur.drift * math.sin(2 * math.pi * self._time / DRIFT_TESTS)
            factors = {name: factor * drift for name, factor in factors.items()}
        if blur.noise:
            factors = {name: factor * max(0.01, self._rng.gauss(1, blur.noise)) for name, factor in factors.items()}
        return {name: round(self._bases[name].base * factor, 6) for name, factor in factors.items()}

    def _position(self, name: str, config: Config) -> float:
        return self.planted.parameter(name).position(config[name])
