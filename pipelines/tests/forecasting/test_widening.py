"""Intervals of times to walls, made wider until what came lies inside: each end by itself, apart for what stands still and what moves."""

import numpy as np

from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats
from wallwatch.domain.forecast.wall_times import DOWN, SOONER, UP, times, unstretched
from wallwatch.forecasting.training.interval_widening import FEWEST, Cases, stretch

LIMIT = 100.0


def cases(quantiles: tuple[float, float, float], came_min: Floats, moves: bool) -> Cases:
    """Forecasts of one wall, each growing from 50 by a constant per minute."""
    n = len(came_min)
    growth = np.array(HORIZONS_MIN)[:, None] * np.array(quantiles)
    ahead = np.tile(50.0 + growth, (n, 1, 1, 1))
    one = np.ones((n, 1))
    return Cases(50.0 * one, ahead, LIMIT * one, came_min[:, None], np.full((n, 1), moves))


def both(a: Cases, b: Cases) -> Cases:
    return Cases(*(np.concatenate([getattr(x, name) for x in (a, b)]) for name in ("now", "ahead", "limit", "came", "moves")))


def test_walls_that_come_earlier_than_predicted_make_the_early_end_wider_and_only_of_their_regime() -> None:
    predicted_from_25 = (0.9, 1.0, 2.0)
    came_at_20, came_inside = np.full(FEWEST, 20.0), np.full(FEWEST, 40.0)
    found = stretch(
        both(cases(predicted_from_25, came_at_20, moves=False), cases(predicted_from_25, came_inside, moves=True)), unstretched()
    )
    assert found[0, UP] * found[0, SOONER] > 1.2
    assert found[1].tolist() == [1.0, 1.0, 1.0]
    assert found[0, DOWN] == 1.0


def test_walls_that_come_later_than_predicted_make_the_late_end_wider() -> None:
    found = stretch(cases((1.2, 1.3, 1.4), np.full(FEWEST, 50.0), moves=True), unstretched())
    assert found[1, DOWN] > 1.0
    assert found[1, [UP, SOONER]].tolist() == [1.0, 1.0]


def test_what_was_reached_seldom_keeps_what_is_given() -> None:
    given = np.array([[1.5, 2.0, 1.0], [1.0, 3.0, 1.0]])
    few = cases((0.9, 1.0, 2.0), np.full(FEWEST - 1, 20.0), moves=False)
    assert (stretch(few, given) == given).all()


def test_each_wall_is_stretched_by_what_its_own_regime_asks_for() -> None:
    some = cases((0.9, 1.0, 2.0), np.full(2, 20.0), moves=False)
    factors = np.array([[[1.0, 1.0, 1.0]], [[1.0, 2.0, 3.0]]])
    plain, stretched = times(some.now, some.ahead, some.limit, factors)[:, 0]
    assert plain.tolist() == [25.0, 50.0, 50.0 / 0.9]
    assert stretched[0] == 12.5
    assert stretched[1] == 50.0
    assert np.isinf(stretched[2])
