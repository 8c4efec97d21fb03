"""Bandwidth and latency at (Q_l, Q_r) with an interval, and where the interval comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from wallwatch.domain.performance.formulas import bandwidth_gbps, bandwidths_gbps, latency_us
from wallwatch.domain.performance.parameters import Covariance, Performance

LEVEL = 0.95
_Z = 1.959964
FITTED_TO = 100.0
"""Most masks per direction in the paper's experiments and the shared logs; above it the model is extrapolated."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the bounds of its interval, in the value's unit."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Prediction:
    bandwidth_gbps: Interval
    latency_us: Interval
    level: float
    basis: str
    extrapolated: bool


def predict(p: Performance, q_l: float, q_r: float) -> Prediction:
    """Bandwidth of send and write, and latency, of packets with `q_l` and `q_r` mask lookups.

    The interval is for one measurement, not for the mean. Without a calibration it comes from the profile's goodness alone: R squared gives
    which share of the variance over the fitted range (0 to 100 lookups per direction) is unexplained, which is used as the scatter
    everywhere.
    With one it is the scatter of its fit and what its points leave open: narrow near them, wide far from them.

    Raises
    ------
    ValueError
        When a Q is negative or no number.

    Examples
    --------
    >>> from wallwatch.domain.catalogue.load import profiles
    >>> found = predict(profiles()["CX-6"].performance, 10, 5)
    >>> round(found.bandwidth_gbps.value, 1), round(found.latency_us.value, 2), found.level
    (121.4, 3.5, 0.95)
    """
    for name, value in (("Q_l", q_l), ("Q_r", q_r)):
        if not math.isfinite(value) or value < 0.0:
            raise ValueError(f"{name} is a mean number of mask lookups and cannot be {value}; give a number >= 0")
    head_bandwidth, head_latency = _bandwidth(p, 0.0, 0.0), _latency(p, 0.0, 0.0)
    bandwidth, latency = _bandwidth(p, q_l, q_r), _latency(p, q_l, q_r)
    # More lookups never help, however uncertain a calibration is.
    bandwidth = replace(bandwidth, upper=max(min(bandwidth.upper, head_bandwidth.upper), bandwidth.value))
    latency = replace(latency, lower=min(max(latency.lower, head_latency.lower), latency.value))
    basis = "; ".join(
        f"{name}: goodness {goodness:.2f} of the fit, as scatter over 0 to {FITTED_TO:.0f} lookups"
        if relative is None
        else f"{name}: scatter of {relative:.1%} around the calibration"
        + ("" if covariance is None else ", and the uncertainty of its parameters")
        for name, relative, goodness, covariance in (
            ("bandwidth", p.bandwidth_relative_sd, p.goodness, p.bandwidth_covariance),
            ("latency", p.latency_relative_sd, p.latency_goodness or p.goodness, p.latency_covariance),
        )
    )
    return Prediction(bandwidth, latency, LEVEL, basis, max(q_l, q_r) > FITTED_TO)


def _bandwidth(p: Performance, q_l: float, q_r: float) -> Interval:
    shape = math.exp(-((q_l - p.m) ** 2 + (q_r - p.n) ** 2) / (2.0 * p.v**2))
    slope, left, right = p.u * shape / p.v**2, q_l - p.m, q_r - p.n
    gradient = (shape, slope * (left**2 + right**2) / p.v, slope * left, slope * right, 1.0)
    value = bandwidth_gbps(p, q_l, q_r)
    return _interval(value, p.bandwidth_relative_sd, scatter_from_goodness(p)[0], p.bandwidth_covariance, gradient)


def _latency(p: Performance, q_l: float, q_r: float) -> Interval:
    return _interval(latency_us(p, q_l, q_r), p.latency_relative_sd, scatter_from_goodness(p)[1], p.latency_covariance, (q_l, q_r, 1.0))


def _interval(
    value: float, relative_sd: float | None, printed_sd: float, covariance: Covariance | None, gradient: tuple[float, ...]
) -> Interval:
    """Scatter of a measurement, and what the parameters leave open at this place (to first order)."""
    variance = (printed_sd if relative_sd is None else relative_sd * value) ** 2
    if covariance is not None:
        slopes = np.array(gradient)
        variance += max(float(slopes @ np.array(covariance) @ slopes), 0.0)
    half = _Z * math.sqrt(variance)
    return Interval(value, max(value - half, 0.0), value + half)


@lru_cache(maxsize=64)
def scatter_from_goodness(p: Performance) -> tuple[float, float]:
    """Standard deviation of what the model leaves unexplained, (Gbit/s, microseconds).

    With R squared = explained / total variance, the unexplained variance is explained * (1 - R2) / R2. The explained variance is that of
    the model itself over a grid of 0 to 100 lookups in both directions.

    >>> from wallwatch.domain.catalogue.load import profiles
    >>> [round(x, 2) for x in scatter_from_goodness(profiles()["CX-6"].performance)]
    [5.62, 0.67]
    """
    q = np.linspace(0.0, FITTED_TO, 51)
    left, right = np.meshgrid(q, q)
    bandwidth = float(np.std(bandwidths_gbps(p, left, right)))
    latency = float(np.std(p.a * left + p.b * right))
    latency_goodness = p.latency_goodness or p.goodness
    return bandwidth * math.sqrt((1 - p.goodness) / p.goodness), latency * math.sqrt((1 - latency_goodness) / latency_goodness)
