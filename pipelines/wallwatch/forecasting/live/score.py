"""Champion and challenger on live data: what each foretold for now, against what is; and how far that is from training."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.predict import Forecast
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, Floats, scales, targets
from wallwatch.forecasting.registry.metrics import HORIZON_MIN, MEAN, P95

MEMORY = 0.999
"""Of an old mean that is kept at each minute: means are of about the last day."""
RESOLUTION = 1e-3
"""Errors of less than a thousandth of a wall are never drift: a fleet that stood still at training may move a little."""
LEAST_MIN = 120
"""Minutes before drift is told: errors of an hour may have one cause."""
EXPECTED_BEYOND = 0.05
DRIFTED_BEYOND = 0.15
"""Of live errors beyond the 95th percentile of those of training: three times what is expected counts as drift."""
DRIFTED_RATIO = 1.5
"""Of the mean live error to that of training. Where training knew great errors, others are seldom beyond them, and yet twice as great."""


@dataclass
class Score:
    """Errors of one model at 15 minutes, as shares of the wall, and how they compare with those at training.

    `learnt` is the mean error of the values that training has metrics of, `expected` what training had for the same.
    """

    minutes: int = 0
    error: float = 0.0
    beyond: float = 0.0
    inside: float = 0.0
    learnt: float = 0.0
    expected: float = 0.0
    _waiting: deque[tuple[int, Floats]] = field(default_factory=deque)

    def note(self, made: Forecast) -> None:
        """Remember what was foretold for 15 minutes ahead."""
        self._waiting.append((made.minute + HORIZON_MIN, made.ahead[:, :, HORIZONS_MIN.index(HORIZON_MIN)]))
        while len(self._waiting) > HORIZON_MIN + 1:
            self._waiting.popleft()

    def settle(self, minute: int, values: Floats, models: list[str | None], metrics: Mapping[str, Mapping[str, float]]) -> Floats | None:
        """Compare what was foretold for this minute with its values, shape (rnics, targets).

        Returns
        -------
        array (rnics, targets) or None
            The quantile loss of each forecast as a share of the wall, NaN where the value is not known; None when nothing was foretold for
            this minute.
        """
        while self._waiting and self._waiting[0][0] < minute:
            self._waiting.popleft()
        if not self._waiting or self._waiting[0][0] != minute:
            return None
        _, foretold = self._waiting.popleft()
        n = len(foretold)
        scale = scales(models[:n])
        middle = np.abs(values[:n] - foretold[:, :, len(QUANTILES) // 2]) / scale
        known = ~np.isnan(middle)
        if not known.any():
            return None
        inside = (values[:n] >= foretold[:, :, 0]) & (values[:n] <= foretold[:, :, -1])
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
        return quantile_loss(values[:n], foretold) / scale

    @property
    def drifted(self) -> bool:
        """Whether the fleet is not any more what the model was trained on."""
        return self.minutes >= LEAST_MIN and (self.beyond > DRIFTED_BEYOND or (self.ratio or 0.0) > DRIFTED_RATIO)

    @property
    def ratio(self) -> float | None:
        """How many times as great as at training errors are."""
        return self.learnt / self.expected if self.expected else None

    @classmethod
    def restored(cls, described: Mapping[str, Any]) -> Score:
        """Go on from what `describe` said; anew where that is nothing, or was not written by it.

        >>> told = {"minutes": 200, "mean_error": 0.01, "beyond_training": 0.2, "coverage": 0.9}
        >>> Score.restored(told | {"learnt_error": 0.01, "expected_error": 0.01}).drifted
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


def quantile_loss(values: Floats, foretold: Floats) -> Floats:
    """The mean loss over the quantiles: least for whoever tells the true ones, so that neither wide nor narrow intervals pay.

    Parameters
    ----------
    values : array (...)
    foretold : array (..., quantiles)

    Examples
    --------
    >>> quantile_loss(np.array([10.0]), np.array([[8.0, 10.0, 12.0], [4.0, 10.0, 12.0]])).round(3).tolist()
    [0.067, 0.133]
    """
    above = values[..., None] - foretold
    levels = np.array(QUANTILES)
    return np.asarray(np.maximum(levels * above, (levels - 1.0) * above).mean(axis=-1))


def _beyond(error: Floats, metrics: Mapping[str, Mapping[str, float]]) -> float | None:
    """The share of errors that are greater than 95 % of those at training."""
    flags: list[npt.NDArray[np.bool_]] = []
    for k, target in enumerate(targets()):
        p95 = metrics.get(target.name, {}).get(P95)
        known = ~np.isnan(error[:, k])
        if p95 is not None and known.any():
            flags.append(error[known, k] > p95 + RESOLUTION)
    return float(np.concatenate(flags).mean()) if flags else None
