"""The refit of an engine's costs by non-negative least squares; it runs only when an overloaded second says something new."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

ROUNDS = 4
"""Calm seconds above the fitted capacity join the equations; a few rounds settle which ones."""

UPPER = 0.8
"""Quantile of the loads of full seconds that is the capacity."""

AT_CAPACITY = 0.97
"""A calm second this near to the capacity takes part in the equations."""

PARTLY_FULL = 0.85
"""A full second with a smaller load was full for a part of the second only: it says nothing of the capacity."""

INDEPENDENT = 10.0
"""Full seconds that say something of their own; more of them are of the same storms."""

Point = tuple[float, float]


def fit_costs(full: Sequence[Point], calm: Sequence[Point], prior_packet_bytes: float, prior_scatter: float) -> Point | None:
    """Cost of a packet and of a byte, with capacity 1.

    Parameters
    ----------
    full
        Packets/s and bytes/s that the engine passed on in seconds in which it dropped; their load is 1.
    calm
        The same in seconds without drops; their load is at most 1.
    prior_packet_bytes
        Ratio of the costs that is assumed where the seconds say nothing, bytes.
    prior_scatter
        Scatter of the prior in units of that of one second.

    Returns
    -------
    tuple or None
        None when no second is full.

    >>> packet, byte = fit_costs([(1e6, 1e9), (3e6, 5e8)], [], 200.0, 100.0)
    >>> round(packet * 1e7, 2), round(byte * 1e10, 2)
    (2.0, 8.0)
    """
    points = np.array([point for point in full if point[0] > 0], dtype=float).reshape(-1, 2)
    if len(points) == 0:
        return None
    scale = points.mean(axis=0)
    scale[scale <= 0] = 1.0
    points /= scale
    ceilings = np.array(calm, dtype=float).reshape(-1, 2) / scale
    packet_part = prior_packet_bytes * scale[0] / (prior_packet_bytes * scale[0] + scale[1])
    prior = np.diag([1.0, 1.0]) / prior_scatter
    weight = min(1.0, (INDEPENDENT / len(points)) ** 0.5)
    prior_loads = np.array([packet_part, 1 - packet_part]) / prior_scatter
    binding = np.zeros(len(ceilings), dtype=bool)
    kept = np.ones(len(points), dtype=bool)
    costs = np.zeros(2)
    for _ in range(ROUNDS):
        rows = np.vstack([weight * points[kept], ceilings[binding], prior])
        loads = np.concatenate([np.full(int(kept.sum()), weight), np.ones(int(binding.sum())), prior_loads])
        costs, _ = nnls(rows, loads)
        # What most full seconds reach is the capacity: those below it were full for a part of the second only.
        capacity = max(float(np.quantile(points[kept] @ costs, UPPER)), float((ceilings @ costs).max(initial=0.0)))
        if capacity <= 0:
            return None
        costs /= capacity
        now_binding = binding | (ceilings @ costs > AT_CAPACITY)
        now_kept = points @ costs >= PARTLY_FULL
        if not now_kept.any() or ((now_binding == binding).all() and (now_kept == kept).all()):
            break
        binding, kept = now_binding, now_kept
    return float(costs[0] / scale[0]), float(costs[1] / scale[1])


RATIOS = np.geomspace(15.0, 10_000.0, 40)
"""Bytes: the ratios of the costs that are tried; a card that passes full-sized packets at line rate has a smaller one."""

RATIO_SIGMA = 0.9
"""Scatter of the logarithm of the ratio between engines: hardware has some 130 to 250 bytes, software a few thousand."""

PLAUSIBLE = 2.3
"""Rise of chi-squared that is still plausible: one and a half standard deviations."""


def plausible_ratios(full: Sequence[Point], calm: Sequence[Point], prior_packet_bytes: float, scatter: float) -> tuple[float, float]:
    """Smallest and largest ratio of the costs (bytes) that the seconds allow.

    For each ratio the capacity follows from the full seconds; their scatter around it, the calm seconds above it and the
    distance from the prior make up chi-squared.

    Parameters
    ----------
    full, calm, prior_packet_bytes
        As in `fit_costs`; `full` is not empty.
    scatter
        Scatter of the load of a full second.
    """
    points = np.array(full, dtype=float)
    loads = RATIOS[:, None] * points[:, 0] + points[:, 1]
    capacity = np.quantile(loads, UPPER, axis=1, keepdims=True)
    # Full for a part of the second only: no more against a ratio than two standard deviations. Seconds of one storm say the same.
    chi2 = np.minimum(((loads / capacity - 1.0) / scatter) ** 2, 4.0).sum(axis=1) * min(1.0, INDEPENDENT / len(points))
    if len(calm):
        ceilings = np.array(calm, dtype=float)
        above = np.maximum((RATIOS[:, None] * ceilings[:, 0] + ceilings[:, 1]) / capacity - 1.0, 0.0)
        chi2 += ((above / scatter) ** 2).sum(axis=1)
    chi2 += (np.log(RATIOS / prior_packet_bytes) / RATIO_SIGMA) ** 2
    allowed = RATIOS[chi2 <= chi2.min() + PLAUSIBLE]
    return float(allowed[0]), float(allowed[-1])
