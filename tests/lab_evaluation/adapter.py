"""The one place that knows how the lab is called: it lets the search test a planted device, and returns the report's JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dut_zoo.device import Ledger
from wallwatch.domain.lab.device import Config, parse_device
from wallwatch.domain.lab.search import run_lab
from wallwatch.domain.lab.tester import BudgetReached, Options, Outcome, Phase, one_by_one

ATTEMPTS = 3
"""A test that ends with an error is repeated so often at most, as `wallwatch lab` does."""

SEARCHING: frozenset[Phase] = frozenset({"baseline", "discover", "control"})
"""Phases in which the lab looks for something that fails; in the others it examines what it has found."""


class Device(Protocol):
    """What speaks `dut/1` without a process."""

    @property
    def ledger(self) -> Ledger:
        """Its own count of operations."""

    def describe(self) -> Mapping[str, Any]:
        """The answer to `describe`."""

    def test(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to `test`."""

    def reset(self) -> Mapping[str, Any]:
        """The answer to `reset`."""


class InProcess:
    """A tester without a process, a journal or a clock; `retries` are operations that the search does not see.

    `found_at` is the number of operations after the last one that served to find a cause, not to look for the next one.
    """

    def __init__(self, device: Device, budget: int) -> None:
        self._device = device
        self._budget = budget
        self.retries = 0
        self.found_at = 0

    def test(self, config: Config, phase: Phase) -> Outcome:
        """Test one configuration."""
        for attempt in range(ATTEMPTS):
            self._spend()
            answer = self._device.test(as_json(config))
            self.retries += attempt > 0
            if answer["status"] != "error":
                break
        if phase not in SEARCHING:
            self.found_at = self._device.ledger.operations
        symptoms = frozenset(answer.get("symptoms", ()))
        return Outcome(answer["status"], symptoms, answer.get("metrics", {}), answer.get("reason", ""))

    def test_all(self, configs: Sequence[Config], phase: Phase) -> list[Outcome]:
        """One after the other."""
        return one_by_one(self.test, configs, phase)

    def reset(self, phase: Phase) -> None:
        """Reset the device."""
        self._spend()
        self._device.reset()

    def _spend(self) -> None:
        if self._device.ledger.operations >= self._budget:
            raise BudgetReached("budget reached")


def as_json(config: Config) -> dict[str, Any]:
    """A configuration as it would arrive on the other side: orders are lists there."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in config.items()}


def lab_report(device: Device, budget: int, seed: int) -> dict[str, Any]:
    """The report of the lab on a device, as it is written to a file."""
    described = parse_device(json.loads(json.dumps(device.describe())))
    tester = InProcess(device, budget)
    report: dict[str, Any] = json.loads(json.dumps(run_lab(described, tester, Options(seed=seed, budget=budget)).to_json()))
    report["tests"] += tester.retries
    report["found_at"] = tester.found_at
    return report
