"""The level of a metric on the healthy default, its noise, and from where on a value is degraded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median, pstdev

from wallwatch.domain.lab.conditions import Signal
from wallwatch.domain.lab.device import Metric

NOTICEABLE = 0.05
"""A metric that is worse by so much is degraded (paper, section 1: "noticeable")."""
SCALES = 4
"""... and by so many times its noise."""
SMALLEST_SCALE = 0.005
"""The noise of a metric is taken to be at least this share of it: five tests cannot show less."""


@dataclass
class Level:
    """A metric of the healthy default: median, noise (1.4826 x median absolute deviation), and where a degradation is cut off."""

    metric: Metric
    median: float
    scale: float
    spread: float = 0.0
    """The standard deviation. The median deviation of few tests is small by chance too often to tell a metric without noise."""
    cuts: dict[Signal, float] = field(default_factory=dict)

    @property
    def sign(self) -> float:
        return 1.0 if self.metric.better == "higher" else -1.0

    @property
    def floor(self) -> float:
        """The noise in units of the metric, with the smallest that is assumed."""
        return max(self.scale, SMALLEST_SCALE * abs(self.median), 1e-12)

    def loss(self, value: float) -> float:
        """How much worse than healthy, as a share of the healthy value; negative when better."""
        return self.sign * (self.median - value) / max(abs(self.median), 1e-12)

    def is_suspect(self, value: float) -> bool:
        """One value that is worth a second look."""
        return self.loss(value) >= NOTICEABLE and self.sign * (self.median - value) >= min(SCALES * self.floor, 2 * self.scale + self.floor)

    @property
    def first_cut(self) -> float:
        return self.median * (1 - self.sign * NOTICEABLE * math.copysign(1, self.median))


def metric_level(metric: Metric, values: Sequence[float]) -> Level:
    middle = median(values)
    return Level(metric, middle, 1.4826 * median(abs(one - middle) for one in values), pstdev(values))
