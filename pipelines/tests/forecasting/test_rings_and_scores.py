"""The hour in memory, and the errors of models on live data."""

from collections.abc import Callable

import numpy as np

from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import HISTORY_MIN, Floats, column
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.live import P95, Score
from wallwatch.forecasting.rings import Ring

MASKS = column("egress_masks")


def test_a_ring_has_the_last_hour_and_nothing_where_nothing_was_put() -> None:
    ring = Ring(1)
    ring.grow(2)
    for minute in (100, 101, 103, 165):
        ring.put(minute, np.array([0]), np.array([[float(minute)]]))
    ring.put(50, np.array([0]), np.array([[1.0]]))  # too old: its place belongs to a later minute, or to none that is asked for
    last = ring.last(165)
    assert last.shape == (2, HISTORY_MIN, 1)
    assert last[0, -1, 0] == 165
    assert np.nansum(last[0]) == 165
    assert np.isnan(last[1]).all()
    assert ring.has(165)
    assert not ring.has(164)


def test_a_ring_grows_with_the_fleet_and_keeps_what_it_has() -> None:
    ring = Ring(1)
    ring.grow(1)
    ring.put(7, np.array([0]), np.array([[3.0]]))
    ring.grow(3)
    assert ring.last(7)[:, -1, 0].tolist()[:1] == [3.0]
    assert len(ring.last(7)) == 3


def score_of(history: History, surprise: float) -> Score:
    score = Score()
    metrics = {"egress_masks": {P95: 0.01}}
    for index in range(30, 80):
        values = history.values[:, index].copy()
        values[:, MASKS] += surprise
        score.settle(history.first_minute + index, values, list(history.models), metrics)
        score.note(predict(history.at(index), None))
    return score


def test_a_fleet_like_that_of_training_does_not_drift_and_another_one_does(make_history: Callable[..., History]) -> None:
    still: Floats = np.full((4, 100), 20.0)
    as_before, otherwise = (score_of(make_history(still), surprise).describe() for surprise in (0.0, 10.0))
    assert as_before["minutes"] > 30
    assert as_before["mean_error"] == 0
    assert as_before["coverage"] == 1
    assert not as_before["drifted"]
    assert otherwise["beyond_training"] == 1
    assert otherwise["drifted"]
