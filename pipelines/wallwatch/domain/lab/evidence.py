"""What the tests that were run anyway say about a cause: curves along its parameters, and how much worse metrics become."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from wallwatch.domain.lab.conditions import Cause, Signal
from wallwatch.domain.lab.device import Config, Value
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.paths import difference
from wallwatch.domain.lab.report import Agreement, FoundCause
from wallwatch.domain.lab.tester import Outcome

MOST_POINTS = 40


def add_evidence(judge: Judge, found: FoundCause) -> None:
    """Fill in the sensitivity curves and the effect of a cause, and whether the device recovers from it.

    No test is spent: halving a range has tried the values around its threshold.
    """
    found.sensitivity = [_curve(judge, found, name) for name in sorted(found.cause.parameters)]
    found.recovers = judge.recovery.get(found.cause.signal)
    good, bad = (_means(judge.seen[judge.device.key(one)]) for one in (found.passing, found.failing))
    found.effect = {
        name: {"good": good[name], "bad": bad[name], "change": (bad[name] - good[name]) / abs(good[name])}
        for name in good
        if name in bad and good[name]
    }


def mostly_wrong(judge: Judge, found: FoundCause, known: Sequence[Cause]) -> Agreement | None:
    """How many predictions inside the cause, or of all tests there, came true, where that is less than half; None where it is not.

    Tests in which another cause of the same signal holds do not count.
    """
    same = [one for one in known if one.signal == found.cause.signal]
    tested = [judge.device.config_of(key) for key in judge.seen]
    inside = [one for one in tested if found.cause.holds(one) and not any(other.holds(one) for other in same)]
    verdicts = [judge.known(one, found.cause.signal) for one in inside]
    seen = Agreement(sum(one is True for one in verdicts), sum(one is not None for one in verdicts))
    predicted, _ = found.agreement(known)
    return next((one for one in (predicted, seen) if 2 * one.agree < one.of), None)


def usable_tests(judge: Judge) -> list[tuple[Config, dict[str, float]]]:
    """Configurations with the mean of each metric, without tests in which a symptom stopped the device and its metrics."""
    found = []
    damage = judge.interference.damage
    for key, outcomes in judge.seen.items():
        usable = [one for one in outcomes if one.status == "ok" and not any(damage.get(symptom) for symptom in one.symptoms)]
        means = _means(usable)
        if means:
            found.append((judge.device.config_of(key), means))
    return found


def _curve(judge: Judge, found: FoundCause, name: str) -> dict[str, Any]:
    """The tests that differ from the reproducer in this parameter only."""
    device = judge.device
    points = []
    for key, outcomes in judge.seen.items():
        usable = [one for one in outcomes if one.status == "ok"]
        config = device.config_of(key)
        if usable and set(difference(device, config, found.failing)) <= {name}:
            points.append((config[name], usable))
    parameter = device.by_name[name]
    points.sort(key=lambda one: _rank(one[0]))
    return {
        "parameter": name,
        "kind": parameter.kind,
        "unit": parameter.unit,
        "points": [
            {"value": _plain(value), "bad": _is_bad(found.cause.signal, outcomes, judge), "metrics": _means(outcomes)}
            for value, outcomes in points[:MOST_POINTS]
        ],
    }


def _is_bad(signal: Signal, outcomes: Sequence[Outcome], judge: Judge) -> bool:
    if signal.symptom is not None:
        return 2 * sum(signal.symptom in one.symptoms for one in outcomes) > len(outcomes)
    return judge.is_degraded(outcomes, signal)


def _means(outcomes: Sequence[Outcome]) -> dict[str, float]:
    names = {name for one in outcomes for name in one.metrics}
    return {name: fmean(one.metrics[name] for one in outcomes if name in one.metrics) for name in sorted(names)}


def _rank(value: Value) -> tuple[float, str]:
    return (float(value), "") if isinstance(value, int | float) else (math.inf, str(value))


def _plain(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value
