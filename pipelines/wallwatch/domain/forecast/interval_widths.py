"""Interval widths that follow the outcomes: training calibrates them once, and each minute of live data corrects them a little.

Adaptive conformal inference (Gibbs and Candes, NeurIPS 2021) moves the nominal level of an interval after each outcome: wider after a miss,
narrower after a hit, so that the long-run share of misses is the nominal one even when the data changes. Here each outer quantile has a
factor for its distance from the median, and the logarithm of the factor moves: by `STEP` times (share of misses - 5%) per minute. That is
the quantile tracker of Angelopoulos, Candes and Tibshirani ("Conformal PID control for time series prediction", NeurIPS 2023, section 2.1)
with scores relative to the trained interval. Misses are counted over all RNICs of a fleet in a minute, by target, horizon, and for steady
and growing values apart, as training calibrates them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.targets import HORIZONS_MIN, NOMINAL_COVERAGE, Floats, column, targets

TAIL = (1.0 - NOMINAL_COVERAGE) / 2.0
STEP = 0.05
"""Change of a factor's logarithm per minute and unit of miss share: from 1 to 2 takes 15 minutes while everything is missed, from 1 to 0.5
takes 5 hours while nothing is. No other value was tried."""
LEAST, MOST = 0.5, 2.0
"""Bounds of the factors: outcomes of a day correct the training, they do not replace it."""
FULL_WEIGHT = 10
"""Values of a kind in a minute from which they have full weight: a single RNIC should not swing the intervals of a fleet."""
SIDES = 2
BANDWIDTH = len(targets())
"""Place of the bandwidth, after the targets: its interval combines those of two of them, so it is followed as well."""
_ROUNDING = 1e-6
"""Of float32, as a share of the value."""


@dataclass
class IntervalWidths:
    """Factors of the distances from the median to the outer quantiles.

    Attributes
    ----------
    logarithms : array (targets + 1, 2, horizons, 2)
        Natural logarithms, by target, the bandwidth last; steady and growing values; horizon; below and above the median.
    """

    logarithms: Floats = field(default_factory=lambda: np.zeros((BANDWIDTH + 1, 2, len(HORIZONS_MIN), SIDES)))

    def scaled(self, target: int, ahead: Floats, growing: npt.NDArray[np.bool_]) -> Floats:
        """Quantiles of one target with these widths, never below 0: arrays (rnics, horizons, quantiles) and (rnics,).

        >>> widths = IntervalWidths()
        >>> widths.logarithms[0, 1, :, 1] = np.log(2.0)
        >>> ahead = np.tile([8.0, 10.0, 13.0], (2, 5, 1))
        >>> widths.scaled(0, ahead, np.array([False, True]))[:, 0].tolist()
        [[8.0, 10.0, 13.0], [8.0, 10.0, 16.0]]
        """
        return _scaled(ahead, np.exp(self.logarithms[target])[growing.astype(np.intp)])

    def learn(self, horizon: int, before: Floats, growing: npt.NDArray[np.bool_], ahead: Floats, values: Floats) -> None:
        """Take in the outcomes of one minute.

        Parameters
        ----------
        horizon : int
            Index of the horizon that the forecast was made for.
        before : array (targets + 1, 2, horizons, 2)
            The logarithms with which it was made.
        growing : bool array (rnics, targets + 1)
        ahead : array (rnics, targets + 1, quantiles)
            The forecast of these values.
        values : array (rnics, targets + 1)
            What came; NaN where it is unknown, which teaches nothing.
        """
        since = np.exp(self.logarithms[:, :, horizon] - before[:, :, horizon])  # (targets + 1, 2, sides)
        factors = since[np.arange(ahead.shape[1]), growing.astype(np.intp)]
        present = _scaled(ahead, factors)
        slack = _ROUNDING * (1.0 + np.abs(values))
        missed = np.stack([values < present[..., 0] - slack, values > present[..., -1] + slack], axis=-1)
        known = ~np.isnan(values) & ~np.isnan(ahead).any(axis=-1)
        for regime in (0, 1):
            chosen = known & (growing == bool(regime))
            count = chosen.sum(axis=0)
            shares = (missed & chosen[..., None]).sum(axis=0) / np.maximum(count, 1)[:, None]
            weight = np.minimum(count / FULL_WEIGHT, 1.0)[:, None]
            moved = self.logarithms[:, regime, horizon] + STEP * weight * (shares - TAIL)
            self.logarithms[:, regime, horizon] = np.clip(moved, np.log(LEAST), np.log(MOST))


def with_bandwidth(growing: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which values grow, the bandwidth last: it changes with the lookups of either side; shape (rnics, targets + 1)."""
    return np.column_stack([growing, growing[:, column("q_l")] | growing[:, column("q_r")]])


def _scaled(ahead: Floats, factors: Floats) -> Floats:
    """Outer quantiles moved: `ahead` has the quantiles last, `factors` in their place the two sides."""
    middle = ahead[..., 1]
    low = middle - (middle - ahead[..., 0]) * factors[..., 0]
    high = middle + (ahead[..., -1] - middle) * factors[..., 1]
    return np.maximum(np.stack([low, middle, high], axis=-1), 0.0)
