"""Forecasts that wait for their outcome: at each horizon, with the values of the right minute, and over a restart."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from wallwatch.domain.forecast.interval_widths import MOST
from wallwatch.domain.forecast.predict import Forecast, predict
from wallwatch.domain.forecast.targets import HORIZONS_MIN, column
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.live import outcomes as module
from wallwatch.forecasting.live.outcomes import Outcomes
from wallwatch.forecasting.registry import base_model

MASKS = column("egress_masks")


@pytest.fixture(scope="module")
def made(make_history: Callable[..., History]) -> Forecast:
    return predict(make_history(np.full((20, 60), 20.0)).at(59), base_model.load())


def step(outcomes: Outcomes, made: Forecast, minute: int, masks: float) -> None:
    values = made.now.copy()
    values[:, MASKS] = masks
    outcomes.settle(minute, values, made.performance.bandwidth_now)
    outcomes.note(replace(made, minute=minute))


def test_each_horizon_learns_as_soon_as_its_outcome_is_there(made: Forecast) -> None:
    outcomes = Outcomes()
    for minute in range(100, 161):
        step(outcomes, made, minute, masks=1000.0)
        learnt = outcomes.widths.logarithms[MASKS, 0, :, 1] > 0
        assert learnt.tolist() == [minute - 100 >= ahead for ahead in HORIZONS_MIN]
    assert (outcomes.widths.logarithms[MASKS, 0, :, 0] <= 0).all()  # nothing was below


def test_minutes_that_were_missed_teach_nothing(made: Forecast) -> None:
    outcomes = Outcomes()
    step(outcomes, made, 100, 1000.0)
    outcomes.settle(102, made.now, made.performance.bandwidth_now)
    assert not outcomes.widths.logarithms.any()


def test_rnics_that_start_cold_teach_nothing(made: Forecast) -> None:
    outcomes = Outcomes()
    for minute in range(100, 110):
        step(outcomes, replace(made, cold_start=np.ones(len(made), dtype=np.bool_)), minute, 1000.0)
    assert not outcomes.widths.logarithms.any()


def test_of_a_large_fleet_some_rnics_are_followed_and_an_hour_is_kept(made: Forecast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RNICS", 7)
    outcomes = Outcomes()
    for minute in range(100, 300):
        step(outcomes, made, minute, 20.0)
    assert len(outcomes._waiting) == max(HORIZONS_MIN) + 1
    assert {tuple(one.rows.tolist()) for one in outcomes._waiting} == {tuple(range(0, 20, 3))}


def test_a_process_that_starts_goes_on_with_the_widths_that_were_stored(made: Forecast) -> None:
    outcomes = Outcomes()
    for minute in range(100, 130):
        step(outcomes, made, minute, 1000.0)
    again = Outcomes.restored({"widths": outcomes.state()})
    np.testing.assert_allclose(again.widths.logarithms, outcomes.widths.logarithms, atol=1e-4)


@pytest.mark.parametrize("stored", [None, "wide", [1.0, 2.0], [[["a"]]]])
def test_what_is_not_ours_is_ignored(stored: object) -> None:
    assert not Outcomes.restored({"widths": stored}).widths.logarithms.any()


def test_stored_widths_are_kept_within_their_bounds() -> None:
    beyond = (Outcomes().widths.logarithms + 99.0).tolist()
    np.testing.assert_allclose(Outcomes.restored({"widths": beyond}).widths.logarithms, np.log(MOST))
    assert not Outcomes.restored({"widths": (Outcomes().widths.logarithms + np.inf).tolist()}).widths.logarithms.any()
