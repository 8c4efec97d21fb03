"""Intervals of predicted bandwidth and latency, against the formulas written out again and against finite differences."""

import math
from typing import Any

import numpy as np
import pytest

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us, masks_at_bandwidth_loss
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.performance.predict import FITTED_TO, LEVEL, predict, scatter_from_goodness

CX6 = profiles()["CX-6"].performance
Z = 1.959964  # of 95%


def with_(**change: Any) -> Performance:
    return CX6.model_copy(update=change)


@pytest.mark.parametrize("place", [(0.0, 0.0), (10.0, 5.0), (40.0, 0.0), (0.0, 40.0), (100.0, 100.0)])
def test_without_a_calibration_the_interval_is_what_the_goodness_leaves(place: tuple[float, float]) -> None:
    found, head = predict(CX6, *place), predict(CX6, 0.0, 0.0)
    q = np.linspace(0.0, 100.0, 51)
    bandwidths = [bandwidth_gbps(CX6, left, right) for left in q for right in q]
    latencies = [latency_us(CX6, left, right) for left in q for right in q]
    unexplained = math.sqrt((1 - CX6.goodness) / CX6.goodness)
    half, half_us = Z * float(np.std(bandwidths)) * unexplained, Z * float(np.std(latencies)) * unexplained
    value, value_us = bandwidth_gbps(CX6, *place), latency_us(CX6, *place)
    assert found.bandwidth_gbps.value == pytest.approx(value)
    assert found.bandwidth_gbps.lower == pytest.approx(max(value - half, 0.0))
    assert found.bandwidth_gbps.upper == pytest.approx(min(value + half, head.bandwidth_gbps.upper))
    assert found.latency_us.value == pytest.approx(value_us)
    assert found.latency_us.lower == pytest.approx(max(value_us - half_us, head.latency_us.lower))
    assert found.latency_us.upper == pytest.approx(value_us + half_us)
    assert found.level == LEVEL == 0.95


def test_the_goodness_of_latency_is_that_of_bandwidth_where_it_has_none() -> None:
    both = scatter_from_goodness(with_(goodness=0.9, latency_goodness=None))
    other = scatter_from_goodness(with_(goodness=0.9, latency_goodness=0.5))
    assert other[0] == both[0]
    assert other[1] == pytest.approx(both[1] / math.sqrt(0.1 / 0.9))


def test_a_calibration_s_scatter_is_relative() -> None:
    found = predict(with_(bandwidth_relative_sd=0.1, latency_relative_sd=0.2), 10.0, 5.0)
    bandwidth, latency = found.bandwidth_gbps, found.latency_us
    assert bandwidth.value - bandwidth.lower == pytest.approx(Z * 0.1 * bandwidth.value)
    assert latency.upper - latency.value == pytest.approx(Z * 0.2 * latency.value)
    assert found.basis == "bandwidth: scatter of 10.0% around the calibration; latency: scatter of 20.0% around the calibration"
    assert predict(with_(bandwidth_relative_sd=2.0), 10.0, 5.0).bandwidth_gbps.lower == 0.0


def gradient(of: str, names: tuple[str, ...], place: tuple[float, float]) -> list[float]:
    """How the value changes with each parameter, by small steps of it."""
    formula = bandwidth_gbps if of == "bandwidth" else latency_us
    found = []
    for name in names:
        step = max(abs(getattr(CX6, name)), 1.0) * 1e-5
        more, less = (with_(**{name: getattr(CX6, name) + sign * step}) for sign in (1, -1))
        found.append((formula(more, *place) - formula(less, *place)) / (2 * step))
    return found


@pytest.mark.parametrize("place", [(0.0, 0.0), (10.0, 5.0), (60.0, 20.0)])
@pytest.mark.parametrize("of", ["bandwidth", "latency"])
def test_what_the_points_of_a_calibration_leave_open_adds_to_its_scatter(of: str, place: tuple[float, float]) -> None:
    names = ("u", "v", "m", "n", "w") if of == "bandwidth" else ("a", "b", "c")
    rng = np.random.default_rng(7)
    root = rng.normal(0, 0.01, (len(names), len(names)))
    covariance = tuple(tuple(row) for row in (root @ root.T).tolist())
    slopes = np.array(gradient(of, names, place))
    found = predict(with_(**{f"{of}_relative_sd": 0.01, f"{of}_covariance": covariance}), *place)
    interval = found.bandwidth_gbps if of == "bandwidth" else found.latency_us
    half = Z * math.sqrt((0.01 * interval.value) ** 2 + float(slopes @ np.array(covariance) @ slopes))
    below, above = interval.value - interval.lower, interval.upper - interval.value
    assert (below if of == "bandwidth" else above) == pytest.approx(half, rel=1e-4)
    assert f"{of}: scatter of 1.0% around the calibration, and the uncertainty of its parameters" in found.basis


def test_more_lookups_never_help_however_uncertain_a_calibration_is() -> None:
    p = with_(bandwidth_relative_sd=0.01, bandwidth_covariance=tuple(tuple(float(a == b == 1) for a in range(5)) for b in range(5)))
    head = predict(p, 0.0, 0.0).bandwidth_gbps
    for lookups in (5.0, 20.0, 50.0):
        found = predict(p, lookups, lookups).bandwidth_gbps
        assert found.lower <= found.value <= found.upper <= head.upper


@pytest.mark.parametrize(
    ("q_l", "q_r", "valid"),
    [(0.0, 0.0, True), (-0.001, 0.0, False), (0.0, -0.001, False), (math.nan, 0.0, False), (0.0, math.inf, False)],
)
def test_a_number_of_lookups_is_finite_and_not_negative(q_l: float, q_r: float, valid: bool) -> None:
    if valid:
        predict(CX6, q_l, q_r)
    else:
        with pytest.raises(ValueError, match=r"Q_[lr] is a mean number of mask lookups and cannot be"):
            predict(CX6, q_l, q_r)


@pytest.mark.parametrize(
    ("q_l", "q_r", "beyond"), [(FITTED_TO, FITTED_TO, False), (FITTED_TO + 0.1, 0.0, True), (0.0, FITTED_TO + 0.1, True)]
)
def test_beyond_what_was_measured_a_prediction_is_extrapolated(q_l: float, q_r: float, beyond: bool) -> None:
    assert predict(CX6, q_l, q_r).extrapolated is beyond


@pytest.mark.parametrize("loss", [0.0, 1.0, -0.1, 1.1])
def test_a_loss_is_a_share(loss: float) -> None:
    with pytest.raises(ValueError, match="is never reached"):
        masks_at_bandwidth_loss(CX6, loss, "egress")
