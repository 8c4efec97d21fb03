"""Thresholds that other parameters move: the model between measurements, how few tests measure it, and whole searches."""

import math
from collections.abc import Callable

import pytest

from wallwatch.domain.lab.conditions import Range
from wallwatch.domain.lab.device import Config, as_integer
from wallwatch.domain.lab.moving import Moving, Support
from wallwatch.domain.lab.tester import Options
from wallwatch.domain.lab.threshold_map import ThresholdMap

from .planted import boolean, choice, device_of, fails_when, integer, search

CARD = device_of(
    integer("masks", 1, 200, scale="log"),
    integer("ingress", 1, 200, scale="log"),
    integer("load", 80, 120),
    choice("lanes", "16", "8", "4"),
    boolean("jumbo"),
)
MASKS, INGRESS, LOAD, LANES, JUMBO = CARD.parameters


def card_threshold(config: Config) -> int:
    """As a card whose lanes are the bottleneck, or else its port up to full load."""
    if config["lanes"] == "16":
        return round(44 * (80 / min(as_integer(config["load"]), 100)) ** 2)
    return {"8": 50, "4": 99}[str(config["lanes"])]


def moving(*supports: Support, by: tuple[str, ...] = ("load",)) -> Moving:
    return Moving(MASKS, ">=", tuple(CARD.by_name[one] for one in by), supports, 44)


def test_between_measurements_the_threshold_is_interpolated_and_beyond_them_it_stays() -> None:
    straight = moving(Support((90,), 44), Support((110,), 20))
    found = [straight.threshold({"load": load}) for load in (80, 90, 100, 110, 120)]
    assert [found[0], found[1], found[3], found[4]] == [44, 44, 20, 20]
    assert found[2] == pytest.approx(math.sqrt(45 * 21) - 1, abs=1)  # half way on the logarithmic scale of the masks


def test_choices_have_thresholds_of_their_own_and_one_that_was_not_measured_takes_the_nearest() -> None:
    table = moving(Support(("16", False), 44), Support(("8", False), 60), Support(("4", False), 99), by=("lanes", "jumbo"))
    assert [table.threshold({"lanes": one, "jumbo": False}) for one in ("16", "8", "4")] == [44, 60, 99]
    assert table.threshold({"lanes": "8", "jumbo": True}) == 60


def test_values_clear_of_the_threshold_lie_on_their_side_of_it_or_are_none() -> None:
    condition = moving(Support((80,), 100), Support((120,), 200))
    for load in range(80, 121, 8):
        config: Config = {"load": load}
        bad, good = condition.clear(config, True), condition.clear(config, False)
        assert good is not None
        assert not condition.holds({**config, "masks": good})
        assert (bad is None) == (condition.threshold(config) > 196)
        assert bad is None or condition.holds({**config, "masks": bad})
    never = moving(Support((80,), 201), Support((120,), 100))
    assert not never.holds({"load": 80, "masks": 200})
    assert never.to_json()[0]["thresholds"][0] == {"at": {"load": 80}, "value": None}


@pytest.mark.parametrize("op", [">=", "<="])
def test_a_map_of_three_choices_and_an_integer_takes_few_tests_and_is_right_within_the_tolerance(op: str) -> None:
    def is_bad(config: Config) -> bool:
        value = as_integer(config["masks"])
        return value >= card_threshold(config) if op == ">=" else value <= card_threshold(config)

    asked: set[tuple[object, ...]] = set()

    def decide(config: Config) -> bool:
        asked.add(CARD.key(config))
        return is_bad(config)

    measure = ThresholdMap(CARD, decide, lambda _: False, lambda: False)
    witness: Config = {**CARD.default, "masks": 200 if op == ">=" else 1}
    begin = Range("masks", 44, None) if op == ">=" else Range("masks", None, 44)
    lanes = measure.fit(begin, "lanes", witness)
    assert lanes is not None
    both = measure.fit(lanes, "load", witness)
    assert both is not None
    assert len(asked) <= 70
    for lane in ("16", "8", "4"):
        for load in range(80, 121):
            config: Config = {**witness, "lanes": lane, "load": load}
            assert both.threshold(config) == pytest.approx(card_threshold(config), abs=max(2, 0.04 * card_threshold(config)))


def test_what_does_not_move_a_threshold_or_keeps_everything_from_failing_makes_no_map() -> None:
    def fit(predicate: Callable[[Config], bool], mover: str) -> Moving | None:
        measure = ThresholdMap(CARD, predicate, lambda _: False, lambda: False)
        return measure.fit(Range("masks", 44, None), mover, {**CARD.default, "masks": 200})

    assert fit(lambda one: as_integer(one["masks"]) >= 44, "jumbo") is None
    assert fit(lambda one: as_integer(one["masks"]) >= 44 and not one["jumbo"], "jumbo") is None
    assert fit(lambda one: as_integer(one["masks"]) >= (60 if one["jumbo"] else 44), "jumbo") is not None


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_limits_that_lanes_and_load_move_are_two_proven_causes_within_brute_force(seed: int) -> None:
    def fails(config: Config) -> bool:
        limit = card_threshold(config)
        return as_integer(config["masks"]) >= limit or as_integer(config["ingress"]) >= round(limit * 0.65)

    report, tester = search(CARD, fails_when(fails), options=Options(seed=seed, target="S6"))
    assert report.complete
    assert len(tester.sent) < CARD.brute_force == 750
    found = {str(one["parameter"]): one for cause in report.causes for one in cause.cause.conditions_json()}
    assert set(found) == {"masks", "ingress"}
    assert all(one.is_settled for one in report.causes)
    assert all(set(one["moved_by"]) == {"lanes", "load"} for one in found.values())
    at = {(one["at"]["lanes"], one["at"]["load"]): one["value"] for one in found["masks"]["thresholds"]}
    assert at["16", 80] == 44
    assert at["16", 120] == pytest.approx(28, abs=1)
    assert at["4", 80] == pytest.approx(99, abs=2)
    for cause in report.causes:
        inside, outside = cause.agreement([one.cause for one in report.causes])
        assert inside.agree == inside.of >= 5
        assert outside.agree == outside.of >= 5


def test_a_search_ends_where_brute_force_would_and_says_so() -> None:
    """A device without any rule: each configuration fails or not by a hash. It can cost no more than trying everything."""
    tiny = device_of(*(integer(name, 0, 40) for name in "abc"), boolean("d"))

    def fails(config: Config) -> bool:
        return hash((config["a"], config["b"], config["c"], config["d"])) % 3 == 0 and config != tiny.default

    report, tester = search(tiny, fails_when(fails), options=Options(seed=1))
    assert tiny.brute_force == 250
    assert len(tester.sent) <= 400 + 60  # the revision that was running is finished
    assert report.stopped is None or "every combination" in report.stopped


def test_one_integer_is_searched_by_halving_though_all_of_its_values_could_be_tried() -> None:
    report, tester = search(CARD, fails_when(lambda one: as_integer(one["masks"]) >= 44), options=Options(only=("masks",), target="S6"))
    assert [[str(c) for c in cause.cause.conditions_json()] for cause in report.causes] == [
        ["{'parameter': 'masks', 'op': '>=', 'value': 44}"]
    ]
    assert len(tester.sent) <= 80 < MASKS.size


def test_a_device_with_few_configurations_is_tried_completely() -> None:
    small = device_of(boolean("a"), boolean("b"), choice("c", 1, 2, 3), integer("d", 0, 3))
    report, tester = search(small, fails_when(lambda one: bool(one["a"]) and one["c"] == 3 and one["d"] == 2), options=Options(seed=1))
    assert report.strength == 4
    assert {small.key(one) for one in tester.tests} == {
        small.key({"a": a, "b": b, "c": c, "d": d}) for a in (False, True) for b in (False, True) for c in (1, 2, 3) for d in range(4)
    }
    assert [{(one["parameter"], one["op"], one["value"]) for one in cause.cause.conditions_json()} for cause in report.causes] == [
        {("a", "==", True), ("c", "==", 3), ("d", ">=", 2), ("d", "<=", 2)}
    ]
