"""Pressure on PCIe and on the host's CPU, from the counters that only the live measurement has."""

from __future__ import annotations

from wallwatch.domain.isolation.readings import Extras
from wallwatch.domain.isolation.second import FEW_PARTS
from wallwatch.domain.isolation.verdicts import Mechanism

PCIE_STALLED_US_PER_S = 50_000.0
"""Time per second in which PCIe reads or writes stalled, below which nothing is concluded: a twentieth of the time. mlx5 itself counts a
second as one of stalls from 30% on."""

PCIE_OVERFLOWS_PER_S = 100.0
"""Packets per second dropped because PCIe was too slow, below which nothing is concluded."""

SQUEEZED_PER_S = 50.0
"""Softirq rounds per second that ran out of budget, below which nothing is concluded."""

ABOVE_USUAL = 5.0
"""A rate counts when it is this many times its usual one: some cards count stalls all the time."""

WEIGHT = 0.05


class Pressure:
    """Rates of the pressure counters, and what is usual for them."""

    __slots__ = ("_last", "_t", "_usual_squeezed", "_usual_stalled", "overflowed", "processed", "softnet_dropped", "squeezed", "stalled")

    def __init__(self) -> None:
        self._last: Extras | None = None
        self._t = 0.0
        self._usual_stalled = self._usual_squeezed = 0.0
        self.stalled = self.overflowed = self.squeezed = self.softnet_dropped = self.processed = 0.0
        """Per second in the last interval, stalls in microseconds; 0 where unknown, which concludes nothing."""

    def update(self, new: Extras | None, t: float) -> None:
        """Take the extras of a reading."""
        old, span = self._last, t - self._t
        self._last, self._t = new, t
        self.stalled = self.overflowed = self.squeezed = self.softnet_dropped = self.processed = 0.0
        if old is None or new is None or span <= 0:
            return
        stalled = _rise(old.pcie_stalled_writes, new.pcie_stalled_writes) + _rise(old.pcie_stalled_reads, new.pcie_stalled_reads)
        self.stalled = stalled / span
        self.overflowed = _rise(old.pcie_buffer_overflows, new.pcie_buffer_overflows) / span
        self.squeezed = _rise(old.softnet_squeezed, new.softnet_squeezed) / span
        self.softnet_dropped = _rise(old.softnet_dropped, new.softnet_dropped) / span
        self.processed = _rise(old.softnet_processed, new.softnet_processed) / span

    def learn(self) -> None:
        """Take a calm interval as usual."""
        self._usual_stalled += WEIGHT * (self.stalled - self._usual_stalled)
        self._usual_squeezed += WEIGHT * (self.squeezed - self._usual_squeezed)

    @property
    def cpu_drops(self) -> float:
        """Packets per second that the host's CPUs dropped, if more than a few."""
        return self.softnet_dropped if self.softnet_dropped > FEW_PARTS * self.processed else 0.0

    @property
    def mechanism(self) -> Mechanism | None:
        """PCIe or CPU when its counters rise beyond the usual; None otherwise."""
        stalls = self.stalled > max(PCIE_STALLED_US_PER_S, ABOVE_USUAL * self._usual_stalled)
        if stalls or self.overflowed > PCIE_OVERFLOWS_PER_S:
            return Mechanism.PCIE
        if self.cpu_drops > 0 or self.squeezed > max(SQUEEZED_PER_S, ABOVE_USUAL * self._usual_squeezed):
            return Mechanism.CPU
        return None


def _rise(old: int | None, new: int | None) -> float:
    """Increase of a counter; 0 where it is missing or has started again."""
    return float(max(0, new - old)) if old is not None and new is not None else 0.0
