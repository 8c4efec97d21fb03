"""Conditions hold where their JSON says they do, and expressions are written as people write them."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.conditions import Among, Before, Boundary, Cause, Range, Signal
from wallwatch.domain.lab.device import Value

ALL = ("a", "b", "c")


def _holds(entry: dict[str, Any], config: dict[str, Value]) -> bool:
    """What the protocol says of one entry of a report, read by a naive reader."""
    if entry["parameter"] is None:
        reached = eval(entry["expression"], {}, dict(config))
        return bool(reached >= entry["value"]) if entry["op"] == ">=" else bool(reached <= entry["value"])
    value: Any = config[entry["parameter"]]
    if entry["op"] == "before":
        first, second = entry["value"]
        return bool(value.index(first) < value.index(second))
    return bool(
        {
            "==": lambda: value == entry["value"],
            "!=": lambda: value != entry["value"],
            "in": lambda: value in entry["value"],
            ">=": lambda: value >= entry["value"],
            "<=": lambda: value <= entry["value"],
        }[entry["op"]]()
    )


conditions = st.one_of(
    st.builds(lambda values: Among("mode", values, ALL), st.frozensets(st.sampled_from(ALL), min_size=1, max_size=2)),
    st.builds(lambda low, high: Range("masks", low, high), st.none() | st.integers(1, 50), st.integers(51, 99) | st.none()),
    st.sampled_from([Before("order", "x", "y"), Before("order", "z", "x")]),
    st.builds(
        lambda weights, is_sum, op, value: Boundary(weights, is_sum, op, value),
        st.sampled_from([(("masks", 1.0), ("qps", 1.0)), (("masks", 1.0), ("qps", -1.0)), (("masks", 2.0), ("qps", 1.0))]),
        st.booleans(),
        st.sampled_from([">=", "<="]),
        st.integers(1, 400),
    ),
)
configs = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(ALL),
        "masks": st.integers(1, 100),
        "qps": st.integers(1, 100),
        "order": st.permutations(["x", "y", "z"]).map(tuple),
    }
)


@settings(derandomize=True, max_examples=300)
@given(st.lists(conditions, min_size=1, max_size=3), configs)
def test_a_cause_holds_where_a_reader_of_the_report_says_so(several: list[Any], config: dict[str, Value]) -> None:
    cause = Cause(Signal("S6"), tuple(several))
    assert cause.holds(config) == all(_holds(one, config) for one in cause.conditions_json())
    assert cause.parameters <= config.keys()


@pytest.mark.parametrize(
    ("values", "expected"),
    [({"b"}, ("==", "b")), ({"a", "c"}, ("!=", "b")), ({"a", "b", "c"}, ("in", ["a", "b", "c"]))],
)
def test_values_are_written_in_the_shortest_form(values: set[str], expected: tuple[str, object]) -> None:
    (entry,) = Among("mode", frozenset(values), ALL).to_json()
    assert (entry["op"], entry["value"]) == expected


def test_one_of_two_values_is_equality() -> None:
    assert Among("on", frozenset({True}), (False, True)).to_json() == [{"parameter": "on", "op": "==", "value": True}]


def test_true_is_not_one() -> None:
    """In JSON they are two values, and a choice may have both."""
    on = Among("mode", [True], (1, True, 0))
    assert on.holds({"mode": True})
    assert not on.holds({"mode": 1})
    assert on != Among("mode", [1], (1, True, 0))
    assert Among("mode", [1, True], (1, True, 0)).to_json() == [{"parameter": "mode", "op": "!=", "value": 0}]
    assert on.others == (1, 0)
    assert [type(one) for one in on.others] == [int, int]


def test_a_window_is_two_conditions() -> None:
    assert [one["op"] for one in Range("masks", 10, 20).to_json()] == [">=", "<="]
    assert Range("masks", None, None).to_json() == []


@pytest.mark.parametrize(
    ("weights", "is_sum", "text"),
    [
        ((("a", 1.0), ("b", 1.0)), False, "a*b"),
        ((("a", 1.0), ("b", -1.0)), False, "a/b"),
        ((("a", -1.0), ("b", -1.0)), False, "1/a/b"),
        ((("a", 2.0), ("b", -0.5)), False, "a**2/b**0.5"),
        ((("a", 1.0), ("b", 2.0)), True, "a+2*b"),
        ((("a", 1.0), ("b", -1.0)), True, "a-b"),
        ((("a", -1.0), ("b", 0.5)), True, "-a+0.5*b"),
    ],
)
def test_expressions_are_written_as_people_do(weights: tuple[tuple[str, float], ...], is_sum: bool, text: str) -> None:
    boundary = Boundary(weights, is_sum, ">=", 3.0)
    assert boundary.expression == text
    assert boundary.to_json() == [{"parameter": None, "op": ">=", "expression": text, "value": 3}]
    assert eval(text, {}, {"a": 6, "b": 4}) == pytest.approx(boundary.expression_value({"a": 6, "b": 4}))


def test_dividing_by_zero_and_overflow_are_infinite() -> None:
    assert Boundary((("a", 1.0), ("b", -1.0)), False, ">=", 3.0).expression_value({"a": 1, "b": 0}) == math.inf
    assert Boundary((("a", 99.0),), False, ">=", 3.0).expression_value({"a": 10**9}) == math.inf


def test_zero_over_zero_does_not_depend_on_the_order_of_the_parameters() -> None:
    one = Boundary((("a", 1.0), ("b", -1.0)), False, ">=", 3.0)
    other = Boundary((("b", -1.0), ("a", 1.0)), False, ">=", 3.0)
    assert one.expression_value({"a": 0, "b": 0}) == other.expression_value({"a": 0, "b": 0})


def test_a_signal_says_what_it_is() -> None:
    assert str(Signal("S6")) == "S6"
    assert str(Signal(None, "bw_gbps")) == "degradation of bw_gbps"
