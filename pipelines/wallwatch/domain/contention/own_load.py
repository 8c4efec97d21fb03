"""What a function itself does to the memory subsystem: its own counters by its number of flows, measured while it runs alone.

A memory profile has the counters of the *competitors*. To predict a function's neighbours, its own counters are required as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wallwatch.domain.contention.counters import COUNTER_NAMES, Counters
from wallwatch.domain.contention.gaussian_process import Array

_FLOWS, _FIRST_COUNTER = 0, 2


@dataclass(frozen=True, slots=True)
class OwnLoad:
    """`points` are (flows, counters) in ascending order of flows."""

    points: tuple[tuple[float, Counters], ...]

    def at(self, flows: float) -> Counters:
        """Counters at a number of flows: linear in its logarithm between the points, constant outside of them.

        >>> few, many = Counters(1, 1e9, 1e6, 1e6, 1e8, 1e8, 2), Counters(1, 1e9, 3e6, 1e6, 1e8, 1e8, 8)
        >>> round(OwnLoad(((1000.0, few), (100_000.0, many))).at(10_000).working_set_mb, 6)
        5.0
        """
        places = np.log([point for point, _ in self.points])
        columns = np.array([counters for _, counters in self.points])
        return Counters(*(float(np.interp(np.log(max(flows, 1.0)), places, column)) for column in columns.T))

    @classmethod
    def of_rows(cls, rows: Array) -> OwnLoad:
        """From rows of flows, packet size and the function's own seven counters; rows with the same number of flows are averaged."""
        flows = np.unique(rows[:, _FLOWS])
        means = [rows[rows[:, _FLOWS] == value, _FIRST_COUNTER:].mean(axis=0) for value in flows]
        return cls(tuple((float(value), Counters(*map(float, mean))) for value, mean in zip(flows, means, strict=True)))

    def as_json(self) -> list[dict[str, float]]:
        return [{"flows": flows, **counters._asdict()} for flows, counters in self.points]

    @classmethod
    def from_json(cls, body: Sequence[Mapping[str, Any]]) -> OwnLoad:
        return cls(tuple((float(row["flows"]), Counters(*(float(row[name]) for name in COUNTER_NAMES))) for row in body))
