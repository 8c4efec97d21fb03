"""The hour in memory, and the errors of models on live data."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import HISTORY_MIN, Floats, column
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.live.comparison import Comparison
from wallwatch.forecasting.live.recent_minutes import Ring
from wallwatch.forecasting.live.score import LEAST_MIN, MEAN, P95, Score

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


def score_of(history: History, surprise: float, metrics: dict[str, dict[str, float]] | None = None) -> Score:
    score = Score()
    metrics = metrics or {"egress_masks": {P95: 0.01}}
    made = predict(history.at(30), None)  # of loads that stand still, so it is the same at each minute
    for index in range(30, 170):
        values = history.values[:, index].copy()
        values[:, MASKS] += surprise
        score.settle(history.first_minute + index, values, list(history.models), metrics)
        score.note(replace(made, minute=history.first_minute + index))
    return score


def test_a_fleet_like_that_of_training_does_not_drift_and_another_one_does(make_history: Callable[..., History]) -> None:
    still: Floats = np.full((4, 171), 20.0)
    as_before, otherwise = (score_of(make_history(still), surprise).describe() for surprise in (0.0, 10.0))
    assert as_before["mean_error"] == 0
    assert as_before["coverage"] == 1
    assert not as_before["drifted"]
    assert as_before["minutes"] >= LEAST_MIN
    assert otherwise["beyond_training"] == 1
    assert otherwise["drifted"]


def test_errors_that_are_greater_than_at_training_are_drift_though_none_is_beyond_the_greatest(
    make_history: Callable[..., History],
) -> None:
    metrics = {"egress_masks": {P95: 0.5, MEAN: 0.1}}
    as_before, otherwise = (score_of(make_history(np.full((4, 171), 20.0)), masks, metrics) for masks in (43 * 0.1, 43 * 0.2))
    assert (as_before.beyond, otherwise.beyond) == (0, 0)
    assert as_before.ratio == pytest.approx(1.0, rel=0.01)
    assert (as_before.drifted, otherwise.drifted) == (False, True)


def test_a_score_goes_on_where_the_process_before_it_ended(make_history: Callable[..., History]) -> None:
    before = score_of(make_history(np.full((4, 171), 20.0)), 10.0)
    after = Score.restored(before.describe())
    assert after.describe() == before.describe()
    assert after.drifted


def test_the_model_with_the_lower_loss_is_better_after_a_day_and_not_before() -> None:
    comparison = Comparison("first", "second")
    rng = np.random.default_rng(1)
    for minute in range(25 * 60):
        loss = 0.02 + 0.01 * rng.random((5, 2))
        comparison.add(minute, loss, np.where(rng.random((5, 2)) < 0.1, np.nan, 0.9 * loss))
        if minute == 24 * 60 - 1:
            assert comparison.verdict == "not_enough"
    assert comparison.verdict == "better"
    again = Comparison.restored("first", "second", comparison.state())
    assert again == comparison
    assert Comparison.restored("second", "first", comparison.state()).hours == []
    assert Comparison.restored("first", "second", {"champion": "first", "hours": "many"}).hours == []


def test_an_hour_with_gaps_does_not_count() -> None:
    comparison = Comparison("first", "second")
    for minute in (*range(20), *range(60, 95), 120):
        comparison.add(minute, np.full((2, 2), 0.2), np.full((2, 2), 0.1))
    assert len(comparison.hours) == 1


def test_minutes_of_rnics_that_were_silent_are_asked_for_again() -> None:
    ring = Ring(1)
    ring.grow(3)
    for minute in range(100, 105):
        rows = np.array([0] if minute in (102, 103) else [0, 1])
        ring.put(minute, rows, np.ones((len(rows), 1)))
    assert ring.silent_since(104, np.array([0, 1, 2])).tolist() == [104, 102, 104 - HISTORY_MIN + 1]
    ring.add(102, np.array([1]), np.array([[7.0]]))
    assert ring.last(104)[:2, -3, 0].tolist() == [1.0, 7.0]
