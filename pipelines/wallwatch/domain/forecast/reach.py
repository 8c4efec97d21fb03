"""When a wall is reached: the minute at which each quantile of the value behind it crosses the limit."""

from __future__ import annotations

import numpy as np

from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats


def reached_in_min(now: Floats, ahead: Floats, limits: Floats) -> Floats:
    """Minutes until each wall: earliest, likely, latest.

    Between the horizons the value is taken to move evenly. Growth that reaches the limit and falls again counts from its first crossing.

    Parameters
    ----------
    now, limits : arrays (rnics, walls)
    ahead : array (rnics, walls, horizons, quantiles)
        Quantiles in rising order.

    Returns
    -------
    array (rnics, walls, quantiles)
        0 at or beyond the wall now, infinite where it is not reached within the horizons, NaN where value or limit is not known. The
        earliest comes from the highest quantile.

    Examples
    --------
    >>> ahead = np.array([[[[50, 50, 50], [50, 55, 60], [50, 70, 110], [50, 90, 150], [50, 130, 200]]]], dtype=float)
    >>> reached_in_min(np.array([[50.0]]), ahead, np.array([[100.0]])).round(1).tolist()
    [[[13.0, 37.5, inf]]]
    """
    times = np.array((0, *HORIZONS_MIN), dtype=np.float64)
    quantiles = ahead.shape[-1]
    path = np.concatenate([np.repeat(now[:, :, None, None], quantiles, axis=3), ahead], axis=2)[..., ::-1]
    limit = limits[:, :, None, None]
    beyond = path >= limit
    first = beyond.argmax(axis=2)  # 0 also where it never is
    never = ~beyond.any(axis=2)
    before = np.maximum(first - 1, 0)
    high = np.take_along_axis(path, first[:, :, None, :], axis=2)[:, :, 0]
    low = np.take_along_axis(path, before[:, :, None, :], axis=2)[:, :, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(high > low, (limits[:, :, None] - low) / (high - low), 0.0)
    found = np.where(first == 0, 0.0, times[before] + share * (times[first] - times[before]))
    unknown = np.isnan(now) | np.isnan(limits) | np.isnan(ahead).any(axis=(2, 3))
    return np.where(unknown[:, :, None], np.nan, np.where(never, np.inf, found))
