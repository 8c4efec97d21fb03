"""Predicted declines, and times to walls whose intervals are widened."""

import numpy as np
import pytest

from wallwatch.domain.forecast.decline import COLD_FROM, COLD_UNTIL, SAID_FROM, SAID_UNTIL, Declines, outlook
from wallwatch.domain.forecast.physical_model import Performance
from wallwatch.domain.forecast.targets import HORIZONS_MIN
from wallwatch.domain.forecast.wall_times import came_in_min, judged, reached_in_min, widened


def ahead(likely: list[float], to_end: float) -> Performance:
    now = np.array([100.0])
    middle = np.array(likely)[None, :, None]
    return Performance(now, now, middle + np.array([-to_end, 0.0, to_end]), middle + np.array([-to_end, 0.0, to_end]))


def test_a_certain_decline_is_predicted_and_a_doubtful_one_is_not() -> None:
    sure, doubtful, none = (
        outlook(ahead(likely, to_end))
        for likely, to_end in (([99.0, 97.0, 90.0, 80.0, 70.0], 4), ([99.0, 98.0, 96.0, 95.0, 94.5], 20), ([100.0] * 5, 3))
    )
    assert sure.chance[0] > 0.95
    assert sure.share[0] == pytest.approx(0.3)
    assert sure.in_min[0] == 15
    assert doubtful.chance[0] < COLD_FROM
    assert none.chance[0] < 0.01


def test_of_a_decline_that_only_the_classifier_sees_the_time_is_unknown() -> None:
    found = outlook(ahead([100.0] * 5, 3), np.array([0.9]))
    assert found.chance[0] == 0.9
    assert np.isnan(found.in_min[0])


def test_a_single_bad_horizon_says_nothing() -> None:
    assert outlook(ahead([80, 80, 100, 100, 100], 1)).chance[0] < COLD_UNTIL


def test_a_chance_that_wavers_is_one_decline_and_rnics_may_be_added() -> None:
    declines, learnt = Declines(), np.array([True, True])
    between = (SAID_FROM + SAID_UNTIL) / 2
    assert declines.step(10, np.array([between]), learnt[:1]).tolist() == [False]
    declines.step(11, np.array([0.9]), learnt[:1])
    assert declines.step(12, np.array([between, 0.9]), learnt).tolist() == [True, True]
    assert declines.since.tolist() == [11, 12]
    declines.step(13, np.array([0.1, between]), learnt)
    assert declines.since.tolist() == [-1, 12]


def test_chances_that_are_learnt_and_those_of_quantiles_have_thresholds_of_their_own() -> None:
    between = (COLD_FROM + SAID_FROM) / 2
    assert Declines().step(1, np.array([between, between]), np.array([True, False])).tolist() == [
        between >= SAID_FROM,
        between >= COLD_FROM,
    ]


def test_a_chance_that_is_learnt_stands_in_for_that_of_the_quantiles_where_there_is_one() -> None:
    found = outlook(ahead([100.0] * 5, 3), np.array([0.9]))
    assert (found.chance[0], found.learnt[0]) == (0.9, True)
    without = outlook(ahead([100.0] * 5, 3), np.array([np.nan]))
    assert without.chance[0] < 0.01
    assert not without.learnt[0]


def test_an_unknown_bandwidth_is_no_decline() -> None:
    unknown = outlook(ahead([np.nan] * len(HORIZONS_MIN), 1), np.array([0.9]))
    assert np.isnan(unknown.chance).all()
    assert Declines().step(1, unknown.chance, unknown.learnt).tolist() == [False]


def test_a_wider_interval_has_a_wall_that_came_before_it_and_leaves_the_likely_time() -> None:
    now, limit = np.array([[50.0]]), np.array([[100.0]])
    quantiles = np.array([[[[50, 52, 55], [50, 60, 70], [50, 70, 85], [50, 80, 95], [50, 120, 140]]]], dtype=float)
    came = came_in_min(np.array([[[60.0], *[[80.0]] * 18, [100.0]]]), limit)
    assert came.tolist() == [[20.0]]
    narrow, wide = (reached_in_min(now, widened(quantiles, factor), limit) for factor in (1.0, 2.0))
    assert judged(narrow, came, now, limit).earlier.all()
    assert not judged(wide, came, now, limit).earlier.any()
    assert wide[0, 0, 1] == narrow[0, 0, 1]
    assert wide[0, 0, 0] < narrow[0, 0, 0]
