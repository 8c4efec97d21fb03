"""Interval widths that follow their outcomes: where they go, how far, and what teaches them nothing."""

from collections.abc import Callable

import numpy as np
import pytest

from wallwatch.domain.forecast.interval_widths import BANDWIDTH, LEAST, MOST, IntervalWidths, with_bandwidth
from wallwatch.domain.forecast.physical_model import combined
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import HORIZONS_MIN, column
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.registry import base_model

RNICS = 400
AT_15 = HORIZONS_MIN.index(15)


def follow(spread: float, minutes: int, rnics: int = RNICS, growing: bool = False) -> IntervalWidths:
    """Intervals of +-1.645 around 100, and values whose standard deviation is `spread`."""
    rng = np.random.default_rng(1)
    widths = IntervalWidths()
    flags = np.full((rnics, BANDWIDTH + 1), growing)
    ahead = np.tile([98.355, 100.0, 101.645], (rnics, BANDWIDTH + 1, 1))
    as_trained = np.zeros_like(widths.logarithms)
    for _ in range(minutes):
        widths.learn(AT_15, as_trained, flags, ahead, 100.0 + spread * rng.standard_normal((rnics, BANDWIDTH + 1)))
    return widths


@pytest.mark.parametrize(("spread", "factor"), [(1.0, 1.0), (1.5, 1.5), (0.7, 0.7), (0.1, LEAST), (10.0, MOST)])
def test_a_factor_goes_where_five_percent_lie_beyond_and_stays_within_its_bounds(spread: float, factor: float) -> None:
    found = np.exp(follow(spread, 4000, rnics=100).logarithms[:, 0, AT_15])
    np.testing.assert_allclose(found, factor, rtol=0.05)


def test_only_what_had_an_outcome_learns() -> None:
    widths = follow(3.0, 50, growing=True)
    assert (widths.logarithms[:, 1, AT_15] > 0).all()
    assert not widths.logarithms[:, 0].any()
    assert not np.delete(widths.logarithms, AT_15, axis=2).any()


def test_a_single_rnic_moves_the_width_less_than_a_fleet() -> None:
    one, fleet = (follow(1000.0, 5, rnics=n).logarithms[:, 0, AT_15].sum() for n in (1, RNICS))
    assert 0 < one < 0.15 * fleet


def test_unknown_values_and_forecasts_teach_nothing() -> None:
    widths = IntervalWidths()
    ahead, steady = np.tile([98.0, 100.0, 102.0], (RNICS, BANDWIDTH + 1, 1)), np.zeros((RNICS, BANDWIDTH + 1), dtype=np.bool_)
    widths.learn(AT_15, widths.logarithms.copy(), steady, ahead, np.full(steady.shape, np.nan))
    widths.learn(AT_15, widths.logarithms.copy(), steady, np.full_like(ahead, np.nan), np.full(steady.shape, 7.0))
    assert not widths.logarithms.any()


def test_a_value_on_the_end_of_its_interval_is_inside() -> None:
    widths, steady = IntervalWidths(), np.zeros((RNICS, BANDWIDTH + 1), dtype=np.bool_)
    ahead = np.full((*steady.shape, 3), np.float32(12345.678), dtype=np.float64)  # kept with the precision of float32
    widths.learn(AT_15, widths.logarithms.copy(), steady, ahead, np.full(steady.shape, 12345.678))
    assert (widths.logarithms[:, 0, AT_15] < 0).all()


def test_an_old_forecast_is_judged_with_the_widths_of_now() -> None:
    """Otherwise an hour of forecasts would go on asking for what has been corrected already."""
    widths, steady = IntervalWidths(), np.zeros((RNICS, BANDWIDTH + 1), dtype=np.bool_)
    widths.logarithms[:, 0, AT_15] = np.log(2.0)
    ahead = np.tile([98.0, 100.0, 102.0], (RNICS, BANDWIDTH + 1, 1))
    beyond_then_inside_now = np.full(steady.shape, 103.0)
    widths.learn(AT_15, np.zeros_like(widths.logarithms), steady, ahead, beyond_then_inside_now)
    assert (widths.logarithms[:, 0, AT_15] < np.log(2.0)).all()


def test_a_forecast_takes_the_widths_of_its_value_and_kind_and_a_cold_one_none(make_history: Callable[..., History]) -> None:
    history = make_history(np.stack([np.arange(60.0) * 0.6 + 5, np.full(60, 20.0)]))
    model, masks = base_model.load(), column("egress_masks")
    widths = IntervalWidths()
    widths.logarithms[masks, 1, AT_15] = np.log([1.0, 2.0])
    widths.logarithms[BANDWIDTH, :, :, 0] = np.log(0.5)
    plain, wide = predict(history.at(59), model), predict(history.at(59), model, widths)
    up = [one.ahead[:, masks, AT_15, 2] - one.ahead[:, masks, AT_15, 1] for one in (plain, wide)]
    assert up[0][0] > 0
    assert up[1][0] == pytest.approx(2 * up[0][0])
    assert up[1][1] == pytest.approx(up[0][1])  # it stands still
    np.testing.assert_allclose(wide.ahead[:, masks, AT_15, :2], plain.ahead[:, masks, AT_15, :2])
    down = [one.bandwidth_of_loads[:, AT_15, 1] - one.bandwidth_of_loads[:, AT_15, 0] for one in (plain, wide)]
    assert down[0][0] > 0
    np.testing.assert_allclose(down[1], 0.5 * down[0])
    cold = [predict(history.at(59), None, each) for each in (None, widths)]
    np.testing.assert_array_equal(cold[0].ahead, cold[1].ahead)
    np.testing.assert_array_equal(cold[0].bandwidth_of_loads, cold[1].bandwidth_of_loads)


def test_bandwidth_grows_with_the_lookups_of_either_side() -> None:
    growing = np.zeros((3, BANDWIDTH), dtype=np.bool_)
    growing[0, column("q_l")] = growing[1, column("q_r")] = growing[2, column("egress_masks")] = True
    assert with_bandwidth(growing)[:, BANDWIDTH].tolist() == [True, True, False]


def test_one_cause_alone_gives_its_own_interval_and_two_less_than_both_together() -> None:
    still = np.array([[100.0, 100.0, 100.0]])
    one = np.array([[70.0, 100.0, 110.0]])
    np.testing.assert_allclose(combined(one, still), one)
    np.testing.assert_allclose(combined(still, one), one)
    np.testing.assert_allclose(combined(one, one), [[100 - 30 * 2**0.5, 100, 100 + 10 * 2**0.5]])
    assert np.isnan(combined(one, np.full((1, 3), np.nan))).any()
    reversed_ends = np.array([[110.0, 100.0, 70.0]])  # many lookups are the low end of a bandwidth
    np.testing.assert_allclose(combined(reversed_ends, still), one)
