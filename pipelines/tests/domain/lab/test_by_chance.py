"""Symptoms that are a matter of chance, as a race is: conditions say where they can show."""

import random
from collections.abc import Callable

import pytest

from wallwatch.domain.lab.conditions import Signal
from wallwatch.domain.lab.device import Config, as_integer
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.tester import Options

from .planted import HEALTHY_GBPS, Behaviour, PlantedTester, boolean, conditions_of, device_of, integer, search, sequence

PARAMETERS = (
    sequence("teardown", "stop", "delete", "release"),
    integer("interval_ms", 1, 2000, scale="log"),
    integer("vfs", 1, 12),
    boolean("offload"),
)
DEVICE = device_of(*PARAMETERS)


def by_chance(chance: Callable[[Config], float], seed: int) -> Behaviour:
    rng = random.Random(seed)
    return lambda config: (["S7"] if rng.random() < chance(config) else [], {"bw_gbps": HEALTHY_GBPS})


def race(config: Config) -> float:
    """The farther apart two releases are, the rarer they meet; never if traffic stops first."""
    order = config["teardown"]
    assert isinstance(order, tuple)
    if order.index("release") > order.index("stop"):
        return 0
    interval = as_integer(config["interval_ms"])
    return 1 if interval <= 60 else 0.45 if interval <= 500 else 0


@pytest.mark.parametrize("seed", [2, 3, 6])
def test_of_a_race_the_search_finds_where_it_can_happen(seed: int) -> None:
    report, _ = search(DEVICE, by_chance(race, seed), options=Options(seed=seed, target="S7"))
    assert conditions_of(report)[0] == {("teardown", "before", ("release", "stop")), ("interval_ms", "<=", 500)}
    assert report.causes[0].is_settled
    assert any("a matter of chance" in one for one in report.notes)


@pytest.mark.parametrize("seed", range(8))
def test_a_symptom_that_shows_in_most_tests_is_flaky_and_not_a_matter_of_chance(seed: int) -> None:
    behaviour = by_chance(lambda config: 0.85 if as_integer(config["vfs"]) >= 7 else 0.01, seed)
    judge = Judge(DEVICE, PlantedTester(DEVICE, behaviour))
    signal = Signal("S7")
    for vfs in range(1, 13):
        at = {**DEVICE.default, "vfs": vfs}
        judge.doubt(at, signal, "discover", times=8)
        judge.decide(at, signal, "verify", surely=True)
    assert judge.is_flaky
    assert not judge.by_chance
