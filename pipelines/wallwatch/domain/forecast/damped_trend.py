"""What is forecast without a trained model: persistence with a damped trend, for new RNICs and new fleets.

Growth of the last minutes continues and loses half of its rate every `HALF_LIFE_MIN`. How far that is from what comes is learnt from the
examples that calibrate a trained model (`margins`); a new fleet takes those of `cold_start.yaml`. The interval reaches at least as far as
the value has moved about its own trend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from wallwatch.domain.forecast.features import NAMES, QUIET, Features, changes
from wallwatch.domain.forecast.targets import HORIZONS_MIN, NOMINAL_COVERAGE, Floats, targets
from wallwatch.domain.forecast.training_examples import Examples, is_growing

HALF_LIFE_MIN = 20.0
"""Assumed: jobs come up in minutes, and few loads grow by the same rate for an hour."""
_NOISE_OF_NINETY = 1.645
"""Standard deviations to the ends of a normal interval of 90%."""


FEWEST = 50
"""Minimum number of examples per kind and horizon to estimate their spread."""
STARTING = Path(__file__).with_name("cold_start.yaml")


@cache
def starting_margins() -> Mapping[str, Floats]:
    """Margins for a fleet that has no trained model; see `margins`."""
    found = yaml.safe_load(STARTING.read_text())["margins"]
    none = np.zeros((2, len(HORIZONS_MIN), 2))
    return {t.name: np.array(found.get(t.name, none), dtype=np.float64) for t in targets()}


@cache
def starting_reach() -> Floats:
    """Factors that widen intervals for times to walls, in a fleet without a trained model: shape (2, 3), see `wall_times.times`."""
    return np.array(yaml.safe_load(STARTING.read_text())["reach"], dtype=np.float64)


def likely_labels(rate: Floats, unit: Floats, ahead: Floats) -> Floats:
    """The damped trend's prediction, as labels of examples; arrays that broadcast, the horizons in minutes."""
    share = HALF_LIFE_MIN / np.log(2) * (1.0 - 0.5 ** (ahead / HALF_LIFE_MIN)) / ahead
    return np.asarray(rate * (share - 1.0) / unit)


def margins(unseen: Sequence[Examples]) -> dict[str, Floats]:
    """The 90% interval below and above the trend, in units of labels.

    Returns
    -------
    mapping of target to array (2, horizons, 2)
        Steady values, changing values; then low (not above 0) and high (not below 0). Kinds with too few examples have what
        `cold_start.yaml` contains.
    """
    found: dict[str, Floats] = {}
    tail = (1.0 - NOMINAL_COVERAGE) / 2.0
    for target, some in zip(targets(), unseen, strict=True):
        each = starting_margins()[target.name].copy()
        if len(some):
            rate = some.rows[:, NAMES.index("rate")].astype(np.float64)
            horizons = some.rows[:, NAMES.index("horizon_min")].astype(np.float64)
            deviations = some.labels - likely_labels(rate, np.abs(rate) + QUIET, horizons)
            for moves in (0, 1):
                for j, ahead in enumerate(HORIZONS_MIN):
                    chosen = deviations[(some.growing == bool(moves)) & (horizons == ahead)]
                    if len(chosen) >= FEWEST:
                        each[moves, j] = np.minimum(np.quantile(chosen, tail), 0.0), np.maximum(np.quantile(chosen, 1.0 - tail), 0.0)
        found[target.name] = each
    return found


def damped(features: Features, noise: Floats, deviations: Floats) -> Floats:
    """Values ahead, shape (rnics, horizons, quantiles), in the target's unit, never below 0.

    Parameters
    ----------
    features : Features
    noise : array (rnics,)
        Standard deviation of the changes from minute to minute, in the target's unit.
    deviations : array (2, horizons, 2)
        See `margins`.

    Examples
    --------
    >>> features = Features(np.empty((0, 0), dtype=np.float32), np.array([100.0]), np.array([1.0]), np.array([1.0]))
    >>> damped(features, np.array([0.0]), np.zeros((2, 5, 2)))[0, :, 1].round().tolist()
    [101.0, 105.0, 112.0, 119.0, 125.0]
    """
    ahead = np.array(HORIZONS_MIN, dtype=np.float64)
    labels = likely_labels(features.rate[:, None], features.unit[:, None], ahead)
    interval = deviations[is_growing(features.rate, features.unit).astype(np.intp)]
    three = np.stack([labels + interval[:, :, 0], labels, labels + interval[:, :, 1]], axis=2)
    values = features.now[:, None, None] + changes(three, features.rate, features.unit)
    blur = _NOISE_OF_NINETY * noise[:, None] * np.sqrt(ahead)
    values[:, :, 0] = np.minimum(values[:, :, 0], values[:, :, 1] - blur)
    values[:, :, 2] = np.maximum(values[:, :, 2], values[:, :, 1] + blur)
    return np.asarray(np.maximum(values, 0.0))
