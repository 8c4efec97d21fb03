"""Halving the way between a configuration that passes and one that fails, against naive references."""

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.device import Config
from wallwatch.domain.lab.paths import after_swaps, change_between, difference, minimal_failure, step_between, swaps

from .planted import boolean, device_of

NAMES = [f"p{i}" for i in range(10)]
DEVICE = device_of(*[boolean(name) for name in NAMES])
NONE_SET: Config = dict(DEVICE.default)
ALL_SET: Config = dict.fromkeys(NAMES, True)
orders = st.integers(1, 6).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))


@settings(derandomize=True, max_examples=200)
@given(st.integers(2, 200), st.data(), st.booleans())
def test_halving_finds_the_exact_change_of_a_monotone_verdict(length: int, data: st.DataObject, low_is_bad: bool) -> None:
    change = data.draw(st.integers(1, length))
    asked: list[int] = []

    def verdict(position: int) -> bool:
        asked.append(position)
        return (position < change) == low_is_bad

    assert change_between(0, length, verdict, low_is_bad) == (change - 1, change)
    assert len(asked) <= length.bit_length()
    assert all(0 < one < length for one in asked)


@settings(derandomize=True, max_examples=200)
@given(st.integers(2, 60), st.data(), st.booleans())
def test_positions_that_cannot_be_used_widen_the_answer_no_more_than_they_must(length: int, data: st.DataObject, low_is_bad: bool) -> None:
    change = data.draw(st.integers(1, length))
    unusable = data.draw(st.sets(st.integers(1, length - 1)))
    low, high = change_between(0, length, lambda at: None if at in unusable else (at < change) == low_is_bad, low_is_bad)
    assert low == max(one for one in range(change) if one not in unusable)
    assert high == min(one for one in range(change, length + 1) if one not in unusable)


@settings(derandomize=True)
@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_any_verdicts_give_neighbours_with_different_verdicts(inner: list[bool]) -> None:
    verdicts = [False, *inner, True]
    low, high = change_between(0, len(verdicts) - 1, lambda at: verdicts[at], False)
    assert high == low + 1
    assert not verdicts[low]
    assert verdicts[high]


@settings(derandomize=True)
@given(orders)
def test_swaps_of_neighbours_lead_from_one_order_to_the_other_by_the_fewest(pair: tuple[list[int], list[int]]) -> None:
    start, end = pair
    way = swaps(start, end)
    assert after_swaps(start, way) == tuple(end)
    inversions = {(a, b) for a, b in itertools.combinations(start, 2) if end.index(a) > end.index(b)}
    assert set(way) == inversions
    assert len(way) == len(inversions)
    for done in range(len(way)):
        before, after = after_swaps(start, way[:done]), after_swaps(start, way[: done + 1])
        first, second = way[done]
        assert before.index(second) == before.index(first) + 1
        assert after.index(first) == after.index(second) + 1


needed_sets = st.sets(st.sampled_from(NAMES), min_size=1, max_size=4)


@settings(derandomize=True)
@given(needed_sets, st.integers(0, 99))
def test_a_step_is_one_parameter_that_changes_the_verdict(needed: set[str], seed: int) -> None:
    step = step_between(DEVICE, ALL_SET, NONE_SET, True, lambda one: all(one[name] for name in needed), random.Random(seed))
    assert difference(DEVICE, step.bad, step.good) == list(step.names)
    assert len(step.names) == 1
    assert step.names[0] in needed
    assert all(step.bad[name] for name in needed)


@settings(derandomize=True)
@given(needed_sets, st.integers(0, 99))
def test_the_fewest_parameters_that_fail_are_found_in_few_tests(needed: set[str], seed: int) -> None:
    asked = 0

    def decide(config: Config) -> bool:
        nonlocal asked
        asked += 1
        return all(config[name] for name in needed)

    failing, names = minimal_failure(DEVICE, NONE_SET, ALL_SET, decide, random.Random(seed))
    assert set(names) == needed
    assert {name for name in NAMES if failing[name]} == needed
    assert asked <= len(needed) * 5


@settings(derandomize=True)
@given(st.sets(st.sampled_from(NAMES), min_size=1, max_size=3), st.sets(st.sampled_from(NAMES), min_size=2, max_size=4), st.integers(0, 99))
def test_what_came_in_a_bundle_and_is_not_needed_is_left_out(needed: set[str], tied: set[str], seed: int) -> None:
    """Parameters that are tied have to change together: everything between cannot be used."""

    def decide(config: Config) -> bool | None:
        if len({config[name] for name in tied}) > 1:
            return None
        return all(config[name] for name in needed)

    failing, names = minimal_failure(DEVICE, NONE_SET, ALL_SET, decide, random.Random(seed))
    assert decide(failing)
    assert set(names) == {name for name in NAMES if failing[name]}
    assert needed <= set(names) <= needed | tied


def test_one_of_two_reasons_is_enough() -> None:
    for seed in range(20):
        _, names = minimal_failure(DEVICE, NONE_SET, ALL_SET, lambda one: bool(one["p1"] or (one["p2"] and one["p3"])), random.Random(seed))
        assert set(names) in ({"p1"}, {"p2", "p3"})


def test_where_most_of_a_long_axis_cannot_be_used_few_positions_are_asked() -> None:
    asked: set[int] = set()

    def verdict(position: int) -> bool | None:
        asked.add(position)
        return None if position > 40 else position >= 12

    low, high = change_between(0, 4000, verdict, False)
    assert len(asked) <= 100
    assert not verdict(low)
    assert verdict(high) is not False
