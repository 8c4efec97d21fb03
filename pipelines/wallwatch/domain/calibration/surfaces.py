"""The two functions of the paper's section 4.2 in the form that a fit needs: with bounds and priors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wallwatch.domain.calibration.least_squares import Floats, Model
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.performance.surface import bandwidth, bandwidth_gradient
from wallwatch.domain.perftest.runs import Quantity

BANDWIDTH = ("u", "v", "m", "n", "w")
LATENCY = ("a", "b", "c")


def latency(p: Floats, q_l: Floats, q_r: Floats) -> Floats:
    """Equation (2)."""
    a, b, c = p
    return np.asarray(a * q_l + b * q_r + c, dtype=np.float64)


def latency_gradient(p: Floats, q_l: Floats, q_r: Floats) -> Floats:
    """Derivatives by a, b, c; shape (points, 3)."""
    return np.column_stack([q_l, q_r, np.ones_like(q_l)])


def of(quantity: Quantity, current: Performance, values: Floats, q_l: Floats, q_r: Floats) -> Model:
    """The model of a quantity.

    Bounds keep it physical: more lookups never give more bandwidth (m, n <= 0) nor less latency (a, b >= 0). The prior is the
    current profile, loosely: a factor of two in `u` and `w`, half of `v`, thirty lookups in
    `m` and `n`; of latency whatever the values allow.
    """
    if quantity == "bandwidth":
        believed = np.array([current.u, current.v, min(current.m, 0.0), min(current.n, 0.0), current.w])
        spread = np.array([current.u, 0.5 * current.v, 30.0, 30.0, max(current.w, 0.1 * float(values.min()))])
        top = 1e3 * max(float(values.max()), current.u)
        lower, upper = np.array([1e-6, 1.0, -1e3, -1e3, 0.0]), np.array([top, 1e3, 0.0, 0.0, 10 * top])
        return Model(BANDWIDTH, bandwidth, bandwidth_gradient, believed, spread, lower, upper)
    believed = np.array([max(current.a, 0.0), max(current.b, 0.0), max(current.c, 0.0)])
    slope = float(values.max()) / max(float(q_l.max()), float(q_r.max()), 1.0)
    spread = np.array([slope, slope, float(values.max())])
    return Model(LATENCY, latency, latency_gradient, believed, spread, np.zeros(3), np.full(3, np.inf))


def starts(quantity: Quantity, current: Performance, others: Sequence[Performance], values: Floats) -> list[Floats]:
    """Starting points of the search in addition to the current profile: other models, scaled to the values."""
    if quantity == "latency":
        return [np.array([0.01, 0.01, float(values.min())])]
    found = []
    for one in (*others, current):
        scale = float(values.max()) / (one.u * np.exp(-(one.m**2 + one.n**2) / (2 * one.v**2)) + one.w)
        for widen in (0.5, 1.0, 2.0):
            found.append(np.array([one.u * scale, one.v * widen, one.m * widen, one.n * widen, one.w * scale]))
    return found
