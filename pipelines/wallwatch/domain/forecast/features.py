"""Features of one target, for many RNICs at once: its growth, its drivers, and its values an hour, a day and a week ago.

All changes are in limits of the wall per minute, so that one model serves every RNIC model. What is learnt is how the present rate
of growth continues: the label is `(change / horizon - rate) / unit`, 0 when it continues, about -1 when it stops.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.targets import HISTORY_MIN, HORIZONS_MIN, Floats, column, scales
from wallwatch.domain.forecast.window import SEASONS_MIN, Window

RATE_MIN = 10
"""Minutes over which the present rate of growth is measured."""
QUIET = 0.001
"""Growth of less than 0.1% of the limit per minute takes most of a day to reach it: below it RNICs count as steady."""
_LAGS = (1, 2, 3, 5, 15, 30, 60)
_DRIVERS = ("offloaded_flows", "egress_masks", "ingress_masks", "flow_insertions")
_SMOOTH = 3

NAMES: tuple[str, ...] = (
    "level", "rate", *(f"rate_{lag}m" for lag in _LAGS), "slowing", "noise", "above_lowest", "below_highest",
    "growing_for_min", "since_growth_min", *(f"{name}_rate_5m" for name in _DRIVERS), *(f"{name}_level" for name in _DRIVERS),
    "containers_1m", "containers_5m", "containers_15m", "containers_60m", "peers_rate_5m", "peers_rate_15m",
    "day_sin", "day_cos", "weekday", "age_min", *(f"beside_{ago}m" for ago in SEASONS_MIN), "horizon_min",
    *(f"season_{ago}m" for ago in SEASONS_MIN),
)  # fmt: skip
"""Columns of the features; the last four differ by horizon. `season` is the label that the value of that time would be, `beside` how far
the value now is from that of the same minute then."""
_BY_HORIZON = 1 + len(SEASONS_MIN)
_DAY, _WEEK = (NAMES.index(f"season_{ago}m") for ago in SEASONS_MIN[1:])


@dataclass(frozen=True, slots=True)
class Features:
    """Features of one target.

    Attributes
    ----------
    rows : float32 array (rnics * horizons, len(NAMES))
        An RNIC's horizons follow each other.
    now : float array (rnics,)
        The newest value, in the target's unit; NaN if there is none.
    rate, unit : float arrays (rnics,)
        Present growth and the unit of labels, in the target's unit per minute.
    """

    rows: npt.NDArray[np.float32]
    now: Floats
    rate: Floats
    unit: Floats


def changes(labels: Floats, rate: Floats, unit: Floats) -> Floats:
    """From labels, shape (rnics, horizons, ...), to changes in the target's unit."""
    trailing = (1,) * (labels.ndim - 2)
    shape = (-1, 1, *trailing)
    return np.asarray((rate.reshape(shape) + labels * unit.reshape(shape)) * np.array(HORIZONS_MIN).reshape(1, -1, *trailing))


class FeatureMaker:
    """Features of each target of one window; what targets share is computed once."""

    def __init__(self, window: Window) -> None:
        self._window = window
        scale = scales(window.models)
        self._scale = scale
        self._series = filled(window.values / scale[:, None, :])
        self._seasons = window.seasons / scale[:, None, None, :]
        self._age = window.age()
        self._shared = self._common()

    def _common(self) -> list[Floats]:
        """Columns that every target has: drivers and containers."""
        found = []
        for name in _DRIVERS:
            k = column(name)
            found.append((self._series[:, -1, k] - self._series[:, -6, k]) / 5.0)
        found.extend(self._series[:, -1, column(name)] for name in _DRIVERS)
        containers = np.cumsum(self._window.containers[:, ::-1], axis=1)
        found.extend(containers[:, m - 1] for m in (1, 5, 15, 60))
        return found

    def of(self, target: int) -> Features:
        """Features of the target with this column."""
        x = self._series[:, :, target]
        n = len(x)
        columns: list[Floats] = [x[:, -1]]
        smooth = [_mean(x[:, HISTORY_MIN - lag - _SMOOTH : HISTORY_MIN - lag]) for lag in (0, RATE_MIN // 2, RATE_MIN)]
        rate = np.nan_to_num((smooth[0] - smooth[2]) / RATE_MIN)
        columns.append(rate)
        columns.extend((x[:, -1] - x[:, -1 - lag]) / lag for lag in _LAGS)
        columns.append((smooth[0] - 2 * smooth[1] + smooth[2]) / RATE_MIN)
        steps = np.diff(x[:, -16:], axis=1)
        columns.append(_spread(steps))
        columns.append(x[:, -1] - _least(x))
        columns.append(_most(x) - x[:, -1])
        grows = np.diff(x, axis=1)[:, ::-1] > 1e-6  # newest first
        columns.append(_run_length(grows))
        columns.append(_run_length(~grows))
        columns.extend(self._shared)
        columns.extend(_peers(self._window.hosts, (x[:, -1] - x[:, -1 - lag]) / lag) for lag in (5, 15))
        of_day = 2 * np.pi * (self._window.minute % 1440) / 1440
        columns.extend(np.full(n, v) for v in (np.sin(of_day), np.cos(of_day), float((self._window.minute // 1440 + 3) % 7)))
        columns.append(self._age.astype(np.float64))
        columns.extend(x[:, -1] - self._seasons[:, i, 0, target] for i in range(len(SEASONS_MIN)))

        unit = np.abs(rate) + QUIET
        rows = np.empty((n, len(HORIZONS_MIN), len(NAMES)), dtype=np.float32)
        rows[:, :, : len(NAMES) - _BY_HORIZON] = np.stack(columns, axis=1)[:, None, :]
        for j, ahead in enumerate(HORIZONS_MIN):
            rows[:, j, len(NAMES) - _BY_HORIZON] = ahead
            for i in range(len(SEASONS_MIN)):
                change = (self._seasons[:, i, 1 + j, target] - x[:, -1]) / ahead
                rows[:, j, len(NAMES) - _BY_HORIZON + 1 + i] = (change - rate) / unit
        scale = self._scale[:, target]
        return Features(rows.reshape(n * len(HORIZONS_MIN), len(NAMES)), self.newest(target), rate * scale, unit * scale)

    def shares(self, name: str) -> Floats:
        """Minutes of a target as shares of its unit (of the limit, for walls), gaps filled: shape (rnics, HISTORY_MIN)."""
        return np.asarray(self._series[:, :, column(name)])

    def series(self, name: str) -> Floats:
        """Minutes of a target in its own unit, gaps filled: shape (rnics, HISTORY_MIN)."""
        return np.asarray(self.shares(name) * self._scale[:, column(name)][:, None])

    def noise(self, target: int) -> Floats:
        """Standard deviation of the changes from minute to minute about their mean, in the target's unit."""
        return np.asarray(_spread(np.diff(self._series[:, -16:, target], axis=1)) * self._scale[:, target])

    def newest(self, target: int) -> Floats:
        """The value now, in the target's unit: of the newest minute that has one, at most five minutes old."""
        return np.asarray(self._series[:, -1, target] * self._scale[:, target])


def rhythm(rows: npt.NDArray[np.float32]) -> Floats:
    """The label predicted by the same minutes a day and a week ago, if both agree that the current growth will not simply continue.

    The middle of three opinions: as a day ago, as a week ago, and on as now (0). One rhythm alone moves nothing; without a week of history
    it is 0. Models learn the remainder.

    >>> rows = np.full((3, len(NAMES)), np.nan, dtype=np.float32)
    >>> rows[:, -2:] = [[20, 18], [20, 0], [20, np.nan]]
    >>> rhythm(rows).tolist()
    [18.0, 0.0, 0.0]
    """
    day, week = rows[:, _DAY].astype(np.float64), rows[:, _WEEK].astype(np.float64)
    middle = np.where(day > 0, np.clip(week, 0.0, day), np.clip(week, day, 0.0))
    return np.asarray(np.nan_to_num(middle))


def filled(series: Floats, most: int = 5) -> Floats:
    """Gaps of up to `most` minutes filled with the value before; shape (rnics, minutes, ...) stays.

    >>> filled(np.array([[1.0, np.nan, np.nan, 4.0]]), most=1).tolist()
    [[1.0, 1.0, nan, 4.0]]
    """
    found = series.copy()
    missing = np.isnan(series)
    if not missing.any():
        return found
    for _ in range(most):
        gap = np.isnan(found[:, 1:]) & ~np.isnan(found[:, :-1])
        if not gap.any():
            break
        # From the newest to the oldest, so that each pass fills one minute of each gap.
        found[:, 1:][gap] = found[:, :-1][gap]
    return found


def _mean(x: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is NaN, as it should be
        return np.asarray(np.nanmean(x, axis=1))


def _spread(x: Floats) -> Floats:
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=1), 1)
    mean = np.where(known, x, 0).sum(axis=1) / count
    return np.asarray(np.sqrt((np.where(known, x - mean[:, None], 0) ** 2).sum(axis=1) / count))


def _least(x: Floats) -> Floats:
    found = np.where(np.isnan(x), np.inf, x).min(axis=1)
    return np.where(np.isinf(found), np.nan, found)


def _most(x: Floats) -> Floats:
    found = np.where(np.isnan(x), -np.inf, x).max(axis=1)
    return np.where(np.isinf(found), np.nan, found)


def _run_length(flags: npt.NDArray[np.bool_]) -> Floats:
    """How many of the first flags of each row are true without a break.

    >>> _run_length(np.array([[True, True, False, True], [False, True, True, True]])).tolist()
    [2.0, 0.0]
    """
    broken = ~flags
    return np.asarray(np.where(broken.any(axis=1), broken.argmax(axis=1), flags.shape[1]), dtype=np.float64)


def _peers(hosts: npt.NDArray[np.int64], rate: Floats) -> Floats:
    """Mean rate of the other RNICs of each RNIC's host; NaN for the only RNIC of a host."""
    known = ~np.isnan(rate)
    _, place = np.unique(hosts, return_inverse=True)
    total = np.bincount(place, weights=np.where(known, rate, 0.0))
    count = np.bincount(place, weights=known.astype(np.float64))
    others = count[place] - known
    return np.where(others > 0, (total[place] - np.where(known, rate, 0.0)) / np.maximum(others, 1), np.nan)
