"""A plain lab to compare with: draw rows, reduce a failing one parameter by parameter to the default, bisect what is left.

Rows are drawn at random until the budget ends, or come from an array in which every pair of levels occurs. One test decides each
question: it has nothing against noise, boundaries over several parameters, memory (it resets before each test) or a default that
is one of a fault's conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from random import Random
from statistics import median
from typing import Any

from dut_zoo.conditions import Condition
from dut_zoo.device import Device
from dut_zoo.parameters import Config, Integer, Order, Parameter, Value
from dut_zoo.planted import Planted

BUDGET = 3000
WORSE = 0.05
"""A metric is bad from this share on."""
CANDIDATES = 12
"""Rows from which the one with most new pairs is taken."""

Outcome = tuple[str | None, str | None]
"""A symptom or the metric that got worse."""
Rows = Callable[[Planted, Random], Iterator[Config]]


class Spent(Exception):
    """The budget is spent."""


class Bench:
    """Tests configurations for the plain lab, within its budget."""

    def __init__(self, device: Device, budget: int) -> None:
        self.device = device
        self._budget = budget
        planted = device.planted
        first = [self._raw(planted.default) for _ in range(5)]
        self._usual = {metric.name: median(one["metrics"].get(metric.name, 0.0) for one in first) for metric in planted.metrics}

    def outcomes(self, config: Config) -> set[Outcome]:
        """What is bad about a configuration."""
        answer = self._raw(config)
        if answer["symptoms"]:
            return {(symptom, None) for symptom in answer["symptoms"]}
        bad: set[Outcome] = set()
        for metric in self.device.planted.metrics:
            usual, actual = self._usual[metric.name], answer["metrics"].get(metric.name, 0.0)
            change = (usual - actual) / usual if metric.higher_is_better else (actual - usual) / usual
            if usual and change >= WORSE:
                bad.add((None, metric.name))
        return bad

    def _raw(self, config: Config) -> dict[str, Any]:
        planted, ledger = self.device.planted, self.device.ledger
        for _ in range(5):
            if ledger.operations + 1 + planted.memory > self._budget:
                raise Spent
            if planted.memory:
                self.device.reset()
            answer = self.device.test(config)
            if answer["status"] == "ok":
                return answer
        raise Spent


def random_rows(planted: Planted, rng: Random) -> Iterator[Config]:
    """Any valid configurations, without end."""
    while True:
        yield planted.draw(rng)


def pairwise_rows(planted: Planted, rng: Random) -> Iterator[Config]:
    """Valid configurations in which every pair of levels occurs that a few hundred draws show to be possible."""
    levels = {one.name: _levels(one, planted.default[one.name], rng) for one in planted.parameters}
    names = [one.name for one in planted.parameters]
    drawn = [row for row in ({name: rng.choice(levels[name]) for name in names} for _ in range(6000)) if planted.invalid(row) is None]
    missing = {pair for row in drawn for pair in _pairs(row, names)}
    while missing and drawn:
        row = max(rng.sample(drawn, min(CANDIDATES, len(drawn))), key=lambda one: len(missing.intersection(_pairs(one, names))))
        covered = missing.intersection(_pairs(row, names))
        if not covered:
            drawn = [one for one in drawn if missing.intersection(_pairs(one, names))]
            continue
        missing -= covered
        yield row


def _levels(parameter: Parameter, default: Value, rng: Random) -> list[Value]:
    if isinstance(parameter, Integer):
        return sorted({parameter.at(place / 4) for place in range(5)} | {default})
    if isinstance(parameter, Order):
        return [list(parameter.values), list(reversed(parameter.values)), *(parameter.draw(rng) for _ in range(3))]
    return list(parameter.values)


def _pairs(row: Config, names: list[str]) -> set[tuple[str, str, str, str]]:
    return {(one, str(row[one]), other, str(row[other])) for one, other in combinations(names, 2)}


def run_naive(device: Device, rows: Rows, seed: int, budget: int = BUDGET) -> dict[str, Any]:
    """A report in the protocol's form; `found_at` has the tests spent when each cause was found."""
    rng = Random(f"naive/{seed}")
    planted = device.planted
    causes: list[dict[str, Any]] = []
    found_at: list[int] = []
    complete = True
    try:
        bench = Bench(device, budget)
        for row in rows(planted, rng):
            explained = {(one["symptom"], one["metric"]) for one in causes if _holds(one, row)}
            for outcome in sorted(bench.outcomes(row) - explained, key=str):
                found = _reduce(bench, row, outcome)
                if found and all(found["conditions"] != one["conditions"] for one in causes):
                    causes.append(found)
                    found_at.append(device.ledger.operations)
    except Spent:
        complete = False
    report = [{key: value for key, value in one.items() if key != "read"} for one in causes]
    return {"device": planted.name, "tests": device.ledger.operations, "causes": report, "complete": complete, "found_at": found_at}


def _holds(cause: dict[str, Any], row: Config) -> bool:
    return all(one.holds(row) for one in cause["read"])


def _reduce(bench: Bench, row: Config, outcome: Outcome) -> dict[str, Any] | None:
    planted = bench.device.planted
    failing = dict(row)
    for one in planted.parameters:
        tried = failing | {one.name: planted.default[one.name]}
        if tried != failing and planted.invalid(tried) is None and outcome in bench.outcomes(tried):
            failing = tried
    conditions: list[Condition] = []
    for one in planted.parameters:
        if failing[one.name] != planted.default[one.name]:
            conditions += _axis(bench, one, failing, outcome)
    if not conditions:
        return None
    symptom, metric = outcome
    reported = [condition.report() for condition in conditions]
    return {"symptom": symptom, "metric": metric, "conditions": reported, "confidence": 0.5, "read": conditions}


def _axis(bench: Bench, parameter: Parameter, failing: Config, outcome: Outcome) -> list[Condition]:
    """The conditions on one parameter of a reduced failing configuration."""
    planted = bench.device.planted

    def fails(value: Value) -> bool:
        tried = failing | {parameter.name: value}
        return planted.invalid(tried) is None and outcome in bench.outcomes(tried)

    if isinstance(parameter, Integer):
        found = [_bisect(parameter, failing[parameter.name], planted.default[parameter.name], fails)]
        upwards = found[0].op == ">="
        far = parameter.high if upwards else parameter.low
        if far != failing[parameter.name] and not fails(far):
            found.append(_bisect(parameter, failing[parameter.name], far, fails))
        return found
    if isinstance(parameter, Order):
        return _pair(parameter, failing[parameter.name], fails)
    values = [value for value in parameter.values if value == failing[parameter.name] or fails(value)]
    if len(values) == 1:
        return [Condition(parameter.name, "==", values[0])]
    if len(values) == parameter.count - 1:
        return [Condition(parameter.name, "!=", next(value for value in parameter.values if value not in values))]
    return [Condition(parameter.name, "in", tuple(values))]


def _bisect(parameter: Integer, bad: int, good: int, fails: Callable[[Value], bool]) -> Condition:
    while abs(bad - good) > parameter.step:
        middle = parameter.nearest((bad + good) / 2)
        if middle in (bad, good):
            middle = good + parameter.step * (1 if bad > good else -1)
        if fails(middle):
            bad = middle
        else:
            good = middle
    return Condition(parameter.name, ">=" if bad > good else "<=", bad)


def _pair(parameter: Order, failing: list[str], fails: Callable[[Value], bool]) -> list[Condition]:
    """The pairs whose exchange by itself ends the failure, of neighbours after the other events are sorted away."""
    found = []
    for first, later in permutations(parameter.values, 2):
        if failing.index(first) < failing.index(later):
            others = [event for event in failing if event != later]
            others.insert(others.index(first), later)
            if not fails(others):
                found.append(Condition(parameter.name, "before", (first, later)))
    return found[:1]
