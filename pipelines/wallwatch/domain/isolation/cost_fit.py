"""The refit of an engine's costs: a small problem of non-negative least squares. It runs only when an overloaded second says something new."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

ROUNDS = 4
"""Calm seconds above the fitted capacity join the equations; a few rounds settle which ones."""

PARTLY_FULL = 0.75
"""A full second with a smaller load was full for a part of the second only: it says nothing of the capacity."""

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
    prior_loads = np.array([packet_part, 1 - packet_part]) / prior_scatter
    binding = np.zeros(len(ceilings), dtype=bool)
    kept = np.ones(len(points), dtype=bool)
    costs = np.zeros(2)
    for _ in range(ROUNDS):
        rows = np.vstack([points[kept], ceilings[binding], prior])
        loads = np.concatenate([np.ones(int(kept.sum()) + int(binding.sum())), prior_loads])
        costs, _ = nnls(rows, loads)
        now_binding = binding | (ceilings @ costs > 1.0)
        now_kept = points @ costs >= PARTLY_FULL
        if not now_kept.any():
            now_kept = kept
        if (now_binding == binding).all() and (now_kept == kept).all():
            break
        binding, kept = now_binding, now_kept
    return float(costs[0] / scale[0]), float(costs[1] / scale[1])
