"""Arrival times of packets: renewal processes whose rate may change at any time."""

from __future__ import annotations

from math import sqrt

import numpy as np

PACING_JITTER = 0.5
"""Gaps of a paced sender vary uniformly by this share [ours]."""
SLOT_US = 8.0
"""A timing wheel releases all packets of a slot at once [ours]: a paced sender's packets come in small bursts."""
WIRE_US = 0.05
"""Between packets of one burst."""


class Source:
    """One VF's packets. Gaps are drawn in units of the mean gap, so that a change of rate stretches the gap that has begun."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._next_gaps = rng.random()

    def times_us(self, start_us: float, end_us: float, pps: float, *, paced: bool) -> np.ndarray:
        """Arrivals from `start_us` to `end_us`, sorted; consecutive calls must not overlap."""
        rate = pps / 1e6
        span = (end_us - start_us) * rate
        if span <= self._next_gaps:
            self._next_gaps -= span
            return np.empty(0)
        at = np.array([self._next_gaps])
        while at[-1] < span:
            count = int(span - at[-1] + 4 * sqrt(span)) + 8
            gaps = self._rng.uniform(1 - PACING_JITTER, 1 + PACING_JITTER, count) if paced else self._rng.exponential(1.0, count)
            at = np.concatenate([at, at[-1] + np.cumsum(gaps)])
        inside = int(np.searchsorted(at, span))
        self._next_gaps = float(at[inside] - span)
        arrivals: np.ndarray = start_us + at[:inside] / rate
        return _in_slots(arrivals) if paced else arrivals


def _in_slots(arrivals: np.ndarray) -> np.ndarray:
    """The same packets, each at the beginning of its slot and one after the other."""
    slots = np.floor(arrivals / SLOT_US)
    rank = np.arange(len(arrivals)) - np.searchsorted(slots, slots)
    released: np.ndarray = slots * SLOT_US + rank * WIRE_US
    return released
