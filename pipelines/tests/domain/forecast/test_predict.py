"""Forecasts of histories whose future is known."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from wallwatch.domain.forecast.decline import COLD_FROM, COLD_UNTIL
from wallwatch.domain.forecast.features import NAMES, FeatureMaker
from wallwatch.domain.forecast.forecaster import FEWEST, Forecaster, calibrate, fit
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats, column, targets
from wallwatch.domain.forecast.training_examples import examples_of, together
from wallwatch.domain.forecast.window import History

MASKS = column("egress_masks")


@pytest.fixture(scope="module")
def forecaster(make_history: Callable[..., History], ramps: Callable[[int, int], Floats]) -> Forecaster:
    seen = [examples_of(make_history(ramps(24, seed)), every_min=5) for seed in (1, 2)]
    unseen = examples_of(make_history(ramps(24, 3)), every_min=5)
    together_seen = [together(lot[k] for lot in seen) if k == MASKS else seen[0][k] for k in range(len(targets()))]
    only_masks = [e if k == MASKS else together([]) for k, e in enumerate(together_seen)]
    boosters = fit(only_masks, threads=1, rounds=20)
    return Forecaster(boosters, calibrate(boosters, unseen))


def test_a_new_fleet_starts_cold_and_its_growth_is_damped(make_history: Callable[..., History]) -> None:
    grows = np.arange(60.0)[None, :] * 0.5 + 5
    made = predict(make_history(grows).at(59), None)
    assert made.cold_start.all()
    middle = made.ahead[0, MASKS, :, 1]
    assert (np.diff(middle) > 0).all()
    assert middle[-1] < grows[0, -1] + 0.5 * 60
    assert (made.ahead[0, MASKS, :, 0] <= middle).all()
    assert (made.ahead[0, MASKS, :, 2] >= middle).all()


def test_a_young_rnic_among_old_ones_starts_cold(make_history: Callable[..., History], forecaster: Forecaster) -> None:
    masks = np.tile(np.arange(60.0) * 0.3 + 5, (2, 1))
    masks[1, :55] = np.nan
    history = make_history(masks)
    history.values[1, :55] = np.nan
    made = predict(history.at(59), forecaster)
    assert made.cold_start.tolist() == [False, True]
    assert np.isfinite(made.ahead[:, MASKS]).all()


def test_trained_models_foresee_growth_better_than_persistence(
    make_history: Callable[..., History], ramps: Callable[[int, int], Floats], forecaster: Forecaster
) -> None:
    history = make_history(ramps(24, 4))
    as_now, learnt = [], []
    j = HORIZONS_MIN.index(15)
    for index in range(60, 160, 10):
        made = predict(history.at(index), forecaster)
        truth = history.values[:, index + 15, MASKS]
        as_now.append(np.abs(made.now[:, MASKS] - truth).mean())
        learnt.append(np.abs(made.ahead[:, MASKS, j, 1] - truth).mean())
    assert np.mean(learnt) < 0.6 * np.mean(as_now)


def test_intervals_cover_about_what_they_promise_where_loads_move(
    make_history: Callable[..., History], ramps: Callable[[int, int], Floats], forecaster: Forecaster
) -> None:
    history = make_history(ramps(40, 5))
    inside = []
    for index in range(30, 120, 10):
        made = predict(history.at(index), forecaster)
        for j, ahead in enumerate(HORIZONS_MIN):
            truth = history.values[1::2, index + ahead, MASKS]
            inside.append((truth >= made.ahead[1::2, MASKS, j, 0] - 0.1) & (truth <= made.ahead[1::2, MASKS, j, 2] + 0.1))
    assert np.mean(inside) > 0.8


def test_falling_bandwidth_is_a_decline_and_standing_still_is_none(make_history: Callable[..., History]) -> None:
    grows, still = np.arange(60.0) * 0.5 + 5, np.full(60, 20.0)
    made = predict(make_history(np.stack([grows, still])).at(59), None)
    assert made.decline.share[0] > 0.05
    assert made.decline.in_min[0] in HORIZONS_MIN
    assert made.decline.chance[0] >= COLD_FROM
    assert made.decline.share[1] == pytest.approx(0.0, abs=1e-9)
    assert made.decline.chance[1] < COLD_UNTIL


def test_an_unknown_model_gets_values_ahead_and_no_walls_or_performance(make_history: Callable[..., History]) -> None:
    made = predict(make_history(np.full((1, 60), 20.0), model=None).at(59), None)
    assert np.isfinite(made.ahead[0, MASKS]).all()
    assert np.isnan(made.reached_in_min).all()
    assert np.isnan(made.performance.bandwidth_now).all()
    assert np.isnan(made.decline.share).all()


def test_what_was_not_measured_is_not_forecast(make_history: Callable[..., History]) -> None:
    history = make_history(np.full((2, 60), 20.0))
    history.values[1] = np.nan
    made = predict(history.at(59), None)
    assert np.isnan(made.now[1]).all()
    assert np.isnan(made.ahead[1]).all()
    assert np.isnan(made.reached_in_min[1]).all()


def test_what_happened_an_hour_and_a_day_ago_is_among_the_features(make_history: Callable[..., History]) -> None:
    masks = np.full((1, 1600), 10.0)
    masks[0, 1500 - 1440 + 15] = 25.0  # a quarter of an hour after this minute of yesterday
    masks[0, 1500 - 60 + 5] = 16.0
    rows = FeatureMaker(make_history(masks).at(1500)).of(MASKS).rows.reshape(1, len(HORIZONS_MIN), -1)[0]
    day, hour = rows[:, NAMES.index("season_1440m")], rows[:, NAMES.index("season_60m")]
    assert day[HORIZONS_MIN.index(15)] > 0
    assert hour[HORIZONS_MIN.index(5)] > 0
    assert (np.delete(day, HORIZONS_MIN.index(15)) == 0).all()
    assert (np.delete(hour, HORIZONS_MIN.index(5)) == 0).all()


def test_too_few_examples_teach_nothing(make_history: Callable[..., History]) -> None:
    examples = examples_of(make_history(np.full((2, 90), 20.0)), every_min=5)
    assert max(map(len, examples)) < FEWEST
    assert fit(examples, threads=1) == {}


def test_a_pcie_link_that_came_back_narrow_bounds_the_bandwidth(make_history: Callable[..., History]) -> None:
    history = make_history(np.full((2, 60), 5.0))
    history.link_gbps[1] = 31.5
    made = predict(history.at(59), None)
    assert made.performance.bandwidth_now[0] > 100
    assert made.performance.bandwidth_now[1] == 31.5
    assert (made.performance.bandwidth[1] <= 31.5).all()


def test_a_link_carries_what_is_sent_whatever_its_speed_and_lanes_say(make_history: Callable[..., History]) -> None:
    history = make_history(np.full((2, 60), 5.0))
    shape = (2, 60)
    reported = replace(history, link_gbps=np.full(shape, 25.6), sent_gbps=np.tile([[31.5], [20.0]], (1, 60)))
    made = predict(reported.at(59), None).performance
    assert made.bandwidth_now.round(1).tolist() == [31.5, 25.6]
    assert made.bandwidth.max(axis=(1, 2)).round(1).tolist() == [31.5, 25.6]
    unknown = predict(replace(reported, link_gbps=np.full(shape, np.nan)).at(59), None).performance
    assert (unknown.bandwidth.max(axis=(1, 2)) > 100.0).all()
