"""The architecture model finds the family that made the data."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.lab.conditions import Among, Cause, Range, Signal
from wallwatch.domain.lab.device import Config, Device, as_integer, parse_device
from wallwatch.domain.lab.models import MOST_POINTS, Test, fit_models
from wallwatch.domain.lab.search import run_lab
from wallwatch.domain.lab.tester import Options, Outcome, Phase
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us

SLOW = Signal(None, "bw_gbps")
BY_EGRESS = Cause(SLOW, (Range("masks_egress", 20, None),))
BY_BOTH = (BY_EGRESS, Cause(SLOW, (Range("masks_ingress", 20, None),)))


def device(**changes: Any) -> Device:
    return parse_device(
        {
            "protocol": "dut/1",
            "name": "card",
            "parameters": [
                {"name": "masks_egress", "kind": "integer", "min": 1, "max": 200, "unit": "masks"},
                {"name": "masks_ingress", "kind": "integer", "min": 1, "max": 200, "unit": "masks"},
                {"name": "offload", "kind": "boolean"},
            ],
            "metrics": [{"name": "bw_gbps", "unit": "Gbit/s", "better": "higher"}, {"name": "latency_us", "unit": "us", "better": "lower"}],
            "symptoms": [],
            "default": {"masks_egress": 1, "masks_ingress": 1, "offload": False},
            **changes,
        }
    )


def drawn(bandwidth: Callable[[Config], float], number: int = 120, seed: int = 3) -> list[Test]:
    rng = random.Random(seed)
    found: list[Test] = []
    for _ in range(number):
        config: Config = {
            "masks_egress": rng.randint(1, 200),
            "masks_ingress": rng.randint(1, 200),
            "offload": rng.random() < 0.5,
        }
        found.append((config, {"bw_gbps": bandwidth(config)}))
    return found


def egress(config: Config) -> int:
    return as_integer(config["masks_egress"])


def best(tests: list[Test], *causes: Cause) -> dict[str, Any]:
    [model] = fit_models(device(), tests, causes)
    return model


def test_a_line_is_recognised_with_its_slope() -> None:
    model = best(drawn(lambda config: 100 - 0.2 * egress(config)), BY_EGRESS)
    assert model["family"] == "linear"
    assert model["parameters"] == ["masks_egress"]
    assert model["coefficients"]["intercept"] == pytest.approx(100)
    assert model["coefficients"]["slopes"] == {"masks_egress": pytest.approx(-0.2)}
    assert model["goodness"] == model["leave_one_out"] == pytest.approx(1)


def test_a_wall_is_recognised_between_the_points_around_it() -> None:
    tests = drawn(lambda config: 100.0 if egress(config) < 70 else 60 - 0.1 * egress(config))
    model = best(tests, BY_EGRESS)
    beyond = min(egress(config) for config, _ in tests if egress(config) >= 70)
    assert model["family"] == "piecewise"
    wall = model["coefficients"]["wall"]
    assert wall["parameter"] == "masks_egress"
    assert 60 <= wall["at"] <= beyond + 10
    assert model["goodness"] > 0.9


def test_a_wall_among_many_values_is_found_to_the_value() -> None:
    tests: list[Test] = [
        ({"masks_egress": i, "masks_ingress": 1, "offload": False}, {"bw_gbps": 100.0 if i < 77 else 60.0}) for i in range(1, 201)
    ]
    model = best(tests, BY_EGRESS)
    assert model["coefficients"]["wall"] == {"parameter": "masks_egress", "at": 77}
    assert model["goodness"] == 1


def test_the_papers_surface_is_recognised_with_its_parameters() -> None:
    card = profiles()["CX-6"].performance
    rng = random.Random(5)
    tests = drawn(lambda c: bandwidth_gbps(card, egress(c), as_integer(c["masks_ingress"])) * (1 + rng.gauss(0, 0.002)))
    model = best(tests, *BY_BOTH)
    assert model["family"] == "rbf"
    assert model["goodness"] > 0.99
    assert model["leave_one_out"] > 0.99
    found = model["coefficients"]
    assert found["width"]["masks_egress"] == pytest.approx(found["width"]["masks_ingress"])
    assert found["width"]["masks_egress"] == pytest.approx(card.v, rel=0.1)
    assert found["u"] == pytest.approx(card.u, rel=0.15)
    assert found["w"] == pytest.approx(card.w, abs=6)
    assert found["centre"]["masks_egress"] == pytest.approx(card.m, abs=12)


def test_noise_alone_is_a_constant() -> None:
    rng = random.Random(11)
    model = best(drawn(lambda _: 100 + rng.gauss(0, 1)), *BY_BOTH)
    assert model["family"] == "constant"
    assert model["coefficients"]["value"] == pytest.approx(100, abs=0.5)
    assert model["leave_one_out"] <= 0


def test_a_decline_that_needs_several_conditions_is_a_wall_of_the_cause() -> None:
    cause = Cause(SLOW, (Range("masks_egress", 70, None), Among("offload", frozenset({True}), (False, True))))
    model = best(drawn(lambda config: 40.0 if cause.holds(config) else 100.0), cause)
    assert model["goodness"] == pytest.approx(1)
    assert model["family"] == "linear"
    assert model["coefficients"]["slopes"]["cause 1"] == pytest.approx(-60)
    assert model["parameters"] == ["masks_egress"]


def test_without_causes_or_variation_or_points_there_is_no_model() -> None:
    varying, same = drawn(lambda config: 100.0 - egress(config)), drawn(lambda _: 100.0)
    assert fit_models(device(), varying, []) == []
    assert fit_models(device(), same, [BY_EGRESS]) == []
    assert fit_models(device(), varying[:5], [BY_EGRESS]) == []
    assert fit_models(device(), [], [BY_EGRESS]) == []


def test_a_parameter_that_was_never_varied_does_no_harm() -> None:
    tests = [({**config, "masks_ingress": 7}, metrics) for config, metrics in drawn(lambda config: 100 - 0.2 * egress(config))]
    model = best(tests, *BY_BOTH)
    assert model["family"] == "linear"
    assert model["coefficients"]["slopes"]["masks_ingress"] == 0


def test_many_points_are_thinned_evenly_and_coefficients_are_json_numbers() -> None:
    tests = drawn(lambda config: 100 - 0.2 * egress(config), number=10 * MOST_POINTS)
    model = best(tests, BY_EGRESS)
    assert type(model["coefficients"]["intercept"]) is float
    assert type(model["goodness"]) is float


class Card:
    """A device whose bandwidth declines by the paper's surface, and stops altogether with many ingress masks."""

    def __init__(self) -> None:
        self.performance = profiles()["CX-6"].performance

    def test(self, config: Config, phase: Phase) -> Outcome:
        q_l, q_r = (egress(config) - 1) / 2, (as_integer(config["masks_ingress"]) - 1) / 2
        if q_r > 90:
            return Outcome("ok", frozenset({"S3"}), {"bw_gbps": 0.0, "latency_us": 0.0})
        return Outcome("ok", frozenset(), {"bw_gbps": bandwidth_gbps(self.performance, q_l, q_r), "latency_us": self.latency(q_l, q_r)})

    def latency(self, q_l: float, q_r: float) -> float:
        return latency_us(self.performance, q_l, q_r)

    def test_all(self, configs: Any, phase: Phase) -> list[Outcome]:
        return [self.test(one, phase) for one in configs]

    def reset(self, phase: Phase) -> None:
        raise AssertionError("this device has no memory")


def test_a_search_ends_with_models_that_leave_out_what_a_stopped_device_gave() -> None:
    under_test = device(symptoms=["S3"])
    report = run_lab(under_test, Card(), Options(strategy="pairwise"))
    models = {one["metric"]: one for one in report.models}
    assert models.keys() == {"bw_gbps", "latency_us"}
    assert models["latency_us"]["family"] == "linear"
    card = profiles()["CX-6"].performance
    assert models["latency_us"]["coefficients"]["slopes"]["masks_egress"] == pytest.approx(card.a / 2)
    assert models["bw_gbps"]["goodness"] > 0.98
