"""The chance that an RNIC reaches a wall within the hour, and what counts as likely.

Every reader (messages, API, pages, metrics) takes both from here.
"""

from __future__ import annotations

import numpy as np

from wallwatch.domain.forecast.split_normal import chance_below
from wallwatch.domain.forecast.targets import Floats

LIKELY_FROM = 0.5
"""Chance from which a wall counts as likely to be reached. Below it nobody is warned: the RNIC more probably stays below its limit.
At this chance the median itself crosses the limit, so exactly the likely walls have a likely time (`wall_times.reached_in_min`)."""

UNLIKELY_BELOW = 0.35
"""Chance below which a warning is withdrawn. Between the two nothing changes: a forecast comes every minute, its chance moves by some
hundredths from one to the next, and a warning that comes and goes is read by nobody. So withdrawing takes odds of about two to one
against, where giving it takes even odds."""


def chances_within_hour(now: Floats, ahead: Floats, limits: Floats) -> Floats:
    """The chance that each wall is reached within the hour: shape (rnics, walls), NaN if value or limit is unknown.

    The highest of the chances at the horizons: a wall that is passed at one of them has been reached by then. Where growth may begin at any
    minute and end before the next horizon, the chance is higher than that. 1 at or past the limit now.

    Parameters
    ----------
    now, limits : arrays (rnics, walls)
    ahead : array (rnics, walls, horizons, quantiles)
        Quantiles in rising order.

    Examples
    --------
    >>> ahead = np.array([[[[50, 50, 50], [50, 55, 60], [50, 70, 110], [50, 90, 150], [50, 130, 200]]]], dtype=float)
    >>> [float(chances_within_hour(np.array([[50.0]]), ahead, np.array([[limit]])).round(2)[0, 0]) for limit in (50.0, 130.0, 165.0, 300.0)]
    [1.0, 0.5, 0.21, 0.0]
    """
    limit = np.broadcast_to(limits[:, :, None], ahead.shape[:-1])
    reached = 1.0 - chance_below(limit, ahead).min(axis=2)
    unknown = np.isnan(now) | np.isnan(limits) | np.isnan(reached)
    return np.where(unknown, np.nan, np.where(now >= limits, 1.0, reached))
