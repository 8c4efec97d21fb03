"""When a wall is reached: the minute at which each quantile of the value behind it crosses the limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats

REGIMES = 2
"""Steady values, changing values (`training_examples.is_growing`): their risks differ."""
UP, SOONER, DOWN = range(3)
"""Columns of a stretch."""


def unstretched() -> Floats:
    """The stretch that changes nothing: shape (REGIMES, 3)."""
    return np.ones((REGIMES, 3))


def widened(ahead: Floats, up: Floats | float, down: Floats | float = 1.0) -> Floats:
    """Quantiles above and below the median moved away from it, each by a factor of its own.

    Each quantile holds at its horizon; that a path does not cross a limit anywhere within the hour requires more.

    >>> widened(np.array([[[[1.0, 2.0, 4.0]]]]), 1.5, 2.0).tolist()
    [[[[0.0, 2.0, 5.0]]]]
    """
    middle = ahead.shape[-1] // 2
    likely = ahead[..., middle : middle + 1]
    lower, upper = ahead[..., :middle] - likely, ahead[..., middle + 1 :] - likely
    return np.concatenate([likely + down * lower, likely, likely + up * upper], axis=-1)


def times(now: Floats, ahead: Floats, limits: Floats, stretch: Floats) -> Floats:
    """Minutes until each wall, as `reached_in_min`, with an interval widened at both ends.

    Parameters
    ----------
    now, limits, ahead
        See `reached_in_min`.
    stretch : array (rnics, walls, 3)
        Factors of the quantiles above (`UP`) and below (`DOWN`) the median, and by how much sooner (`SOONER`) the earliest time is: a wall
        is not reached on the way of a quantile alone, but where the growth of a load begins at any minute.
    """
    shaped = stretch[:, :, None, None, :]
    found = reached_in_min(now, widened(ahead, shaped[..., UP], shaped[..., DOWN]), limits)
    found[:, :, 0] /= stretch[:, :, SOONER]
    return found


def came_in_min(after: Floats, limits: Floats) -> Floats:
    """Minutes until each wall was in fact reached, from the minutes that came: arrays (rnics, minutes, walls) and (rnics, walls).

    Infinite where that did not happen in them.
    """
    beyond = after >= limits[:, None, :]
    return np.asarray(np.where(beyond.any(axis=1), beyond.argmax(axis=1) + 1.0, np.inf))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Intervals against what came; bool arrays (rnics, walls)."""

    asked: npt.NDArray[np.bool_]
    """The wall is known and was not reached when the forecast was made."""
    concerned: npt.NDArray[np.bool_]
    """It was predicted as possible, or reached."""
    earlier: npt.NDArray[np.bool_]
    later: npt.NDArray[np.bool_]


def judged(reached: Floats, came: Floats, now: Floats, limits: Floats) -> Verdict:
    """Compare; samples are of whole minutes, so half of one either way is their resolution."""
    earliest, latest = reached[:, :, 0], reached[:, :, -1]
    asked = ~np.isnan(earliest) & (now < limits)
    concerned = asked & (np.isfinite(earliest) | np.isfinite(came))
    return Verdict(asked, concerned, concerned & (came < earliest - 0.5), concerned & (came > latest + 0.5))


def reached_in_min(now: Floats, ahead: Floats, limits: Floats) -> Floats:
    """Minutes until each wall: earliest, likely, latest.

    Between the horizons the value is interpolated linearly. Growth that reaches the limit and declines again counts from its first
    crossing.

    Parameters
    ----------
    now, limits : arrays (rnics, walls)
    ahead : array (rnics, walls, horizons, quantiles)
        Quantiles in rising order.

    Returns
    -------
    array (rnics, walls, quantiles)
        0 at or past the limit now, infinite if it is not reached within the horizons, NaN if value or limit is unknown. The
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
    first = beyond.argmax(axis=2)  # 0 also if it never is
    never = ~beyond.any(axis=2)
    before = np.maximum(first - 1, 0)
    high = np.take_along_axis(path, first[:, :, None, :], axis=2)[:, :, 0]
    low = np.take_along_axis(path, before[:, :, None, :], axis=2)[:, :, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(high > low, (limits[:, :, None] - low) / (high - low), 0.0)
    found = np.where(first == 0, 0.0, times[before] + share * (times[first] - times[before]))
    unknown = np.isnan(now) | np.isnan(limits) | np.isnan(ahead).any(axis=(2, 3))
    return np.where(unknown[:, :, None], np.nan, np.where(never, np.inf, found))
