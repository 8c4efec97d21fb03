"""Three quantiles as a distribution: a normal distribution with a width of its own below and above the median.

The split (two-piece) normal distribution: Wallis, "The two-piece normal, binormal, or double Gaussian distribution", Statistical Science
29(1), 2014. Each half is scaled to its own outer quantile and has half of the probability, so all three quantiles hold.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from wallwatch.domain.forecast.targets import QUANTILES, Floats

TO_END = 1.645
"""Standard deviations from the median to the 5% and 95% quantiles of a normal distribution."""


def chance_below(level: Floats, quantiles: Floats, noise: Floats | float = 0.0) -> Floats:
    """The chance that a value is below a level; NaN where either is unknown.

    Parameters
    ----------
    level : array (...)
    quantiles : array (..., quantiles)
        5, 50 and 95% quantiles of the value, rising.
    noise : array (...) or float
        Standard deviation that comes on top of the quantiles, in the unit of the value.

    Examples
    --------
    >>> chance_below(np.array([80.0, 100.0, 110.0]), np.array([[80.0, 100.0, 105.0]] * 3)).round(2).tolist()
    [0.05, 0.5, 1.0]
    >>> certain = np.array([[100.0, 100.0, 100.0]] * 3)
    >>> chance_below(np.array([99.0, 100.0, 101.0]), certain).tolist()
    [0.0, 0.0, 1.0]
    """
    likely = quantiles[..., len(QUANTILES) // 2]
    to_end = np.where(level < likely, likely - quantiles[..., 0], quantiles[..., -1] - likely)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviation = np.hypot(to_end / TO_END, noise)
        chance = np.where(deviation > 0, ndtr((level - likely) / deviation), (level > likely).astype(np.float64))
    return np.where(np.isnan(level + quantiles.sum(axis=-1)), np.nan, chance)
