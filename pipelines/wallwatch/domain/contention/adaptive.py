"""Which configurations to measure when measuring is expensive: adaptive profiling (Yala, section 5.2, algorithm 1).

Attributes of traffic that do not change the solo throughput are dropped. The range of the others is halved as long as throughput differs
between its ends, and random contention is measured in the middle of each part. Two departures from the print: attributes are dropped first
and the range is walked once (the print calls it once for each attribute); and a range whose ends agree is also split for each attribute
alone, because attributes that move together along a diagonal can cancel out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf

import numpy as np

Traffic = dict[str, float]
Measure = Callable[[Traffic, float], float]
"""Throughput of a traffic at a contention level from 0 (alone) to 1 (the heaviest bench)."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """The range of one attribute of traffic, and the value while others vary."""

    low: float
    high: float
    default: float

    def __post_init__(self) -> None:
        if not -inf < self.low <= self.default <= self.high < inf:
            raise ValueError(f"an attribute needs finite low <= default <= high, not {self.low}, {self.default}, {self.high}")


@dataclass(frozen=True, slots=True)
class Measured:
    """One configuration and its throughput."""

    traffic: Mapping[str, float]
    contention: float
    throughput: float


@dataclass
class Profile:
    """What was measured; `kept` are the attributes that matter."""

    kept: tuple[str, ...] = ()
    rows: list[Measured] = field(default_factory=list)


class _QuotaReached(Exception):
    """Stops the walk from any depth."""


def profile(
    attributes: Mapping[str, Attribute],
    measure: Measure,
    quota: int,
    drop_below: float = 0.03,
    split_above: float = 0.05,
    per_split: int = 3,
    seed: int = 0,
    fill: bool = False,
) -> Profile:
    """Measure at most `quota` configurations; one that was measured before costs nothing.

    Parameters
    ----------
    drop_below, split_above
        Differences of solo throughput, as shares of that of the default traffic (the paper's epsilon 0 and 1).
    per_split
        Measurements at random contention in the middle of each range (the paper's m).
    fill
        Spend what the walk leaves of the quota on random contention at random traffic, of the attributes that matter.
    """
    if quota < 1:
        raise ValueError(f"the quota must be at least 1, not {quota}")
    random = np.random.default_rng(seed)
    found = Profile()
    known: dict[tuple[tuple[tuple[str, float], ...], float], float] = {}
    default = {name: attribute.default for name, attribute in attributes.items()}

    def throughput(traffic: Traffic, contention: float) -> float:
        key = (tuple(sorted(traffic.items())), contention)
        if key not in known:
            if len(found.rows) >= quota:
                raise _QuotaReached
            known[key] = measure(traffic, contention)
            found.rows.append(Measured(dict(traffic), contention, known[key]))
        return known[key]

    try:
        solo = throughput(default, 0.0)
        found.kept = tuple(
            name
            for name, attribute in attributes.items()
            if abs(throughput({**default, name: attribute.high}, 0.0) - throughput({**default, name: attribute.low}, 0.0))
            >= drop_below * solo
        )
        low = {**default, **{name: attributes[name].low for name in found.kept}}
        high = {**default, **{name: attributes[name].high for name in found.kept}}
        _walk(low, high, found.kept, throughput, split_above * solo, per_split, random)
        for _ in range(quota if fill else 0):
            between = {name: low[name] + float(random.uniform()) * (high[name] - low[name]) for name in found.kept}
            throughput({**default, **between}, float(random.uniform()))
    except _QuotaReached:
        pass
    return found


def _walk(
    low: Traffic, high: Traffic, kept: tuple[str, ...], throughput: Measure, least: float, per_split: int, random: np.random.Generator
) -> None:
    """Split ranges breadth first, so that the quota covers all of the range before details of a part."""
    ranges = deque([(low, high)])
    while ranges:
        start, end = ranges.popleft()
        first, last = throughput(start, 0.0), throughput(end, 0.0)
        if all(abs(end[name] - start[name]) <= 1e-6 * max(abs(end[name]), 1.0) for name in kept):
            continue
        if abs(last - first) >= least:
            middle = {**start, **{name: (start[name] + end[name]) / 2 for name in kept}}
            for _ in range(per_split):
                throughput(middle, float(random.uniform(0.0, 1.0)))
            ranges += [(middle, end), (start, middle)]
            continue
        for name in kept if len(kept) > 1 else ():
            corner = {**start, name: end[name]}
            if corner not in (start, end) and abs(throughput(corner, 0.0) - first) >= least:
                ranges.append((start, corner))
