"""Live errors of champion and challenger: predicted vs. actual values, and how far the errors are from those at training."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.predict import Forecast
from wallwatch.domain.forecast.quantile_loss import quantile_loss
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, Floats, scales, targets
from wallwatch.forecasting.registry.metrics import HORIZON_MIN, MEAN, P95

MEMORY = 0.999
"""Weight of the old mean in each minute: means cover about the last day."""
RESOLUTION = 1e-3
"""Errors below a thousandth of a wall never count as drift: a fleet that was idle at training may move a little."""
LEAST_MIN = 120
"""Minutes before drift is reported: the errors of one hour may have a single cause."""
EXPECTED_BEYOND = 0.05
DRIFTED_BEYOND = 0.15
"""Share of live errors above the 95th percentile at training: three times the expected share counts as drift."""
DRIFTED_RATIO = 1.5
"""Mean live error divided by that at training. It catches drift that the share misses when errors at training were large."""


@dataclass
class Score:
    """Errors of one model at 15 minutes, as shares of the wall, and how they compare with those at training.

    `learnt` is the mean error of the values that training has metrics for, `expected` the error at training for the same values.
    """

    minutes: int = 0
    error: float = 0.0
    beyond: float = 0.0
    inside: float = 0.0
    learnt: float = 0.0
    expected: float = 0.0
    _waiting: deque[tuple[int, Floats]] = field(default_factory=deque)

    def note(self, made: Forecast) -> None:
        """Remember the forecast for 15 minutes ahead."""
        self._waiting.append((made.minute + HORIZON_MIN, made.ahead[:, :, HORIZONS_MIN.index(HORIZON_MIN)]))
        while len(self._waiting) > HORIZON_MIN + 1:
            self._waiting.popleft()

    def settle(self, minute: int, values: Floats, models: list[str | None], metrics: Mapping[str, Mapping[str, float]]) -> Floats | None:
        """Compare the predictions for this minute with its values, shape (rnics, targets).

        Returns
        -------
        array (rnics, targets) or None
            The quantile loss of each forecast as a share of the wall, NaN where the value is unknown; None when there is no forecast for
            this minute.
        """
        while self._waiting and self._waiting[0][0] < minute:
            self._waiting.popleft()
        if not self._waiting or self._waiting[0][0] != minute:
            return None
        _, predicted = self._waiting.popleft()
        n = len(predicted)
        scale = scales(models[:n])
        middle = np.abs(values[:n] - predicted[:, :, len(QUANTILES) // 2]) / scale
        known = ~np.isnan(middle)
        if not known.any():
            return None
        inside = (values[:n] >= predicted[:, :, 0]) & (values[:n] <= predicted[:, :, -1])
        beyond = _beyond(middle, metrics)
        keep = min(MEMORY, self.minutes / (self.minutes + 1))
        self.error = keep * self.error + (1 - keep) * float(middle[known].mean())
        self.inside = keep * self.inside + (1 - keep) * float(inside[known].mean())
        if beyond is not None:
            self.beyond = keep * self.beyond + (1 - keep) * beyond
            at_training = np.array([metrics.get(target.name, {}).get(MEAN, np.nan) for target in targets()])
            both = known & ~np.isnan(at_training)
            if both.any():
                self.learnt = keep * self.learnt + (1 - keep) * float(middle[both].mean())
                at_least = np.broadcast_to(np.maximum(at_training, RESOLUTION), middle.shape)
                self.expected = keep * self.expected + (1 - keep) * float(at_least[both].mean())
        self.minutes += 1
        return quantile_loss(values[:n], predicted) / scale

    @property
    def drifted(self) -> bool:
        """Whether the fleet no longer matches the model's training data."""
        return self.minutes >= LEAST_MIN and (self.beyond > DRIFTED_BEYOND or (self.ratio or 0.0) > DRIFTED_RATIO)

    @property
    def ratio(self) -> float | None:
        """Mean live error divided by the mean error at training."""
        return self.learnt / self.expected if self.expected else None

    @classmethod
    def restored(cls, described: Mapping[str, Any]) -> Score:
        """Continue from the output of `describe`; start afresh if there is none or `describe` did not write it.

        >>> described = {"minutes": 200, "mean_error": 0.01, "beyond_training": 0.2, "coverage": 0.9}
        >>> Score.restored(described | {"learnt_error": 0.01, "expected_error": 0.01}).drifted
        True
        >>> Score.restored({"minutes": "many"}).minutes
        0
        """
        try:
            return cls(
                minutes=int(described["minutes"]),
                error=float(described["mean_error"]),
                beyond=float(described["beyond_training"]),
                inside=float(described["coverage"]),
                learnt=float(described["learnt_error"]),
                expected=float(described["expected_error"]),
            )
        except (KeyError, TypeError, ValueError):
            return cls()

    def describe(self) -> dict[str, Any]:
        """For the table `forecast_model`."""
        return {
            "horizon_min": HORIZON_MIN,
            "minutes": self.minutes,
            "mean_error": round(self.error, 5),
            "coverage": round(self.inside, 4),
            "beyond_training": round(self.beyond, 4),
            "expected_beyond": EXPECTED_BEYOND,
            "learnt_error": round(self.learnt, 6),
            "expected_error": round(self.expected, 6),
            "error_ratio": None if self.ratio is None else round(self.ratio, 3),
            "drifted": self.drifted,
        }


def _beyond(error: Floats, metrics: Mapping[str, Mapping[str, float]]) -> float | None:
    """The share of errors above the 95th percentile at training."""
    flags: list[npt.NDArray[np.bool_]] = []
    for k, target in enumerate(targets()):
        p95 = metrics.get(target.name, {}).get(P95)
        known = ~np.isnan(error[:, k])
        if p95 is not None and known.any():
            flags.append(error[known, k] > p95 + RESOLUTION)
    return float(np.concatenate(flags).mean()) if flags else None
