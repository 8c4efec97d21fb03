"""What is forecast without a trained model: persistence with a damped trend, for new RNICs and new fleets.

Growth of the last minutes goes on and loses half of its rate every `HALF_LIFE_MIN`. Nothing says how sure that is, so the interval
reaches from a stop now to twice the growth, and at least as far as the value has moved about its own trend.
"""

from __future__ import annotations

import numpy as np

from wallwatch.domain.forecast.features import Features
from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats

HALF_LIFE_MIN = 20.0
"""Assumed: jobs come up in minutes, and few loads grow by the same rate for an hour."""
_NOISE_OF_NINETY = 1.645
"""Standard deviations to the ends of a normal interval of 90 %."""


def damped(features: Features, noise: Floats) -> Floats:
    """Values ahead, shape (rnics, horizons, quantiles), in the target's unit, never below 0.

    Parameters
    ----------
    features : Features
    noise : array (rnics,)
        Standard deviation of the changes from minute to minute, in the target's unit.

    Examples
    --------
    >>> features = Features(np.empty((0, 0), dtype=np.float32), np.array([100.0]), np.array([1.0]), np.array([1.0]))
    >>> damped(features, np.array([0.0]))[0, :, 1].round().tolist()
    [101.0, 105.0, 112.0, 119.0, 125.0]
    """
    ahead = np.array(HORIZONS_MIN, dtype=np.float64)
    reach = HALF_LIFE_MIN / np.log(2) * (1.0 - 0.5 ** (ahead / HALF_LIFE_MIN))
    likely = features.now[:, None] + features.rate[:, None] * reach
    far = features.now[:, None] + 2.0 * features.rate[:, None] * ahead
    blur = _NOISE_OF_NINETY * noise[:, None] * np.sqrt(ahead)
    low = np.minimum(np.minimum(features.now[:, None], likely), far) - blur
    high = np.maximum(np.maximum(features.now[:, None], likely), far) + blur
    return np.asarray(np.maximum(np.stack([low, likely, high], axis=2), 0.0))
