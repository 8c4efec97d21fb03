"""Challenger vs. champion: forecasts for the same RNICs and minutes, compared with what happened.

Losses of neighbouring minutes have the same causes, so hours are compared, not minutes: the challenger is better when the mean of the
hourly differences lies below zero by more than two standard errors, over at least a day, because loads have a daily rhythm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wallwatch.domain.forecast.targets import Floats

HOUR_MIN = 60
FEWEST_HOURS = 24
MOST_HOURS = 168
FULL_MIN = 30
"""Minutes of an hour that must have been compared for it to count."""
ERRORS = 2.0
"""Standard errors by which a difference must exceed zero."""


@dataclass
class Comparison:
    """Losses of two models, hour by hour."""

    champion: str
    challenger: str
    hours: list[tuple[float, float]] = field(default_factory=list)
    """Mean losses of champion and challenger, newest last."""
    hour: int = -1
    minutes: int = 0
    sums: tuple[float, float] = (0.0, 0.0)

    def add(self, minute: int, champion: Floats, challenger: Floats) -> None:
        """Add the losses of one minute, arrays (rnics, targets); values that only one model predicted do not count."""
        n = min(len(champion), len(challenger))
        both = ~np.isnan(champion[:n]) & ~np.isnan(challenger[:n])
        if not both.any():
            return
        if minute // HOUR_MIN != self.hour:
            if self.minutes >= FULL_MIN:
                self.hours = [*self.hours, (self.sums[0] / self.minutes, self.sums[1] / self.minutes)][-MOST_HOURS:]
            self.hour, self.minutes, self.sums = minute // HOUR_MIN, 0, (0.0, 0.0)
        self.minutes += 1
        self.sums = (self.sums[0] + float(champion[:n][both].mean()), self.sums[1] + float(challenger[:n][both].mean()))

    @property
    def verdict(self) -> str:
        """The challenger is better, worse, no_difference or not_enough.

        >>> Comparison("a", "b", [(2.0, 1.0), (2.0, 1.1)] * 12).verdict, Comparison("a", "b", [(2.0, 1.0)] * 23).verdict
        ('better', 'not_enough')
        >>> Comparison("a", "b", [(2.0, 1.0), (1.0, 2.0)] * 12).verdict
        'no_difference'
        """
        if len(self.hours) < FEWEST_HOURS:
            return "not_enough"
        difference = np.array([challenger - champion for champion, challenger in self.hours])
        error = float(difference.std(ddof=1)) / np.sqrt(len(difference))
        mean = float(difference.mean())
        if abs(mean) <= ERRORS * error or mean == 0.0:
            return "no_difference"
        return "better" if mean < 0 else "worse"

    def describe(self) -> dict[str, Any]:
        """As `judged` in the table `forecast_model`."""
        means = np.mean(self.hours, axis=0) if self.hours else None
        return {
            "champion": self.champion,
            "verdict": self.verdict,
            "hours": len(self.hours),
            "champion_loss": None if means is None else round(float(means[0]), 6),
            "loss": None if means is None else round(float(means[1]), 6),
        }

    def state(self) -> dict[str, Any]:
        """The state that `restored` continues from."""
        return {"champion": self.champion, "hours": self.hours, "hour": self.hour, "minutes": self.minutes, "sums": self.sums}

    @classmethod
    def restored(cls, champion: str, challenger: str, state: Mapping[str, Any] | None) -> Comparison:
        """Continue from a state; start afresh if there is none, it belongs to another champion, or `state` did not write it."""
        if state is None or state.get("champion") != champion:
            return cls(champion, challenger)
        try:
            hours = [(float(a), float(b)) for a, b in state["hours"]]
            first, second = map(float, state["sums"])
            return cls(champion, challenger, hours, int(state["hour"]), int(state["minutes"]), (first, second))
        except (KeyError, TypeError, ValueError):
            return cls(champion, challenger)
