"""The order of the search: rows until one fails, its cause, and on without it."""

import itertools

import pytest

from wallwatch.domain.lab.device import Config, as_integer
from wallwatch.domain.lab.tester import Options

from .planted import HEALTHY_GBPS, boolean, conditions_of, device_of, fails_when, integer, search

DEVICE = device_of(integer("masks", 1, 256), integer("vfs", 0, 16), *[boolean(f"flag{i}") for i in range(6)])


@pytest.mark.parametrize("seed", range(4))
def test_what_takes_three_switches_is_found_at_strength_three(seed: int) -> None:
    report, _ = search(DEVICE, fails_when(lambda one: bool(one["flag1"] and one["flag3"] and one["flag5"])), options=Options(seed=seed))
    assert conditions_of(report) == [{("flag1", "==", True), ("flag3", "==", True), ("flag5", "==", True)}]
    assert report.strength >= 3


@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_window_that_matters_with_two_switches_only_is_found(seed: int) -> None:
    def predicate(config: Config) -> bool:
        return 120 <= as_integer(config["masks"]) <= 170 and bool(config["flag1"] and config["flag3"])

    device = device_of(
        *[integer(name, 1, 256) for name in ("masks", "qps", "flows", "rules", "queues")], *[boolean(f"flag{i}") for i in range(9)]
    )
    report, _ = search(device, fails_when(predicate), options=Options(seed=seed))
    assert conditions_of(report) == [{("masks", ">=", 120), ("masks", "<=", 170), ("flag1", "==", True), ("flag3", "==", True)}]


def test_every_three_ends_occur_in_a_clean_row_when_strength_three_is_reported() -> None:
    def predicate(config: Config) -> bool:
        return bool(config["flag0"] and as_integer(config["masks"]) >= 100)

    report, tester = search(DEVICE, fails_when(predicate))
    assert report.strength >= 3
    clean = [one for one in tester.tests if not predicate(one)]
    ends = {one.name: (False, True) if one.kind == "boolean" else (one.minimum, one.maximum) for one in DEVICE.parameters}
    for three in itertools.combinations(ends, 3):
        seen = {tuple(one[name] for name in three) for one in clean}
        for values in itertools.product(*(ends[name] for name in three)):
            asked = dict(zip(three, values, strict=True))
            possible = not (asked.get("flag0") is True and asked.get("masks") == 256)
            assert values in seen or not possible, asked


def test_a_row_that_a_known_cause_explains_is_not_worked_on_again() -> None:
    report, tester = search(DEVICE, fails_when(lambda one: as_integer(one["masks"]) >= 100))
    assert conditions_of(report) == [{("masks", ">=", 100)}]
    discovered = [one for (phase, _), one in zip(tester.sent, tester.tests, strict=True) if phase == "discover"]
    assert sum(as_integer(one["masks"]) >= 100 for one in discovered) <= 5, "known causes are avoided"


def test_two_causes_of_one_symptom_are_both_found() -> None:
    report, _ = search(DEVICE, fails_when(lambda one: as_integer(one["masks"]) >= 100 or bool(one["flag1"] and one["flag2"])))
    found = {frozenset(one) for one in conditions_of(report)}
    assert found == {frozenset({("masks", ">=", 100)}), frozenset({("flag1", "==", True), ("flag2", "==", True)})}


def test_a_default_that_is_degraded_without_a_symptom_is_noticed() -> None:
    device = device_of(integer("masks", 1, 256), integer("vfs", 0, 16), integer("qps", 1, 64))

    def is_slow(config: Config) -> bool:
        return as_integer(config["masks"]) <= 5 and as_integer(config["vfs"]) <= 2

    report, _ = search(device, lambda one: ((), {"bw_gbps": 50.0 if is_slow(one) else HEALTHY_GBPS}))
    assert conditions_of(report) == [{("masks", "<=", 5), ("vfs", "<=", 2)}]
    assert any("degraded" in one for one in report.notes)
    assert report.baseline["healthy"] is False


def test_the_number_of_tests_is_far_below_brute_force() -> None:
    report, tester = search(DEVICE, fails_when(lambda one: as_integer(one["vfs"]) >= 9 and bool(one["flag4"])))
    assert conditions_of(report) == [{("vfs", ">=", 9), ("flag4", "==", True)}]
    assert len(tester.sent) * 5 <= DEVICE.brute_force
