"""Compares the causes that a lab reports with what is planted, as strictly as somebody who has to act on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from random import Random
from typing import Any

from tests.lab_evaluation.expressions import Unreadable
from tests.lab_evaluation.reported import ReportedCause, read_causes

from dut_zoo.conditions import Boundary, Condition
from dut_zoo.device import Ledger
from dut_zoo.near import fresh
from dut_zoo.parameters import Boolean, Choice, Config, Integer, Order, Parameter, Value
from dut_zoo.planted import Fault, Planted

FRESH = 2000
"""Configurations that predictions are judged with."""
LEAST_F1 = 0.98
BLURRED_SHARE = 0.02
"""Thresholds of a noisy or flaky device are right within this share of the range (linear) or of the value (logarithmic)."""
NOISY = 0.01
"""From this noise on a device counts as noisy."""
VALUES_SEEN = 4000
"""Valid configurations from which the judge learns which values a topology allows together."""


@dataclass(frozen=True)
class Verdict:
    """How one report compares with the truth."""

    planted: int
    found: int
    """Planted faults that a reported cause matches."""
    extra: int
    """Reported causes that match no planted fault."""
    f1: float
    tests: int
    """Tests and resets, by the device's own ledger."""
    invalid: int
    miscounted: bool
    """The report's count is not the ledger's."""
    complete: bool
    wrong: tuple[str, ...]
    """What is wrong, in words."""

    @property
    def exact(self) -> bool:
        """Every planted fault is named, and nothing else is."""
        return self.found == self.planted and not self.extra

    @property
    def right(self) -> bool:
        """Exact, predicts well, and no configuration was sent that is not valid."""
        return self.exact and self.f1 >= LEAST_F1 and not self.invalid and not self.miscounted


def blurred(planted: Planted) -> bool:
    """Whether a device's answers vary so much that a threshold can be found only nearly."""
    return planted.blur.noise >= NOISY or planted.blur.shows < 1


def tolerance(planted: Planted, parameter: Integer, value: float) -> float:
    """How far a threshold may be off."""
    if not blurred(planted):
        return parameter.step
    return max(parameter.step, BLURRED_SHARE * (value if parameter.log else parameter.high - parameter.low))


def judge(planted: Planted, report: Mapping[str, Any], ledger: Ledger, seed: int = 0) -> Verdict:
    """The verdict on a report about a device, whose ledger says what it cost."""
    wrong = []
    try:
        causes = read_causes(report, planted.parameters)
    except (Unreadable, KeyError, TypeError, ValueError) as reason:
        causes = []
        wrong.append(f"unreadable report: {reason}")
    left = list(causes)
    found = 0
    for fault in planted.faults:
        reasons = [(mismatch(planted, fault, cause), cause) for cause in left]
        match = next((cause for reason, cause in reasons if reason is None), None)
        if match is None:
            wrong.append(f"not found: {words(fault)}" + "".join(f"; {reason}" for reason, _ in reasons))
            continue
        found += 1
        left.remove(match)
    wrong += [f"invented: {cause}" for cause in left]
    f1 = prediction(planted, causes, seed)
    if f1 < LEAST_F1:
        wrong.append(f"F1 of predictions {f1:.3f}")
    miscounted = report.get("tests") != ledger.operations
    if miscounted:
        wrong.append(f"the report says {report.get('tests')} tests, the device counted {ledger.operations}")
    if ledger.invalid:
        wrong.append(f"{ledger.invalid} configurations were not valid")
    complete = bool(report.get("complete", True))
    return Verdict(len(planted.faults), found, len(left), f1, ledger.operations, ledger.invalid, miscounted, complete, tuple(wrong))


def words(fault: Fault) -> str:
    """A fault in one line."""
    conditions = [one.report() for one in fault.conditions]
    text = " and ".join(f"{one['parameter'] or one['expression']} {one['op']} {one['value']}" for one in conditions)
    return f"{fault.symptom or fault.metric} when {text}"


def mismatch(planted: Planted, fault: Fault, cause: ReportedCause) -> str | None:
    """Why a reported cause is not a planted fault; None when it is."""
    if (cause.symptom, cause.metric) != (fault.symptom, fault.metric):
        return f"the cause of {cause.symptom or cause.metric}"
    planted_sets = sorted(sorted(one.names) for one in fault.conditions if isinstance(one, Boundary))
    if planted_sets != sorted(sorted(one.expression.names) for one in cause.boundaries):
        return "boundaries over other parameters"
    truth = by_parameter(one for one in fault.conditions if isinstance(one, Condition))
    said = by_parameter(cause.conditions)
    if truth.keys() != said.keys():
        return f"conditions on {', '.join(sorted(said)) or 'no parameter'} instead of {', '.join(sorted(truth)) or 'none'}"
    for name, conditions in truth.items():
        parameter = planted.parameter(name)
        if isinstance(parameter, Integer):
            same = _same_range(planted, parameter, conditions, said[name])
        elif isinstance(parameter, Order):
            same = _same_orders(parameter, conditions, said[name])
        else:
            same = _same_values(planted, fault, parameter, conditions, said[name])
        if not same:
            return f"{name}: " + " and ".join(f"{one.op} {one.value}" for one in said[name])
    return None


def by_parameter(conditions: Any) -> dict[str, list[Condition]]:
    """Conditions grouped by their parameter."""
    groups: dict[str, list[Condition]] = {}
    for one in conditions:
        groups.setdefault(one.parameter, []).append(one)
    return groups


def _range(parameter: Integer, conditions: list[Condition]) -> tuple[float, float] | None:
    """The range that conditions leave; None where it is not one range."""
    low, high = float(parameter.low), float(parameter.high)
    for one in conditions:
        if one.op == ">=":
            low = max(low, one.value)
        elif one.op == "<=":
            high = min(high, one.value)
        else:
            values = [value for value in range(parameter.low, parameter.high + 1, parameter.step) if one.accepts(value)]
            if not values or (values[-1] - values[0]) // parameter.step + 1 != len(values):
                return None
            low, high = max(low, values[0]), min(high, values[-1])
    return low, high


def _same_range(planted: Planted, parameter: Integer, truth: list[Condition], said: list[Condition]) -> bool:
    """Thresholds on the same sides, each within the tolerance."""
    wanted, given = _range(parameter, truth), _range(parameter, said)
    if wanted is None or given is None:
        return False
    open_ends = (float(parameter.low), float(parameter.high))
    for true_end, said_end, end in zip(wanted, given, open_ends, strict=True):
        if (true_end == end) != (said_end == end) and abs(true_end - said_end) > parameter.step:
            return False
        if abs(true_end - said_end) > tolerance(planted, parameter, true_end):
            return False
    return True


def _same_orders(parameter: Order, truth: list[Condition], said: list[Condition]) -> bool:
    """The same orders meet both."""
    every = [list(order) for order in permutations(parameter.values)]
    return all(all(one.accepts(order) for one in truth) == all(one.accepts(order) for one in said) for order in every)


def _same_values(planted: Planted, fault: Fault, parameter: Choice | Boolean, truth: list[Condition], said: list[Condition]) -> bool:
    """The same values meet both, of those that valid configurations can have where the fault's other conditions hold."""
    differ = {value for value in parameter.values if all(one.accepts(value) for one in truth) != all(one.accepts(value) for one in said)}
    return not differ or (planted.topology is not None and not differ & _seen(planted, fault, parameter.name))


def _seen(planted: Planted, fault: Fault, name: str) -> set[Value]:
    """The values of a parameter in valid configurations that hold the fault's conditions on other parameters."""
    rng = Random(f"{planted.name}/seen")
    others = [one for one in fault.conditions if name not in one.names]
    drawn = (planted.draw(rng) for _ in range(VALUES_SEEN))
    return {config[name] for config in drawn if all(one.holds(config) for one in others)}


def prediction(planted: Planted, causes: list[ReportedCause], seed: int = 0) -> float:
    """F1 of predicting which fresh configurations fail; 1 where nothing fails and nothing is predicted to."""
    right = wrong = 0
    for config in fresh(planted, FRESH, seed):
        if blurred(planted) and doubtful(planted, config):
            continue
        fails, said = planted.bad(config), any(cause.holds(config) for cause in causes)
        right += fails and said
        wrong += fails != said
    return 2 * right / (2 * right + wrong) if right + wrong else 1.0


def doubtful(planted: Planted, config: Config) -> bool:
    """Whether a configuration lies so near a threshold that a lab which is right within the tolerance may say either."""
    for fault in planted.faults:
        for one in fault.conditions:
            if isinstance(one, Boundary):
                if abs(one.of(config) - one.value) <= BLURRED_SHARE * one.value:
                    return True
                continue
            parameter: Parameter = planted.parameter(one.parameter)
            if isinstance(parameter, Integer) and abs(config[one.parameter] - one.value) <= tolerance(planted, parameter, one.value):
                return True
    return False
