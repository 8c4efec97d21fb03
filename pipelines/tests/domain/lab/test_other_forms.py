"""Faults whose conditions are no plain conjunction: the causes that are reported predict every configuration all the same."""

import random
from collections.abc import Callable, Sequence

import pytest

from wallwatch.domain.lab.device import Config, as_integer
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.tester import Options

from .planted import HEALTHY_GBPS, Behaviour, boolean, choice, device_of, fails_when, integer, search

DEVICE = device_of(
    integer("masks", 1, 256),
    integer("qps", 1, 4096, scale="log"),
    integer("vfs", 0, 64),
    boolean("offload"),
    boolean("ecn"),
    boolean("ats"),
    choice("mode", "a", "b", "c", "d"),
    choice("tunnel", "none", "vxlan", "geneve"),
)
DRAWN = 3000


def drawn() -> list[Config]:
    """Configurations all over the device."""
    rng = random.Random(18)
    integers = {one.name: (one.minimum, one.maximum) for one in DEVICE.parameters if one.kind == "integer"}
    return [
        {one.name: rng.randint(*integers[one.name]) if one.name in integers else rng.choice(one.values) for one in DEVICE.parameters}
        for _ in range(DRAWN)
    ]


def wrongly_predicted(report: Report, symptom: str, fails: Callable[[Config], bool]) -> list[Config]:
    causes = [one.cause for one in report.causes if one.cause.signal.symptom == symptom]
    return [config for config in drawn() if any(one.holds(config) for one in causes) != fails(config)]


FORMS: Sequence[Callable[[Config], bool]] = [
    lambda one: one["offload"] != one["ecn"],
    lambda one: (as_integer(one["masks"]) >= 90) != (as_integer(one["vfs"]) >= 30),
    lambda one: (int(bool(one["offload"])) + int(bool(one["ecn"])) + int(bool(one["ats"]))) % 2 == 1,
    lambda one: bool(one["offload"]) and (as_integer(one["masks"]) >= 90 or as_integer(one["vfs"]) <= 12),
    lambda one: as_integer(one["masks"]) >= 90 and not (one["ecn"] and one["mode"] == "c"),
    lambda one: as_integer(one["masks"]) >= 90 and not 20 <= as_integer(one["vfs"]) <= 40,
    lambda one: 30 <= as_integer(one["masks"]) <= 80 or 140 <= as_integer(one["masks"]) <= 220,
    lambda one: (as_integer(one["masks"]) >= 90) + (as_integer(one["vfs"]) >= 30) + bool(one["ats"]) >= 2,
]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("number", range(len(FORMS)))
def test_causes_of_other_forms_predict_what_fails(number: int, seed: int) -> None:
    report, tester = search(DEVICE, fails_when(FORMS[number]), options=Options(seed=seed))
    assert report.complete
    assert all(one.is_settled for one in report.causes)
    assert not wrongly_predicted(report, "S6", FORMS[number])
    assert len(tester.sent) <= 1000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_threshold_of_its_own_for_each_choice_is_a_cause_of_its_own(seed: int) -> None:
    first_bad = {"a": 220, "b": 60, "c": 60, "d": 150}
    report, _ = search(DEVICE, fails_when(lambda one: as_integer(one["masks"]) >= first_bad[str(one["mode"])]), options=Options(seed=seed))
    conditions = [sorted((c["parameter"], c["op"], str(c["value"])) for c in one.cause.conditions_json()) for one in report.causes]
    assert sorted(conditions) == [
        [("masks", ">=", "150"), ("mode", "==", "d")],
        [("masks", ">=", "220"), ("mode", "==", "a")],
        [("masks", ">=", "60"), ("mode", "in", "['b', 'c']")],
    ]
    for one in report.causes:
        assert one.thresholds[0].first_bad - one.thresholds[0].last_good == 1
        inside, outside = one.agreement()
        assert (inside.agree, outside.agree) == (inside.of, outside.of)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_symptom_that_shows_only_inside_the_cause_of_another_is_found(seed: int) -> None:
    def nested(config: Config) -> bool:
        return as_integer(config["masks"]) >= 180 and bool(config["ats"])

    def behaviour(config: Config) -> tuple[list[str], dict[str, float]]:
        return ["S7"] * (as_integer(config["masks"]) >= 80) + ["S6"] * nested(config), {"bw_gbps": HEALTHY_GBPS}

    report, _ = search(DEVICE, behaviour, options=Options(seed=seed))
    assert not wrongly_predicted(report, "S6", nested)
    assert not wrongly_predicted(report, "S7", lambda one: as_integer(one["masks"]) >= 80)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_cause_next_to_two_others_of_its_symptom_has_no_bound_where_they_begin(seed: int) -> None:
    """The default is beyond one of three limits, any two of which make it fail: the third pair fails on both sides of that limit."""
    parameters = [integer("masks", 1, 256), integer("qps", 1, 4096, scale="log"), integer("vfs", 0, 64), boolean("ecn"), boolean("ats")]
    default = {"masks": 1, "qps": 3000, "vfs": 0, "ecn": False, "ats": False}
    device = device_of(*parameters, choice("mode", "a", "b", "c"), default={**default, "mode": "a"})

    def fails(config: Config) -> bool:
        reached = (as_integer(config[name]) >= limit for name, limit in (("masks", 90), ("qps", 1000), ("vfs", 30)))
        return sum(reached) >= 2

    report, tester = search(device, fails_when(fails), options=Options(seed=seed))
    found = {frozenset((c["parameter"], c["op"], c["value"]) for c in one.cause.conditions_json()) for one in report.causes}
    limits = {("masks", ">=", 90), ("qps", ">=", 1000), ("vfs", ">=", 30)}
    assert found == {frozenset(limits - {one}) for one in limits}
    assert len(tester.sent) <= 600


def test_failures_without_any_rule_are_called_undecided_and_are_no_cause() -> None:
    def by_chance(config: Config) -> bool:
        return (
            random.Random(str(sorted(config.items()))).random() < 0.3 and config != DEVICE.default
        )  # the same configuration, the same verdict

    behaviour: Behaviour = fails_when(by_chance)
    report, _ = search(DEVICE, behaviour, options=Options(seed=1))
    refuted = [one for one in report.causes if not one.is_settled and 2 * one.agreement()[0].agree < one.agreement()[0].of]
    assert refuted == []
    assert any(note.startswith("Undecided: S6 also shows where no cause holds") for note in report.notes)
