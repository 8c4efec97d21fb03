"""Runs a cause's minimal reproducer and its passing neighbour again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wallwatch.domain.lab.device import Config, DescriptionError, Device, from_json
from wallwatch.domain.lab.metric_level import Level
from wallwatch.lab.answers import Answer
from wallwatch.lab.faults import BadDevice, shown
from wallwatch.lab.process import DeviceProcess

REPEATS_WHEN_FLAKY = 9
"""A majority of nine shows a symptom that appears in 80 % of the tests with 98 % probability."""
ATTEMPTS = 3


@dataclass(frozen=True)
class Run:
    """One configuration's verdict: that of most repeats. `symptoms` and `metrics` are those of the last one."""

    name: str
    expected_bad: bool
    is_bad: bool
    repeats: int
    bad: int
    symptoms: tuple[str, ...]
    metrics: Mapping[str, float]
    config: Mapping[str, Any]
    error: str | None = None

    @property
    def holds(self) -> bool:
        return self.error is None and self.is_bad == self.expected_bad


@dataclass
class Replayed:
    """The failing configuration and its passing neighbour."""

    case: int
    runs: list[Run] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Both behave as the report says."""
        return all(one.holds for one in self.runs)

    def to_json(self) -> dict[str, Any]:
        return {"case": self.case, "holds": self.holds, "runs": [{**vars(one), "holds": one.holds} for one in self.runs]}


def replay(report: Mapping[str, Any], case: int, process: DeviceProcess) -> Replayed:
    """Run both configurations of a cause; several times when the device is flaky, after a reset when it has a memory.

    Raises
    ------
    BadDevice
        The report has no such cause, or the device lacks a parameter or value of it.
    """
    causes = {one["id"]: one for one in report["causes"]}
    cause = causes.get(case)
    if cause is None:
        raise BadDevice(f"the report has no cause {case}: it has {', '.join(map(str, causes)) or 'none'}")
    device = process.device
    repeats = REPEATS_WHEN_FLAKY if report["noise"]["sequential_decisions"] else 1
    replayed = Replayed(case)
    for name, expected_bad in (("failing", True), ("passing", False)):
        config = _config(device, cause[name])
        answers = [_answer(process, device, config) for _ in range(repeats)]
        usable = [answer for answer in answers if answer.status == "ok"]
        bad = sum(shows(cause, answer, device, report["baseline"]["metrics"]) for answer in usable)
        last = usable[-1] if usable else answers[-1]
        error = None if usable else f"{last.status}: {last.reason}"
        is_bad = 2 * bad > len(usable)
        replayed.runs.append(Run(name, expected_bad, is_bad, repeats, bad, last.symptoms, last.metrics, cause[name], error))
    return replayed


def shows(cause: Mapping[str, Any], answer: Answer, device: Device, baseline: Mapping[str, Any]) -> bool:
    """Whether an answer shows the cause's symptom or degradation."""
    if cause["symptom"]:
        return cause["symptom"] in answer.symptoms
    name = cause["metric"]
    if name not in answer.metrics or name not in baseline or name not in device.metric:
        return False
    healthy = baseline[name]
    return Level(device.metric[name], healthy["median"], healthy["scale"]).is_suspect(answer.metrics[name])


def _answer(process: DeviceProcess, device: Device, config: Config) -> Answer:
    answer = Answer("error")
    for _ in range(ATTEMPTS):
        if device.sequential:
            process.reset()
        answer = process.test(config)
        if answer.status != "error":
            break
    return answer


def _config(device: Device, raw: Mapping[str, Any]) -> Config:
    try:
        return from_json(device, raw)
    except DescriptionError as error:
        raise BadDevice(f"the device {shown(device.name)} cannot run the reproducer: {'; '.join(error.problems)}") from None
