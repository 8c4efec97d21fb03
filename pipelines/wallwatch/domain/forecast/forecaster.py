"""The trained forecaster: for each target and quantile one LightGBM model, all horizons in one.

Intervals get their nominal coverage by conformalized quantile regression (Romano, Patterson and Candes, NeurIPS 2019): on examples
that training did not see, the outer quantiles are moved by how far the truth lay outside; apart for each horizon, and for values
that are steady and changing ones, because an interval that is right on average over a quiet fleet may be wrong for growth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
from scipy.special import expit

from wallwatch.domain.forecast.features import NAMES, Features, changes, rhythm
from wallwatch.domain.forecast.targets import HORIZONS_MIN, NOMINAL_COVERAGE, QUANTILES, Floats, targets
from wallwatch.domain.forecast.training_examples import Examples, is_growing
from wallwatch.domain.forecast.trees import Trees
from wallwatch.domain.forecast.wall_times import unstretched

PARAMETERS: Mapping[str, Any] = {
    "objective": "quantile",
    "learning_rate": 0.15,
    "num_leaves": 15,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "max_bin": 127,
    "verbosity": -1,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
}
ROUNDS = 40
FEWEST = 2000
"""Examples below which nothing is learnt of a target: it keeps the damped trend."""

_HORIZON = NAMES.index("horizon_min")


@dataclass
class Forecaster:
    """Models by target and quantile; a target without any is forecast by its damped trend.

    Attributes
    ----------
    boosters : mapping of target to the models of its quantiles, in their order
    margins : mapping of target to float array (2, horizons)
        How far the outer quantiles are moved outwards, in units of labels: steady values, changing values.
    cold : mapping of target to `damped_trend.margins`
        For RNICs that have no ten minutes of history yet.
    reach, cold_reach : array (2, 3)
        Factors that widen intervals for times to walls (`wall_times.times`), of steady values and values
        that move; None: what a new fleet has.
    decline_booster : model, or None
        The classifier of a decline within the hour (`decline_model`).
    """

    boosters: Mapping[str, Sequence[lightgbm.Booster]]
    margins: Mapping[str, Floats]
    cold: Mapping[str, Floats] = field(default_factory=dict)
    reach: Floats = field(default_factory=unstretched)
    cold_reach: Floats | None = None
    decline_booster: lightgbm.Booster | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    _trees: dict[lightgbm.Booster, Trees] = field(default_factory=dict, init=False, repr=False, compare=False)

    def labels(self, target: str, rows: npt.NDArray[np.float32]) -> Floats:
        """Quantiles of the labels before calibration, shape (len(rows), quantiles), in rising order."""
        columns = [self._of(booster).sums(rows) for booster in self.boosters[target]]
        return np.sort(np.stack(columns, axis=1), axis=1) + rhythm(rows)[:, None]

    def decline_chances(self, rows: npt.NDArray[np.float32]) -> Floats:
        """The chance of a decline within the hour, from rows of `decline_model`: shape (rnics,); NaN without a classifier or a
        bandwidth."""
        if self.decline_booster is None:
            return np.full(len(rows), np.nan)
        return np.where(np.isnan(rows[:, 0]), np.nan, expit(self._of(self.decline_booster).sums(rows)))

    def _of(self, booster: lightgbm.Booster) -> Trees:
        if booster not in self._trees:
            self._trees[booster] = Trees.of(booster)
        return self._trees[booster]

    def ahead(self, target: str, features: Features) -> Floats:
        """Values ahead in the target's unit, never below 0: shape (rnics, horizons, quantiles); NaN if there is no current value."""
        labels = self.labels(target, features.rows).reshape(len(features.now), len(HORIZONS_MIN), len(QUANTILES))
        margins = self.margins[target][is_growing(features.rate, features.unit).astype(np.intp)]
        labels[:, :, 0] = np.minimum(labels[:, :, 0] - margins, labels[:, :, 1])
        labels[:, :, -1] = np.maximum(labels[:, :, -1] + margins, labels[:, :, 1])
        return np.maximum(features.now[:, None, None] + changes(labels, features.rate, features.unit), 0.0)


def fit(examples: Sequence[Examples], threads: int, rounds: int = ROUNDS) -> dict[str, list[lightgbm.Booster]]:
    """Train the models of each target that has enough examples."""
    found: dict[str, list[lightgbm.Booster]] = {}
    for target, some in zip(targets(), examples, strict=True):
        if len(some) < FEWEST or np.ptp(some.labels) == 0:
            continue
        parameters = {**PARAMETERS, "num_threads": threads}
        deviations = np.clip(some.labels - rhythm(some.rows), *CLIP)
        data = lightgbm.Dataset(some.rows, deviations, feature_name=list(NAMES), params=parameters, free_raw_data=False)
        found[target.name] = [lightgbm.train({**parameters, "alpha": quantile}, data, num_boost_round=rounds) for quantile in QUANTILES]
    return found


CLIP = (-200.0, 200.0)
"""A label of 200 is a growth from zero to the limit in five minutes; faster growth is clipped."""


def calibrate(boosters: Mapping[str, Sequence[lightgbm.Booster]], unseen: Sequence[Examples]) -> dict[str, Floats]:
    """Margins from examples that training has not seen; 0 if there are too few of a kind."""
    forecaster = Forecaster(boosters, {})
    found: dict[str, Floats] = {}
    for target, some in zip(targets(), unseen, strict=True):
        if target.name not in boosters:
            continue
        margins = np.zeros((2, len(HORIZONS_MIN)))
        if len(some):
            quantiles = forecaster.labels(target.name, some.rows)
            outside = np.maximum(quantiles[:, 0] - some.labels, some.labels - quantiles[:, -1])
            for moves in (0, 1):
                for j, ahead in enumerate(HORIZONS_MIN):
                    chosen = outside[(some.growing == bool(moves)) & (some.rows[:, _HORIZON] == ahead)]
                    if len(chosen) >= 50:
                        margins[moves, j] = np.quantile(chosen, min(NOMINAL_COVERAGE * (1 + 1 / len(chosen)), 1.0))
        found[target.name] = margins
    return found


def digest(forecaster: Forecaster) -> str:
    """SHA-256 over models and margins: two models with the same digest forecast the same."""
    found = hashlib.sha256()
    for target in sorted(forecaster.boosters):
        found.update(target.encode())
        found.update(np.ascontiguousarray(forecaster.margins[target]).tobytes())
        for booster in forecaster.boosters[target]:
            found.update(booster.model_to_string().encode())
    for target in sorted(forecaster.cold):
        found.update(np.ascontiguousarray(forecaster.cold[target]).tobytes())
    if forecaster.decline_booster is not None:
        found.update(forecaster.decline_booster.model_to_string().encode())
    if forecaster.cold:
        for stretch in (forecaster.reach, forecaster.cold_reach):
            found.update(b"" if stretch is None else np.ascontiguousarray(stretch, dtype=np.float64).tobytes())
    return found.hexdigest()
