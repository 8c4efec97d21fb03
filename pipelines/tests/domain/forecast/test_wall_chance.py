"""The chance of reaching a wall: its threshold, its extremes, and that it agrees with the times to walls."""

from collections.abc import Callable

import numpy as np
import pytest

from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.split_normal import chance_below
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, limits
from wallwatch.domain.forecast.wall_chance import LIKELY_FROM, chances_within_hour
from wallwatch.domain.forecast.wall_times import reached_in_min
from wallwatch.domain.forecast.window import History


def test_exactly_the_walls_that_are_likely_have_a_likely_time() -> None:
    rng = np.random.default_rng(1)
    ahead = np.sort(rng.normal(90, 20, (500, 5, len(HORIZONS_MIN), len(QUANTILES))), axis=-1)
    ahead[:100] = np.round(ahead[:100], -1)  # quantiles that coincide, and medians exactly at the limit
    now, limit = rng.uniform(0, 110, (500, 5)), np.full((500, 5), 100.0)
    likely = np.isfinite(reached_in_min(now, ahead, limit)[:, :, 1])
    chance = chances_within_hour(now, ahead, limit)
    assert 0.2 < likely.mean() < 0.8
    assert ((ahead[:100, :, :, 1] == 100.0) & (ahead[:100, :, :, 0] == 100.0)).any()
    np.testing.assert_array_equal(chance >= LIKELY_FROM, likely)


@pytest.mark.parametrize(("now", "expected"), [(99.9, 0.05), (100.0, 1.0), (250.0, 1.0), (np.nan, np.nan)])
def test_a_wall_is_certain_from_the_limit_on_and_unknown_without_a_value(now: float, expected: float) -> None:
    ahead = np.tile([20.0, 50.0, 100.0], (1, 1, len(HORIZONS_MIN), 1))
    chance = chances_within_hour(np.array([[now]]), ahead, np.array([[100.0]]))
    np.testing.assert_allclose(chance, [[expected]], atol=1e-4)


def test_an_unknown_limit_or_horizon_has_no_chance() -> None:
    ahead = np.tile([20.0, 50.0, 100.0], (1, 2, len(HORIZONS_MIN), 1))
    ahead[0, 1, 2, 0] = np.nan
    assert np.isnan(chances_within_hour(np.array([[1.0, 1.0]]), ahead, np.array([[np.nan, 100.0]]))).all()


def test_the_highest_horizon_counts() -> None:
    ahead = np.tile([0.0, 10.0, 20.0], (1, 1, len(HORIZONS_MIN), 1))
    ahead[0, 0, 2] = [90.0, 100.0, 110.0]
    assert chances_within_hour(np.array([[10.0]]), ahead, np.array([[100.0]])).tolist() == [[0.5]]


def test_noise_widens_the_distribution_and_each_side_has_its_own_width() -> None:
    quantiles = np.array([[90.0, 100.0, 130.0]])
    below, above = (float(chance_below(np.array([level]), quantiles)[0]) for level in (90.0, 110.0))
    assert below == pytest.approx(0.05, abs=1e-4)
    assert 0.6 < above < 0.8  # a third of the way to the upper quantile
    assert float(chance_below(np.array([90.0]), quantiles, 10.0)[0]) > 2 * below


def test_a_cold_fleet_that_stands_still_is_warned_of_nothing_and_one_that_grows_is(make_history: Callable[..., History]) -> None:
    grows, still, past = np.arange(60.0) * 0.6 + 5, np.full(60, 20.0), np.full(60, 60.0)
    history = make_history(np.stack([grows, still, past]))
    made = predict(history.at(59), None)
    masks = made.wall_chance[:, 1]
    assert np.isfinite(limits(history.models)[:, 1]).all()
    assert masks[0] >= LIKELY_FROM > masks[1]
    assert masks[2] == 1.0
    assert np.isfinite(made.reached_in_min[1, 1, 0])  # it may be reached: no reason to warn


def test_an_rnic_with_little_history_is_warned_of_nothing_but_what_it_has_reached(make_history: Callable[..., History]) -> None:
    values = np.tile(np.arange(60.0) * 4, (2, 1))
    values[1] = 60.0
    history = make_history(values)
    history.values[:, :52] = np.nan
    history.values[0, 52:, 1] = np.arange(8.0) * 4  # 4 masks a minute for 8 minutes: a start, no trend
    made = predict(history.at(59), None)
    assert made.cold_start.all()
    assert made.wall_chance[0, 1] < LIKELY_FROM
    assert made.wall_chance[1, 1] == 1.0
