"""One cause from one failing configuration: the fewest conditions, proof by pairs, and what hides it."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from wallwatch.domain.lab.conditions import Among, Cause, Range, Signal
from wallwatch.domain.lab.device import Config, Device, as_integer
from wallwatch.domain.lab.hypothesis import Hidden
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.learner import Learner
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.topology import Topology

from .planted import HEALTHY_GBPS, Behaviour, PlantedTester, boolean, choice, device_of, fails_when, integer

DEVICE = device_of(
    integer("masks", 1, 256), integer("qps", 1, 1024, scale="log"), boolean("offload"), boolean("trace"), choice("mode", "a", "b", "c")
)
ALL_ON: Config = {"masks": 200, "qps": 1000, "offload": True, "trace": True, "mode": "c"}
S6 = Signal("S6")


def learner_of(
    behaviour: Behaviour, seed: int = 1, known: tuple[Cause, ...] = (), device: Device = DEVICE
) -> tuple[Learner, PlantedTester]:
    tester = PlantedTester(device, behaviour)
    judge = Judge(device, tester)
    assert judge.measure_baseline(device.default)
    rng = random.Random(seed)
    return Learner(judge, Sampler(device, Topology(device), rng), rng, S6, known, (), device.default), tester


def masks_and_offload(config: Config) -> bool:
    return as_integer(config["masks"]) >= 37 and config["offload"] is True


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("predicate", "conditions"),
    [
        (masks_and_offload, {Range("masks", 37, None), Among("offload", frozenset({True}), (False, True))}),
        (lambda one: one["mode"] != "a", {Among("mode", frozenset({"b", "c"}), ("a", "b", "c"))}),
        (lambda one: 90 <= as_integer(one["masks"]) <= 210, {Range("masks", 90, 210)}),
        (
            lambda one: as_integer(one["qps"]) >= 3 and one["trace"] is True and one["mode"] == "c",
            {Range("qps", 3, None), Among("trace", frozenset({True}), (False, True)), Among("mode", frozenset({"c"}), ("a", "b", "c"))},
        ),
    ],
)
def test_the_fewest_conditions_are_learned_with_proof(seed: int, predicate: Callable[[Config], bool], conditions: set[Any]) -> None:
    learner, tester = learner_of(fails_when(predicate), seed)
    found = learner.learn(ALL_ON)
    assert found is not None
    assert set(found.cause.conditions) == conditions
    assert found.is_settled
    assert predicate(found.failing)
    assert not predicate(found.passing)
    inside, outside = found.agreement()
    assert (inside.agree, outside.agree) == (inside.of, outside.of)
    assert inside.of >= 10
    assert found.confidence() > 0.95
    for one in found.permutation():
        assert one.kept
        assert one.held == one.pairs >= 8
    assert len(tester.sent) <= 200


def test_a_configuration_that_passes_has_no_cause() -> None:
    learner, _ = learner_of(fails_when(lambda _: False))
    found = learner.learn(ALL_ON)
    assert found is None or not found.cause.conditions or found.confidence() < 0.95


def test_a_condition_that_holds_in_the_default_is_found_too() -> None:
    """Conditions that the healthy default meets are not in the difference: only predictions that fail show them."""
    learner, _ = learner_of(fails_when(lambda one: as_integer(one["masks"]) >= 37 and one["trace"] is False))
    found = learner.learn({**ALL_ON, "trace": False})
    assert found is not None
    assert set(found.cause.conditions) == {Range("masks", 37, None), Among("trace", frozenset({False}), (False, True))}


def test_what_hides_the_symptom_is_raised_and_once_known_avoided() -> None:
    def behaviour(config: Config) -> Any:
        if config["trace"]:
            return ["S3"], {"bw_gbps": 0.0}
        return (["S6"], {"bw_gbps": 40.0}) if masks_and_offload(config) else ([], {"bw_gbps": HEALTHY_GBPS})

    failing = {**ALL_ON, "trace": False}
    learner, _ = learner_of(behaviour)
    with pytest.raises(Hidden) as hidden:
        learner.learn(failing)
    assert hidden.value.config["trace"] is True
    crash = Cause(Signal("S3"), (Among("trace", frozenset({True}), (False, True)),))
    learner, _ = learner_of(behaviour, known=(crash,))
    found = learner.learn(failing)
    assert found is not None
    assert {"masks", "offload"} <= found.cause.parameters


def test_another_cause_of_the_same_symptom_is_left_for_later() -> None:
    def predicate(config: Config) -> bool:
        return masks_and_offload(config) or (config["mode"] == "b" and config["trace"] is True)

    learner, _ = learner_of(fails_when(predicate))
    found = learner.learn({**ALL_ON, "mode": "c"})
    assert found is not None
    assert set(found.cause.conditions) == {Range("masks", 37, None), Among("offload", frozenset({True}), (False, True))}
    assert all(not found.cause.holds(one) and predicate(one) for one in learner.others)


def test_the_reproducer_differs_from_the_default_in_the_cause_only() -> None:
    learner, _ = learner_of(fails_when(masks_and_offload))
    found = learner.learn(ALL_ON)
    assert found is not None
    assert {name for name, value in found.failing.items() if value != DEVICE.default[name]} == {"masks", "offload"}
