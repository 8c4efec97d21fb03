"""Which of the measured numbers a fit uses: of each file and run one point (Q_l, Q_r, value) at one message size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from wallwatch.domain.perftest.runs import Quantity, Row, Run, Verb

Statistic = Literal["average", "typical", "p99"]
"""Column of latency that is fitted. `average` is what every version and mode of the tools prints."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A run under known lookups."""

    source: str
    q_l: float
    q_r: float
    run: Run


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a fit: Gbit/s or microseconds at a message size."""

    source: str
    q_l: float
    q_r: float
    message_bytes: int
    value: float


def value_of(row: Row, quantity: Quantity, statistic: Statistic, bidirectional: bool) -> float | None:
    """The number that is fitted; one direction's share of a bandwidth in both."""
    if quantity == "bandwidth":
        value = row.average_gbps if row.average_gbps is not None else row.peak_gbps
        return value / 2 if value is not None and bidirectional else value
    if statistic == "p99":
        return row.p99_us
    if statistic == "typical" and row.typical_us is not None:
        return row.typical_us
    return row.average_us if row.average_us is not None else row.typical_us


def points_of(measured: Iterable[Measured], quantity: Quantity, verb: Verb, statistic: Statistic = "average") -> list[Point]:
    """Every point of one quantity and verb at every message size; rows of one size in one run (a run without end) give their median."""
    found = []
    for one in measured:
        if one.run.quantity != quantity or one.run.verb != verb:
            continue
        by_size: dict[int, list[float]] = {}
        for row in one.run.rows:
            value = value_of(row, quantity, statistic, one.run.bidirectional)
            if value is not None:
                by_size.setdefault(row.message_bytes, []).append(value)
        found += [Point(one.source, one.q_l, one.q_r, size, median(values)) for size, values in by_size.items()]
    return found


def fitted_size(points: Sequence[Point], quantity: Quantity, wanted: int | None = None) -> int | None:
    """The message size to fit: of bandwidth the largest (the line is full), of latency the smallest (nothing is serialised) that most of
    the (Q_l, Q_r) were measured at.

    >>> points = [Point("a", 0, 0, 2, 1.0), Point("a", 0, 0, 4096, 9.0), Point("b", 9, 9, 2, 1.0)]
    >>> fitted_size(points, "latency"), fitted_size(points, "bandwidth"), fitted_size(points, "bandwidth", wanted=4096)
    (2, 2, 4096)
    """
    at: dict[int, set[tuple[float, float]]] = {}
    for point in points:
        at.setdefault(point.message_bytes, set()).add((point.q_l, point.q_r))
    if wanted is not None:
        return wanted if wanted in at else None
    if not at:
        return None
    most = max(len(where) for where in at.values())
    sizes = [size for size, where in at.items() if len(where) == most]
    return max(sizes) if quantity == "bandwidth" else min(sizes)
