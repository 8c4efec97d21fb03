"""Which product, ratio or sum of integers decides, out of pairs of neighbours on both sides."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.boundary import Crossing, fit_boundary, roundest
from wallwatch.domain.lab.conditions import Boundary
from wallwatch.domain.lab.device import Config, as_integer

Predicate = Callable[[int, int], bool]


def crossings_of(predicate: Predicate, seed: int, count: int = 6, highest: int = 100) -> list[Crossing]:
    """Neighbours along one of two integers, the other at random."""
    rng, found = random.Random(seed), []
    for number in range(5000):
        if len(found) == count:
            break
        name, other = ("a", "b") if number % 2 else ("b", "a")
        fixed = rng.randint(1, highest)
        row = [{name: value, other: fixed} for value in range(1, highest + 1)]
        verdicts = [predicate(one["a"], one["b"]) for one in row]
        for i in range(len(row) - 1):
            if verdicts[i] != verdicts[i + 1]:
                one, two = dict(row[i]), dict(row[i + 1])
                found.append(Crossing(two, one) if verdicts[i] else Crossing(one, two))
                break
    assert len(found) == count
    return found


@pytest.mark.parametrize(
    ("predicate", "expression", "op", "value"),
    [
        (lambda a, b: a * b >= 600, "a*b", ">=", 600),
        (lambda a, b: a + b >= 90, "a+b", ">=", 90),
        (lambda a, b: a - b >= 20, "a-b", ">=", 20),
        (lambda a, b: a >= 4 * b, "a/b", ">=", 4),
        (lambda a, b: a + 2 * b >= 120, "a+2*b", ">=", 120),
        (lambda a, b: a * b <= 200, "a*b", "<=", 200),
        (lambda a, b: a * a * b >= 40_000, "a*b**0.5", ">=", 200),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_simplest_expression_and_a_round_value_come_out(predicate: Predicate, expression: str, op: str, value: int, seed: int) -> None:
    boundary = fit_boundary(["a", "b"], crossings_of(predicate, seed, count=10))
    assert boundary is not None
    assert (boundary.expression, boundary.op) == (expression, op)
    assert boundary.value == pytest.approx(value, rel=0.01)


@settings(derandomize=True, max_examples=60)
@given(st.sampled_from(["product", "sum", "ratio"]), st.integers(20, 150), st.integers(0, 999))
def test_a_boundary_separates_all_it_was_fitted_to(kind: str, value: int, seed: int) -> None:
    forms: dict[str, Predicate] = {
        "product": lambda a, b: a * b >= 10 * value,
        "sum": lambda a, b: a + b >= value,
        "ratio": lambda a, b: 50 * a >= value * b,
    }
    crossings = crossings_of(forms[kind], seed)
    boundary = fit_boundary(["a", "b"], crossings)
    assert boundary is not None
    for one in crossings:
        assert boundary.holds(one.bad)
        assert not boundary.holds(one.good)


def test_three_integers_have_a_boundary_too() -> None:
    rng, crossings = random.Random(4), []
    while len(crossings) < 10:
        config: Config = {name: rng.randint(1, 30) for name in "abc"}
        more = {**config, "a": as_integer(config["a"]) + 1}
        product = [as_integer(one["a"]) * as_integer(one["b"]) * as_integer(one["c"]) for one in (config, more)]
        if product[0] < 2000 <= product[1]:
            crossings.append(Crossing(config, more))
    boundary = fit_boundary(["a", "b", "c"], crossings)
    assert boundary is not None
    assert boundary.expression == "a*b*c"


def test_what_no_expression_separates_has_no_boundary() -> None:
    one, two = {"a": 5, "b": 5}, {"a": 6, "b": 5}
    assert fit_boundary(["a", "b"], [Crossing(one, two), Crossing(two, one)]) is None


def test_huge_values_and_zeros_raise_nothing() -> None:
    crossings = [Crossing({"a": 0, "b": 10**300}, {"a": 1, "b": 10**300}), Crossing({"a": 10**300, "b": 0}, {"a": 10**300, "b": 1})]
    boundary = fit_boundary(["a", "b"], crossings)
    assert boundary is None or all(boundary.holds(one.bad) and not boundary.holds(one.good) for one in crossings)


@settings(derandomize=True, max_examples=300)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e4))
def test_the_roundest_value_lies_between_and_keeps_the_bad_side_bad(low: float, span: float) -> None:
    high = low + span
    upper, lower = roundest(low, high, ">="), roundest(low, high, "<=")
    assert low < upper <= high + 1e-6
    assert low - 1e-6 <= lower < high


@pytest.mark.parametrize(
    ("low", "high", "op", "expected"),
    [
        (597.0, 604.0, ">=", 600),
        (0.0, 7.0, ">=", 7),
        (99.0, 100.0, ">=", 100),
        (-3.0, 4.0, ">=", 4),
        (12.0, 19.0, "<=", 12),
        (31.9, 33.0, ">=", 33),
    ],
)
def test_the_value_has_few_digits(low: float, high: float, op: str, expected: float) -> None:
    found = roundest(low, high, ">=" if op == ">=" else "<=")
    assert low <= found <= high
    assert len(f"{found:g}".strip("-0.")) <= len(f"{expected:g}".strip("-0."))


def test_a_boundary_is_read_at_its_value_as_reached() -> None:
    boundary = Boundary((("a", 1.0), ("b", 1.0)), False, ">=", 0.1 + 0.2)
    assert boundary.holds({"a": 1, "b": 1})
    assert Boundary((("a", 0.1),), True, ">=", 0.3).holds({"a": 3})
