"""What has to be reached, by kind of device: the first bars of the specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from tests.lab_evaluation.run import Row

from dut_zoo.kinds import KINDS

MOST_TESTS = {"flaky": 2500, "topology": 1500}
"""Tests with which the lab has to stop by itself."""
MOST_TESTS_ELSE = 1000
MOST_TESTS_OF_TWELVE = 8000
LEAST_RIGHT = 11 / 12
LEAST_RANDOM_EXACT = 0.95
LEAST_TO_EXHAUSTIVE = 60
LEAST_TO_RANDOM = 5


@dataclass(frozen=True)
class Bar:
    """One figure of some devices and what it has to reach."""

    what: str
    of: Callable[[Sequence[Row]], float]
    least: float | None = None
    most: float | None = None

    def reached(self, rows: Sequence[Row]) -> bool:
        """Whether these devices reach it."""
        value = self.of(rows)
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def words(self) -> str:
        """The bar as one would say it."""
        return f"{self.what} ≥ {self.least:.4g}" if self.least is not None else f"{self.what} ≤ {self.most:g}"


def share(part: Callable[[Row], bool]) -> Callable[[Sequence[Row]], float]:
    """How many of the devices something is true of, as a share."""
    return lambda rows: sum(map(part, rows)) / len(rows)


def to_exhaustive(rows: Sequence[Row]) -> float:
    """Median of how many times as many tests brute force takes."""
    return median(row.brute_force / max(row.tests, 1) for row in rows)


def to_plain(name: str) -> Callable[[Sequence[Row]], float]:
    """Geometric mean of how many times as many tests a plain lab takes to find the last cause; its budget where it is never right."""

    def of(rows: Sequence[Row]) -> float:
        faulty = [row for row in rows if row.kind != "healthy"]
        return exp(sum(log(getattr(row, name).tests / max(row.found_at, 1)) for row in faulty) / len(faulty)) if faulty else 0.0

    return of


def to_the_end(rows: Sequence[Row]) -> float:
    """Geometric mean of how many times as many tests random search spends until it stops, which is its budget."""
    return exp(sum(log(max(row.random.spent, 1) / max(row.tests, 1)) for row in rows) / len(rows))


def most_tests(kind: str) -> Bar:
    """The most tests of any device of a kind."""
    return Bar("most tests", lambda rows: max(row.tests for row in rows), most=MOST_TESTS.get(kind, MOST_TESTS_ELSE))


NONE_INVALID = Bar("configurations that are not valid", lambda rows: sum(row.invalid for row in rows), most=0)
RIGHT = Bar("right", share(lambda row: row.right), LEAST_RIGHT)
RANDOM_EXACT = Bar("causes exact", share(lambda row: row.exact), LEAST_RANDOM_EXACT)
STOPS = Bar("stops by itself", share(lambda row: row.complete), 1.0)


def sum_of_twelve(rows: Sequence[Row]) -> float:
    """Tests of one device of each of the twelve kinds, on average."""
    of_kinds = [[row.tests for row in rows if row.kind == kind] for kind in KINDS]
    return sum(sum(tests) / len(tests) for tests in of_kinds if tests)


def bars(kind: str) -> tuple[Bar, ...]:
    """The bars of a kind of devices."""
    first = RANDOM_EXACT if kind == "random" else Bar("right", share(lambda row: row.right), 1.0) if kind == "healthy" else RIGHT
    return (first, most_tests(kind), STOPS, NONE_INVALID)


OVERALL = (
    Bar("sum of tests over the twelve kinds", sum_of_twelve, most=MOST_TESTS_OF_TWELVE),
    Bar("tests of brute force over the lab's, median", to_exhaustive, LEAST_TO_EXHAUSTIVE),
    Bar("tests to the answer, random search over the lab, geometric mean", to_plain("random"), LEAST_TO_RANDOM),
)
"""Bars of all devices together."""
