"""Trees evaluated in columns give what LightGBM gives."""

import pickle
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
import pytest

from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.trees import BLOCK, MOST_LEAVES, Trees

FEATURES = 6


def some_rows(count: int, gaps: float, seed: int = 1) -> npt.NDArray[np.float32]:
    """Values on both sides of 0, zeros, and gaps."""
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((count, FEATURES)) < 0.1, 0.0, rng.normal(size=(count, FEATURES))).astype(np.float32)
    rows[rng.random(rows.shape) < gaps] = np.nan
    return rows


def learnt(rows: npt.NDArray[np.float32], rounds: int = 30, categories: list[int] | None = None, **parameters: Any) -> lightgbm.Booster:
    """A model of a value that hangs on gaps too."""
    filled = np.nan_to_num(rows, nan=2.0).astype(np.float64)
    labels = filled[:, 0] * filled[:, 1] + np.sin(3 * filled[:, 2]) + (filled[:, 3] > 0.5)
    parameters = {"verbosity": -1, "num_threads": 1, "num_leaves": 15, "min_data_in_leaf": 5, **parameters}
    data = lightgbm.Dataset(rows, labels, categorical_feature=categories or [], params=parameters)
    return lightgbm.train(parameters, data, num_boost_round=rounds)


@pytest.mark.parametrize("gaps_in_training", [0.0, 0.2])
@pytest.mark.parametrize("leaves", [2, 15, MOST_LEAVES])
def test_sums_are_those_of_lightgbm_to_the_last_bit(gaps_in_training: float, leaves: int) -> None:
    booster = learnt(some_rows(1500, gaps_in_training), num_leaves=leaves)
    asked = some_rows(2 * BLOCK + 77, 0.2, seed=2)
    assert np.ptp(Trees.of(booster).sums(asked)) > 0
    assert (Trees.of(booster).sums(asked) == booster.predict(asked, raw_score=True)).all()


def test_a_value_at_a_threshold_goes_where_lightgbm_sends_it() -> None:
    booster = learnt(some_rows(1500, 0.0))
    trees = Trees.of(booster)
    near = np.zeros((3 * len(trees.thresholds), FEATURES), dtype=np.float32)
    for i, (feature, threshold) in enumerate(zip(trees.features, trees.thresholds, strict=True)):
        near[3 * i : 3 * i + 3, feature] = (np.nextafter(threshold, np.float32(-9)), threshold, np.nextafter(threshold, np.float32(9)))
    assert (trees.sums(near) == booster.predict(near, raw_score=True)).all()


def test_a_model_that_learnt_nothing_says_the_same_of_every_row() -> None:
    rows = some_rows(50, 0.0)
    booster = learnt(rows, rounds=3, min_data_in_leaf=1000)
    assert (Trees.of(booster).sums(rows) == booster.predict(rows, raw_score=True)).all()
    assert Trees.of(booster).sums(rows[:0]).shape == (0,)


def test_trees_that_cannot_be_evaluated_are_refused() -> None:
    rows = some_rows(1500, 0.0)
    with pytest.raises(ValueError, match=f"at most {MOST_LEAVES}"):
        Trees.of(learnt(rows, num_leaves=MOST_LEAVES + 1))
    rows[:, 0] = np.arange(1500) % 4
    with pytest.raises(ValueError, match="split by '=='"):
        Trees.of(learnt(rows, categories=[0], max_cat_to_onehot=8))


def test_a_forecaster_that_went_to_another_process_forecasts_the_same() -> None:
    rows = some_rows(800, 0.1)
    made = Forecaster({}, {}, decline_booster=learnt((rows > 0).astype(np.float32)))
    before = made.decline_chances(rows)
    assert (pickle.loads(pickle.dumps(made)).decline_chances(rows) == before)[~np.isnan(before)].all()
