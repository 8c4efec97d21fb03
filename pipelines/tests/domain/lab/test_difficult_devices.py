"""Searches of devices that mislead: symptoms that hide others, metrics that jump, one fault in two metrics, wide boundaries."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from wallwatch.domain.lab.device import Config, as_integer
from wallwatch.domain.lab.tester import Options

from .planted import HEALTHY_GBPS, boolean, choice, conditions_of, device_of, integer, search

PARAMETERS = (
    integer("masks", 1, 256),
    integer("qps", 1, 4096, scale="log"),
    boolean("offload"),
    choice("mode", "a", "b", "c"),
    integer("vfs", 0, 16),
    integer("rate", 100, 10_000, step=100, scale="log"),
)
DEVICE = device_of(*PARAMETERS)
FINE = {"bw_gbps": HEALTHY_GBPS}


def found_of(report: Any) -> dict[str, set[Any]]:
    return {str(one.cause.signal): conditions for one, conditions in zip(report.causes, conditions_of(report), strict=True)}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("hides", "conditions"),
    [
        (lambda one: as_integer(one["masks"]) >= 128 and one["mode"] != "a", {("masks", ">=", 128), ("mode", "!=", "a")}),
        (lambda one: as_integer(one["rate"]) >= 3000, {("rate", ">=", 3000)}),
    ],
)
def test_a_symptom_that_hides_another_while_the_device_goes_on_adds_no_condition_to_it(
    hides: Callable[[Config], bool], conditions: set[Any], seed: int
) -> None:
    def behaviour(config: Config) -> tuple[list[str], dict[str, float]]:
        if hides(config):
            return ["S3"], FINE
        return ["S6"] * (as_integer(config["vfs"]) >= 9 and bool(config["offload"])), FINE

    report, _ = search(DEVICE, behaviour, options=Options(seed=seed))
    assert found_of(report) == {"S3": conditions, "S6": {("vfs", ">=", 9), ("offload", "==", True)}}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_symptoms_that_exclude_each_other_keep_their_conditions(seed: int) -> None:
    def behaviour(config: Config) -> tuple[list[str], dict[str, float]]:
        masks = as_integer(config["masks"])
        return ["S3"] * (masks >= 128 and config["mode"] == "b") + ["S6"] * (masks >= 64 and config["mode"] == "c"), FINE

    report, _ = search(DEVICE, behaviour, options=Options(seed=seed))
    assert found_of(report) == {"S3": {("masks", ">=", 128), ("mode", "==", "b")}, "S6": {("masks", ">=", 64), ("mode", "==", "c")}}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fault_that_worsens_two_metrics_is_one_cause(seed: int) -> None:
    metrics = [{"name": "bw_gbps", "unit": "Gbit/s", "better": "higher"}, {"name": "latency_us", "unit": "us", "better": "lower"}]
    device = device_of(*PARAMETERS, metrics=metrics)

    def behaviour(config: Config) -> tuple[list[str], dict[str, float]]:
        worse = as_integer(config["masks"]) >= 100 and bool(config["offload"])
        return [], {"bw_gbps": 70.0, "latency_us": 10.4} if worse else {"bw_gbps": 100.0, "latency_us": 8.0}

    report, _ = search(device, behaviour, options=Options(seed=seed), noise=0.004)
    (found,) = conditions_of(report)
    assert found == {("masks", ">=", 100), ("offload", "==", True)}
    assert {name for name, one in report.causes[0].effect.items() if abs(one["change"]) > 0.2} == {"bw_gbps", "latency_us"}


@pytest.mark.parametrize("seed", range(6))
def test_measurements_that_are_far_off_now_and_then_are_no_cause(seed: int) -> None:
    rng = random.Random(seed)
    report, tester = search(DEVICE, lambda _: ((), {"bw_gbps": HEALTHY_GBPS * (0.7 if rng.random() < 1 / 40 else 1)}), noise=0.004)
    assert report.causes == []
    assert report.complete
    assert len(tester.sent) <= 500


@pytest.mark.parametrize("seed", range(4))
def test_a_degradation_that_shows_in_most_tests_only_is_found(seed: int) -> None:
    rng = random.Random(seed)

    def behaviour(config: Config) -> tuple[tuple[str, ...], dict[str, float]]:
        worse = as_integer(config["masks"]) >= 100 and rng.random() < 0.88
        return (), {"bw_gbps": 70.0 if worse else HEALTHY_GBPS}

    report, _ = search(DEVICE, behaviour, options=Options(seed=seed), noise=0.003)
    assert conditions_of(report) == [{("masks", ">=", 100)}]


def test_each_cause_says_whether_the_device_recovers_from_it() -> None:
    def sticks(config: Config) -> bool:
        return as_integer(config["masks"]) >= 100

    def behaviour(config: Config) -> tuple[list[str], dict[str, float]]:
        return ["S6"] * sticks(config) + ["S7"] * (config["mode"] == "b"), FINE

    report, _ = search(device_of(*PARAMETERS, sequential=True), behaviour, damage=sticks)
    assert {str(one.cause.signal): one.recovers for one in report.causes} == {"S6": False, "S7": True}
    assert [one["recovers"] for one in report.to_json()["causes"]] == [one.recovers for one in report.causes]
    report, _ = search(DEVICE, behaviour)
    assert {one.recovers for one in report.causes} == {None}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_product_of_three_wide_integers_is_one_cause_with_a_sharp_value(seed: int) -> None:
    names = ("flows", "connections", "rate")
    wide = (integer("flows", 1, 1_000_000, scale="log"), integer("connections", 1, 2_000_000, scale="log"))
    device = device_of(*PARAMETERS, *wide)

    def product(config: Config) -> int:
        return as_integer(config[names[0]]) * as_integer(config[names[1]]) * as_integer(config[names[2]])

    limit = 2_111_750_071_600
    report, tester = search(device, lambda one: (["S6"] * (product(one) >= limit), FINE), options=Options(seed=seed))
    ((found,),) = conditions_of(report)
    assert (found[0], found[1]) == ("connections*flows*rate", ">=")
    assert found[2] == pytest.approx(limit, rel=1e-3)
    assert len(tester.sent) <= 600


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_decline_next_to_a_symptom_that_covers_most_of_its_range_costs_no_search_through_that_range(seed: int) -> None:
    """Under a symptom a metric says nothing: where a known cause shows one, nothing is tested for the metric."""
    asked: list[Config] = []

    def behaviour(config: Config) -> tuple[list[str], dict[str, float]]:
        asked.append(config)
        if as_integer(config["qps"]) >= 200 and as_integer(config["rate"]) >= 300:
            return ["S3"], FINE
        declines = as_integer(config["masks"]) * as_integer(config["qps"]) >= 9000 and config["mode"] != "a"
        return [], {"bw_gbps": HEALTHY_GBPS * (0.6 if declines else 1)}

    report, _ = search(DEVICE, behaviour, options=Options(seed=seed))
    assert report.complete
    assert len(asked) <= 700
    assert found_of(report)["S3"] == {("qps", ">=", 200), ("rate", ">=", 300)}
    assert all(one.is_settled for one in report.causes)
