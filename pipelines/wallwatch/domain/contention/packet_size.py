"""What the bytes of a packet cost a function, apart from flows and contention: time per packet grows with its size in a line.

A profile varies packet sizes only where they matter (`adaptive`), and then together with the flows: one regression over both would take
one for the other. The rows without competitors tell them apart, and the other rows are brought to the smallest size before anything else is
learnt from them. A profile with packets of one size knows nothing of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from wallwatch.domain.contention.gaussian_process import STEP_GAIN, Array, surprise

_FLOWS, _PACKET_BYTES, _FIRST_COUNTER, _THROUGHPUT = 0, 1, 2, 9
_LARGEST_SHARE = 0.95
"""Of the time of the fastest row that its bytes may take: the rest of a packet takes time, too."""


@dataclass(frozen=True, slots=True)
class PacketSize:
    """Each byte beyond `smallest` adds `per_byte` (1/kpps) to the time per packet."""

    smallest: float
    per_byte: float

    def slowed(self, throughput: Array, packet_bytes: Array) -> Array:
        """Throughput at these sizes, given that at the smallest.

        >>> PacketSize(64.0, 1e-6).slowed(np.array([1000.0]), np.array([1064.0])).round(6)
        array([500.])
        """
        if self.per_byte == 0:
            return throughput
        return np.asarray(1.0 / (1.0 / throughput + self.per_byte * np.maximum(packet_bytes - self.smallest, 0.0)))

    def removed(self, rows: Array) -> Array:
        """Rows of a memory profile as if all their packets had the smallest size."""
        if self.per_byte == 0:
            return rows
        found = rows.copy()
        found[:, _THROUGHPUT] = 1.0 / (1.0 / rows[:, _THROUGHPUT] - self.per_byte * np.maximum(rows[:, _PACKET_BYTES] - self.smallest, 0.0))
        return found

    def as_json(self) -> dict[str, float]:
        return {"smallest": self.smallest, "per_byte": self.per_byte}

    @classmethod
    def from_json(cls, body: Mapping[str, float] | None) -> PacketSize:
        return NO_EFFECT if body is None else cls(float(body["smallest"]), float(body["per_byte"]))


NO_EFFECT = PacketSize(0.0, 0.0)


def learn(rows: Array) -> PacketSize:
    """From rows of a memory profile: what explains those without competitors best, next to a smooth curve of the flows.

    No effect, unless it makes them more probable by a factor of 20, as a step of the curve has to.
    """
    alone = rows[~rows[:, _FIRST_COUNTER:_THROUGHPUT].any(axis=1)]
    if len(np.unique(alone[:, _PACKET_BYTES])) < 2:
        return NO_EFFECT
    smallest, period = float(rows[:, _PACKET_BYTES].min()), 1.0 / alone[:, _THROUGHPUT]
    beyond = alone[:, _PACKET_BYTES] - smallest
    every = rows[:, _PACKET_BYTES] - smallest
    most = _LARGEST_SHARE * float(np.min(1.0 / rows[every > 0, _THROUGHPUT] / every[every > 0]))

    def improbable(per_byte: float) -> float:
        left = period - per_byte * beyond
        # The second term is that of the change of variables: without it, small rests would look well explained.
        return surprise(alone[:, _FLOWS], 1.0 / left) - float(np.log(period / left).sum())

    found = minimize_scalar(improbable, bounds=(0.0, most), method="bounded", options={"xatol": 1e-6 * most})
    if improbable(0.0) - float(found.fun) < STEP_GAIN:
        return NO_EFFECT
    return PacketSize(smallest, float(found.x))
