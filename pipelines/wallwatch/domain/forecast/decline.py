"""Declines: is the bandwidth likely to decline by 5% or more (paper, section 4.3), and since when is that predicted?

With a trained model the probability of such a decline within the hour is learnt directly (`decline_model`).
Without one it comes from the quantiles of the bandwidth at each horizon (`split_normal`): the mean over the horizons from a quarter of an
hour on. A decline is predicted when the
chance reaches a threshold, and until it falls below a lower one, so that a fluctuating chance is one decline and not
ten.

The thresholds are points of a curve of recall against precision, chosen on simulated fleets that were neither trained on nor judged; the
curve is in docs/forecast-evaluation.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.physical_model import Performance
from wallwatch.domain.forecast.split_normal import chance_below
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, Floats
from wallwatch.domain.forecast.wall_chance import LIKELY_FROM
from wallwatch.domain.performance.parameters import DECLINE_SHARE

SAID_FROM, SAID_UNTIL = 0.77, 0.72
"""Of chances that are learnt."""
COLD_FROM, COLD_UNTIL = 0.6, 0.52
"""Of chances from quantiles alone."""
LASTING_MIN = 15
"""Horizons from here on decide."""
NOISE = 0.006
"""Standard deviation of the bandwidth now over a minute, as a share: the noise of the mechanism."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """A forecast's predictions of declines; arrays (rnics,), NaN where it is unknown.

    Attributes
    ----------
    share : greatest drop of the median bandwidth against now, never negative
    chance : chance of a drop of 5% or more within the hour, or, where it is not learnt, its mean over the horizons from `LASTING_MIN` on
    learnt : bool array, whether the chance is learnt
    in_min : first horizon at which such a decline is more likely than not by the quantiles; NaN if there is none. A learnt chance may
        still be high: it covers any minute of the hour, without saying which
    """

    share: Floats
    chance: Floats
    in_min: Floats
    learnt: npt.NDArray[np.bool_]


def chances(found: Performance) -> Floats:
    """The chance of a drop of 5% or more at each horizon, shape (rnics, horizons).

    >>> one = np.array([100.0])
    >>> ahead = np.array([[[80.0, 95.0, 99.0], [90.0, 99.0, 100.0], [60.0, 70.0, 80.0]]])
    >>> chances(Performance(one, one, ahead, ahead)).round(2).tolist()
    [[0.5, 0.23, 1.0]]
    """
    now = np.broadcast_to(found.bandwidth_now[:, None], found.bandwidth.shape[:-1])
    return chance_below((1.0 - DECLINE_SHARE) * now, found.bandwidth, NOISE * now)


def outlook(found: Performance, learnt: Floats | None = None) -> Outlook:
    """The chance, the size and the time of a decline; `learnt` are chances of a trained model, NaN if there is none."""
    each = chances(found)
    known = ~np.isnan(each).any(axis=1)
    horizons = np.array(HORIZONS_MIN, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        drops = 1.0 - found.bandwidth[:, :, len(QUANTILES) // 2] / found.bandwidth_now[:, None]
        likely = each >= 0.5
    learnt_chance = np.full(len(each), np.nan) if learnt is None else np.where(known, learnt, np.nan)
    first = np.where(likely.any(axis=1), horizons[likely.argmax(axis=1)], np.nan)
    return Outlook(
        np.where(known, np.maximum(drops.max(axis=1), 0.0), np.nan),
        np.where(np.isnan(learnt_chance), np.where(known, each[:, horizons >= LASTING_MIN].mean(axis=1), np.nan), learnt_chance),
        np.where(known, first, np.nan),
        ~np.isnan(learnt_chance),
    )


def reportable(chance: Floats, learnt_here: npt.NDArray[np.bool_], wall_chance: Floats) -> Floats:
    """The chances that declines are reported from: NaN where one is not to be reported, whatever its chance.

    How often bandwidth declines differs by fleet: where small chains fluctuate, every second RNIC has a decline of 5% within the hour, and
    nobody needs to act. So what was not learnt from this fleet reports declines only together with a limit that is reached or likely.

    Parameters
    ----------
    chance : array (rnics,)
    learnt_here : bool array (rnics,)
        Whether the forecast comes from a model of this fleet.
    wall_chance : array (rnics, walls)

    >>> chance, walls = np.array([0.9, 0.9, 0.9, 0.9]), np.array([[0.1, 0.5], [0.1, 0.4], [0.1, 0.4], [np.nan, np.nan]])
    >>> reportable(chance, np.array([False, False, True, False]), walls).tolist()
    [0.9, nan, 0.9, nan]
    """
    with np.errstate(invalid="ignore"):
        likely = (wall_chance >= LIKELY_FROM).any(axis=1)
    return np.where(learnt_here | likely, chance, np.nan)


@dataclass
class Declines:
    """The active predictions of declines, from forecast to forecast of the same RNICs (new ones may be added at the end)."""

    since: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Minute of the first forecast that predicted it, -1 if none is predicted."""
    thresholds: tuple[float, float] = (SAID_FROM, SAID_UNTIL)
    """Of chances that are learnt."""

    def step(self, minute: int, chance: Floats, learnt: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Take in the chances of a minute's forecasts; returns for which RNICs a decline is predicted.

        An unknown chance ends it.

        >>> predicted = Declines()
        >>> [predicted.step(at, np.array([chance]), np.array([True])).tolist() for at, chance in enumerate((0.7, 0.8, 0.75, 0.4, np.nan))]
        [[False], [True], [True], [False], [False]]
        """
        missing = len(chance) - len(self.since)
        if missing > 0:
            self.since = np.concatenate([self.since, np.full(missing, -1, dtype=np.int64)])
        from_, until = self.thresholds
        with np.errstate(invalid="ignore"):
            predicted = chance >= np.where(self.since >= 0, np.where(learnt, until, COLD_UNTIL), np.where(learnt, from_, COLD_FROM))
        self.since = np.where(predicted, np.where(self.since >= 0, self.since, minute), -1)
        return np.asarray(predicted)
