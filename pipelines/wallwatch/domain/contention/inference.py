"""What an accelerator costs a function, from outside: queues, time per request and its growth with matches (Yala, section 5.1.1).

The function runs next to a bench with known queues and service time that keeps the engine saturated.
Then `1 / T = t + (n_bench / n) t_bench`, a line in `n_bench t_bench`: its slope gives `n`, its intercept `t`;
and `t = t0 + a m` is a line in the match-to-byte ratio `m`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np


class NotIdentifiable(ValueError):
    """The runs do not determine the engine's parameters; the message says which runs are missing."""


@dataclass(frozen=True, slots=True)
class CoRun:
    """One measurement: the function next to the bench. Times in the inverse of the throughput's unit."""

    matches: float
    """Match-to-byte ratio of the function's own traffic, in matches/MB."""
    bench_queues: int
    bench_time: float
    throughput: float

    def __post_init__(self) -> None:
        values = (self.matches, self.bench_queues, self.bench_time, self.throughput)
        if (
            not all(isfinite(value) for value in values)
            or min(self.bench_queues, self.bench_time, self.throughput) <= 0
            or self.matches < 0
        ):
            raise NotIdentifiable(f"a run needs positive finite values (matches may be 0), not {values}")


@dataclass(frozen=True, slots=True)
class EngineProfile:
    """A function's use of an accelerator: `queues`, and a service time of `t0 + a m`."""

    queues: int
    t0: float
    a: float
    t0_error: float | None = None
    """One standard error; None where the points determine the line exactly, so that nothing is left to estimate it from."""
    a_error: float | None = None
    queues_fit: float | None = None
    """The number of queues before rounding: far from a whole number, the runs do not follow the model."""

    packet_bytes: float | None = None
    """Packet size at which `a` was measured: matches per MB are matches per packet only at one size. None: it means nothing to others."""

    def per_match(self, packet_bytes: float) -> float:
        """What a match per MB adds to the service time of packets of this size."""
        return self.a if self.packet_bytes is None else self.a * packet_bytes / self.packet_bytes

    def service_time(self, matches: float, packet_bytes: float | None = None) -> float:
        """
        >>> round(EngineProfile(1, 0.5, 0.01, packet_bytes=1000.0).service_time(100.0, 500.0), 6)
        1.0
        """
        return self.t0 + (self.a if packet_bytes is None else self.per_match(packet_bytes)) * matches


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float, float | None, float | None]:
    """Intercept and slope of `(m, t)` by least squares of relative errors, with their standard errors (None for two points).

    Raises
    ------
    NotIdentifiable
        With fewer than two distinct abscissas.
    """
    x, y = (np.array(column, dtype=float) for column in zip(*points, strict=True)) if points else (np.zeros(0), np.zeros(0))
    if len(np.unique(x)) < 2:
        raise NotIdentifiable("at least two distinct match-to-byte ratios are required")
    design = np.column_stack([np.ones_like(x), x]) / y[:, None]  # errors are shares of the value: weigh by it
    found, *_ = np.linalg.lstsq(design, np.ones_like(y), rcond=None)
    if len(x) < 3:
        return float(found[0]), float(found[1]), None, None
    variance = float(((design @ found - 1.0) ** 2).sum()) / (len(x) - 2)
    inverse = np.linalg.pinv(design.T @ design)
    return float(found[0]), float(found[1]), sqrt(variance * inverse[0, 0]), sqrt(variance * inverse[1, 1])


def infer(runs: Iterable[CoRun]) -> EngineProfile:
    """Fit all runs together; at least two bench settings, and at least two match-to-byte ratios.

    The number of queues is the whole number that fits best. With it fixed, every run gives the service time at its ratio.

    Raises
    ------
    NotIdentifiable
        When the runs do not vary enough, or do not follow the model at all.
    """
    runs = list(runs)
    settings: dict[float, set[float]] = defaultdict(set)
    for run in runs:
        settings[run.matches].add(run.bench_queues * run.bench_time)
    if len(settings) < 2:
        raise NotIdentifiable("at least two match-to-byte ratios are required to separate t0 from a")
    if max(len(loads) for loads in settings.values()) < 2:
        raise NotIdentifiable("at least two bench settings (queues x time) at one match-to-byte ratio are required to find the queues")
    load = np.array([run.bench_queues * run.bench_time for run in runs])
    matches = np.array([run.matches for run in runs])
    period = np.array([1.0 / run.throughput for run in runs])
    design = np.column_stack([np.ones_like(load), matches, load]) / period[:, None]
    found, *_ = np.linalg.lstsq(design, np.ones_like(period), rcond=None)
    if found[2] <= 0:
        raise NotIdentifiable("throughput does not fall with the bench's load: the bench does not keep the engine busy")
    queues = max(1, round(1.0 / float(found[2])))
    own = period - load / queues
    # Least squares of relative errors of the period, as the measurement's noise is a share of it.
    plain = np.column_stack([np.ones_like(load), matches]) / period[:, None]
    fitted, *_ = np.linalg.lstsq(plain, own / period, rcond=None)
    residual = plain @ fitted - own / period
    freedom = len(runs) - 3
    errors: tuple[float | None, float | None] = (None, None)
    if freedom > 0:
        inverse = np.linalg.pinv(plain.T @ plain) * float((residual**2).sum()) / freedom
        errors = (sqrt(inverse[0, 0]), sqrt(inverse[1, 1]))
    t0, a = float(fitted[0]), float(fitted[1])
    if t0 + a * float(matches.min()) <= 0:
        raise NotIdentifiable("the fitted service time is not positive: the bench's service time or queues are probably wrong")
    return EngineProfile(queues, t0, a, *errors, queues_fit=1.0 / float(found[2]))
