"""Calibration takes the tests of a lab's search."""

from __future__ import annotations

import math

import pytest

from wallwatch.domain.calibration.calibrate import calibrate
from wallwatch.domain.calibration.lab_points import lab_points
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.lab.device import Config
from wallwatch.domain.lab.models import Test
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us

HEALTHY: Config = {"masks_egress": 1, "masks_ingress": 1, "offload": False}


def test_calibration_takes_the_points_of_a_search() -> None:
    card = profiles()["CX-6"].performance
    tests: list[Test] = []
    for a in range(1, 160, 20):
        for b in range(1, 160, 20):
            config: Config = {"masks_egress": a, "masks_ingress": b, "offload": False}
            q_l, q_r = (a - 1) / 2, (b - 1) / 2
            tests.append((config, {"bw_gbps": bandwidth_gbps(card, q_l, q_r), "latency_us": latency_us(card, q_l, q_r)}))
    tests.append(({"masks_egress": 1, "masks_ingress": 1, "offload": True}, {"bw_gbps": 1.0, "latency_us": 900.0}))
    measured = lab_points(tests, HEALTHY, "send", 65536)
    assert len(measured) == 2 * 64
    result = calibrate(measured, profiles()["CX-5"].performance, "CX-5")
    assert result.bandwidth is not None
    assert result.latency is not None
    assert result.bandwidth.parameters["v"].value == pytest.approx(card.v, rel=0.05)
    assert result.latency.parameters["a"].value == pytest.approx(card.a, rel=0.05)
    assert math.isclose(result.latency.parameters["c"].value, card.c, rel_tol=0.05)


def test_a_device_without_masks_of_both_directions_gives_calibration_nothing() -> None:
    assert lab_points([({"qps": 4}, {"bw_gbps": 100.0})], {"qps": 1}, "send", 65536) == []
