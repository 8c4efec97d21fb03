"""One parameter at a time: exact thresholds of random predicates, windows, failing values, ordered pairs."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.axes import choice_condition, condition_of, integer_condition, integer_threshold, order_conditions
from wallwatch.domain.lab.conditions import Among, Before, Range
from wallwatch.domain.lab.device import Config, Parameter, Value, as_integer, as_order

from .planted import choice, device_of, integer, sequence


@st.composite
def axes(draw: st.DrawFn) -> tuple[Parameter, int, int]:
    """An integer, and the indices of a threshold: the first bad value, and one that is good."""
    low, steps, step = draw(st.integers(-20, 50)), draw(st.integers(1, 5000)), draw(st.integers(1, 16))
    scale = draw(st.sampled_from(["linear", "log"])) if low >= 0 else "linear"
    parameter = device_of(integer("a", low, low + steps * step, step, scale=scale)).parameters[0]
    return parameter, draw(st.integers(1, steps)), steps


@settings(derandomize=True, max_examples=200)
@given(axes(), st.booleans(), st.data())
def test_the_threshold_is_exact_upward_and_downward(axis: tuple[Parameter, int, int], upward: bool, data: st.DataObject) -> None:
    parameter, first, steps = axis
    above, below = data.draw(st.integers(first, steps)), data.draw(st.integers(0, first - 1))
    bad_at, good_at = (above, below) if upward else (below, above)
    asked = 0

    def decide(config: Config) -> bool:
        nonlocal asked
        asked += 1
        assert parameter.contains(config["a"])
        return (parameter.index(as_integer(config["a"])) >= first) == upward

    found = integer_threshold(parameter, {"a": parameter.at(bad_at)}, parameter.at(good_at), decide)
    expected = (first - 1, first) if upward else (first, first - 1)
    assert (found.last_good, found.first_bad) == tuple(map(parameter.at, expected))
    assert found.step == parameter.step
    if not parameter.logarithmic:
        assert asked <= abs(above - below).bit_length() + 1


@settings(derandomize=True, max_examples=150)
@given(axes(), st.data())
def test_values_that_cannot_be_used_leave_a_threshold_between_usable_neighbours(
    axis: tuple[Parameter, int, int], data: st.DataObject
) -> None:
    parameter, first, steps = axis
    unusable = data.draw(st.sets(st.integers(max(1, first - 3), min(steps - 1, first + 3)), max_size=4)) if steps > 1 else set()

    def decide(config: Config) -> bool | None:
        index = parameter.index(as_integer(config["a"]))
        return None if index in unusable else index >= first

    found = integer_threshold(parameter, {"a": parameter.maximum}, parameter.minimum, decide)
    assert parameter.index(found.last_good) == max(one for one in range(first) if one not in unusable)
    assert parameter.index(found.first_bad) == min(one for one in range(first, steps + 1) if one not in unusable)


@settings(derandomize=True, max_examples=100)
@given(axes(), st.data())
def test_a_window_has_both_of_its_edges(axis: tuple[Parameter, int, int], data: st.DataObject) -> None:
    parameter, first, steps = axis
    last = data.draw(st.integers(first, steps))
    at = data.draw(st.integers(first, last))
    values = range(parameter.at(first), parameter.at(last) + 1)
    condition, thresholds, points = integer_condition(parameter, {"a": parameter.at(at)}, parameter.minimum, lambda one: one["a"] in values)
    assert condition == Range("a", parameter.at(first), parameter.at(last) if last < steps else None)
    assert len(thresholds) == 1 + (last < steps)
    assert all(is_bad == (value in values) for value, is_bad in points)


def test_an_end_on_the_good_side_that_fails_is_shown_as_anothers() -> None:
    parameter = device_of(integer("a", 0, 100)).parameters[0]
    condition, _, points = integer_condition(parameter, {"a": 90}, 50, lambda one: as_integer(one["a"]) >= 80 or as_integer(one["a"]) < 10)
    assert condition == Range("a", 80, None)
    assert (0, True) in points


def test_a_far_end_that_cannot_be_used_is_no_edge_of_a_window() -> None:
    parameter = device_of(integer("a", 0, 100)).parameters[0]
    condition, thresholds, points = integer_condition(
        parameter, {"a": 60}, 0, lambda one: None if as_integer(one["a"]) > 70 else as_integer(one["a"]) >= 31
    )
    assert condition == Range("a", 31, None)
    assert len(thresholds) == 1
    assert points == [(100, False)] or points == []


def _plain(config: Config, name: str, value: Value) -> Config:
    return {**config, name: value}


@settings(derandomize=True)
@given(st.integers(2, 7), st.data())
def test_the_failing_values_of_a_choice_are_found_with_one_test_each(size: int, data: st.DataObject) -> None:
    parameter = device_of(choice("a", *range(size))).parameters[0]
    failing = data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=size - 1))
    bad, good = data.draw(st.sampled_from(sorted(failing))), data.draw(st.sampled_from(sorted(set(range(size)) - failing)))
    asked: list[Value] = []

    def decide(config: Config) -> bool:
        asked.append(config["a"])
        return config["a"] in failing

    assert choice_condition(parameter, {"a": bad}, good, decide, _plain) == Among("a", frozenset(failing), tuple(range(size)))
    assert sorted(map(as_integer, asked)) == sorted(set(range(size)) - {bad, good})


def test_values_that_no_valid_configuration_has_say_nothing() -> None:
    parameter = device_of(choice("a", 0, 1, 2, 3)).parameters[0]
    valid: Callable[[Config, str, Value], Config | None] = lambda config, name, value: None if value == 3 else {**config, name: value}  # noqa: E731 - a stub

    found = choice_condition(parameter, {"a": 1}, 0, lambda one: one["a"] == 1, valid)
    assert set(found.values) == {1}
    found = choice_condition(parameter, {"a": 1}, 0, lambda one: one["a"] != 0, valid)
    assert found.to_json() == [{"parameter": "a", "op": "!=", "value": 0}]


MEMBERS = ("p", "q", "r", "s")
pairs_of_members = st.sampled_from(list(itertools.permutations(MEMBERS, 2)))


@settings(derandomize=True, max_examples=150)
@given(pairs_of_members, st.permutations(MEMBERS), st.permutations(MEMBERS))
def test_the_one_pair_that_must_be_in_order_is_found(pair: tuple[str, str], one_order: list[str], other_order: list[str]) -> None:
    first, second = pair

    def decide(config: Config) -> bool:
        order = as_order(config["a"])
        return order.index(first) < order.index(second)

    both: Sequence[Config] = [{"a": tuple(one_order)}, {"a": tuple(other_order)}]
    bad = next((one for one in both if decide(one)), None)
    good = next((one for one in both if not decide(one)), None)
    if bad is None or good is None:
        return
    parameter = device_of(sequence("a", *MEMBERS)).parameters[0]
    assert order_conditions(parameter, bad, as_order(good["a"]), decide) == [Before("a", first, second)]


def test_two_pairs_that_must_both_be_in_order_are_found() -> None:
    parameter = device_of(sequence("a", *MEMBERS)).parameters[0]

    def decide(config: Config) -> bool:
        order = as_order(config["a"])
        return order.index("s") < order.index("p") and order.index("r") < order.index("q")

    found = order_conditions(parameter, {"a": ("s", "r", "q", "p")}, MEMBERS, decide)
    assert set(found) == {Before("a", "s", "p"), Before("a", "r", "q")}


def test_each_kind_of_parameter_has_its_conditions() -> None:
    device = device_of(integer("i", 0, 10), choice("c", "x", "y"), sequence("s", 1, 2))
    bad: dict[str, Any] = {"i": 10, "c": "y", "s": (2, 1)}
    good: dict[str, Any] = {"i": 0, "c": "x", "s": (1, 2)}
    expected = {"i": [Range("i", 4, None)], "c": [Among("c", frozenset({"y"}), ("x", "y"))], "s": [Before("s", 2, 1)]}
    for parameter in device.parameters:

        def decide(config: Config, name: str = parameter.name) -> bool:
            return as_integer(config["i"]) >= 4 if name == "i" else config[name] == bad[name]

        conditions, thresholds, _ = condition_of(parameter, bad, good[parameter.name], decide, _plain)
        assert conditions == expected[parameter.name]
        assert len(thresholds) == (parameter.kind == "integer")
