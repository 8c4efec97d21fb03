"""Work and its reference, measured in turns: what disturbs one disturbs the other."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Paired:
    """One ratio per round: CPU time of the work divided by that of the reference next to it."""

    ratios: tuple[float, ...]
    work_us: float
    """CPU time per unit of the work, median over the rounds."""
    reference_us: float

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def spread(self) -> float:
        """Half of the range of the middle half of the rounds, relative to the ratio.

        >>> Paired((1.0, 2.0, 2.0, 2.0, 3.0), 1, 1).spread
        0.0
        """
        low, _, high = statistics.quantiles(self.ratios, n=4, method="inclusive")
        return (high - low) / 2 / self.ratio

    @classmethod
    def of(cls, work_s: Sequence[float], reference_s: Sequence[float], units: int) -> Paired:
        """From the CPU seconds of each round."""
        ratios = tuple(work / reference for work, reference in zip(work_s, reference_s, strict=True))
        return cls(ratios, statistics.median(work_s) / units * 1e6, statistics.median(reference_s) / units * 1e6)


def cpu_s(work: Callable[[], object]) -> float:
    """CPU time of this process for one call."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(work: Callable[[], object], reference: Callable[[], object], units: int, rounds: int, references: int = 1) -> Paired:
    """Call both in turns, the first of each round alternating. Call them once before, so that nothing is measured that happens only once.

    Parameters
    ----------
    units : int
        How many messages (or whatever is counted) one call handles.
    rounds : int
        At least 5: quartiles need some.
    references : int
        How many times the reference does what the work does once: a short one would measure the clock.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        times: dict[Callable[[], object], list[float]] = {work: [], reference: []}
        for number in range(rounds):
            for one in (work, reference) if number % 2 else (reference, work):
                times[one].append(cpu_s(one))
    finally:
        gc.enable()
        gc.unfreeze()
    return Paired.of(times[work], [spent / references for spent in times[reference]], units)
