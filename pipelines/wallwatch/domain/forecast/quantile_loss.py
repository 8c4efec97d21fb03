"""The loss by which forecasts are compared."""

from __future__ import annotations

import numpy as np

from wallwatch.domain.forecast.targets import QUANTILES, Floats


def quantile_loss(values: Floats, predicted: Floats) -> Floats:
    """The mean loss over the quantiles: lowest for the true quantiles, so neither too wide nor too narrow intervals pay off.

    Parameters
    ----------
    values : array (...)
    predicted : array (..., quantiles)

    Examples
    --------
    >>> quantile_loss(np.array([10.0]), np.array([[8.0, 10.0, 12.0], [4.0, 10.0, 12.0]])).round(3).tolist()
    [0.067, 0.133]
    """
    above = values[..., None] - predicted
    levels = np.array(QUANTILES)
    return np.asarray(np.maximum(levels * above, (levels - 1.0) * above).mean(axis=-1))
