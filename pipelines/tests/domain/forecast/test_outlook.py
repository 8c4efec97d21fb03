"""Declines from quantiles and from learnt chances, at their bounds."""

import math
from statistics import NormalDist, mean

import numpy as np
import pytest

from wallwatch.domain.forecast.decline import (
    COLD_FROM,
    COLD_UNTIL,
    LASTING_MIN,
    NOISE,
    SAID_FROM,
    SAID_UNTIL,
    Declines,
    chances,
    outlook,
)
from wallwatch.domain.forecast.physical_model import Performance
from wallwatch.domain.forecast.targets import HORIZONS_MIN

NAN = math.nan
Z_90 = 1.645


def performance(now: float, *ahead: tuple[float, float, float]) -> Performance:
    bandwidth = np.array([ahead], dtype=np.float64)
    return Performance(np.array([now]), np.array([now]), bandwidth, bandwidth)


def naive(now: float, low: float, likely: float, high: float) -> float:
    """Half a normal distribution on either side of the median, and the noise of a minute."""
    level = 0.95 * now
    side = likely - low if level < likely else high - likely
    return NormalDist(likely, math.hypot(side / Z_90, NOISE * now)).cdf(level)


QUANTILES_OF = [(80.0, 95.0, 99.0), (90.0, 99.0, 100.0), (60.0, 70.0, 80.0), (95.0, 95.0, 95.0), (99.0, 100.0, 101.0)]


def test_a_chance_is_the_share_of_the_distribution_below_a_decline_of_five_percent() -> None:
    found = chances(performance(100.0, *QUANTILES_OF))[0]
    assert found.tolist() == pytest.approx([naive(100.0, *each) for each in QUANTILES_OF])


def test_without_a_learnt_chance_it_is_the_mean_over_the_horizons_that_last() -> None:
    found = outlook(performance(100.0, *QUANTILES_OF))
    lasting = [naive(100.0, *each) for each, ahead in zip(QUANTILES_OF, HORIZONS_MIN, strict=True) if ahead >= LASTING_MIN]
    assert len(lasting) == 3
    assert float(found.chance[0]) == pytest.approx(mean(lasting))
    assert float(found.share[0]) == pytest.approx(0.3)
    assert found.learnt.tolist() == [False]
    assert float(found.in_min[0]) == 1.0  # the level is the median: as likely as not


def test_a_learnt_chance_comes_first_and_an_unknown_one_does_not() -> None:
    now, ahead = np.array([100.0, 100.0]), np.array([QUANTILES_OF] * 2)
    both = Performance(now, now, ahead, ahead)
    found = outlook(both, np.array([0.9, NAN]))
    assert found.chance[0] == 0.9
    assert found.chance[1] == outlook(performance(100.0, *QUANTILES_OF)).chance[0]
    assert found.learnt.tolist() == [True, False]


def test_where_a_horizon_is_unknown_nothing_is_said() -> None:
    unknown = [*QUANTILES_OF[:4], (NAN, NAN, NAN)]
    found = outlook(performance(100.0, *unknown), np.array([0.9]))
    assert [math.isnan(float(part[0])) for part in (found.share, found.chance, found.in_min)] == [True, True, True]
    assert found.learnt.tolist() == [False]


def test_a_gain_is_no_decline() -> None:
    found = outlook(performance(100.0, *[(119.0, 120.0, 121.0)] * 5))
    assert (float(found.share[0]), math.isnan(float(found.in_min[0]))) == (0.0, True)
    later = outlook(performance(100.0, *[(119.0, 120.0, 121.0)] * 3, (80.0, 90.0, 91.0), (80.0, 90.0, 91.0)))
    assert float(later.in_min[0]) == 30.0


@pytest.mark.parametrize(("learnt", "begins", "ends"), [(True, SAID_FROM, SAID_UNTIL), (False, COLD_FROM, COLD_UNTIL)])
def test_a_decline_is_predicted_from_one_chance_until_below_a_lower_one(learnt: bool, begins: float, ends: float) -> None:
    predicted = Declines()

    def step(minute: int, chance: float) -> tuple[bool, int]:
        return bool(predicted.step(minute, np.array([chance]), np.array([learnt]))[0]), int(predicted.since[0])

    assert step(1, begins - 0.001) == (False, -1)
    assert step(2, begins) == (True, 2)
    assert step(3, ends) == (True, 2)
    assert step(4, begins + 0.1) == (True, 2)
    assert step(5, ends - 0.001) == (False, -1)
    assert step(6, ends) == (False, -1)
    assert step(7, begins) == (True, 7)
    assert step(8, NAN) == (False, -1)


def test_rnics_may_join_and_thresholds_may_be_others() -> None:
    predicted = Declines(thresholds=(0.5, 0.3))
    yes = np.array([True])
    assert predicted.step(1, np.array([0.5]), yes).tolist() == [True]
    assert predicted.step(2, np.array([0.3, 0.4, 0.5]), np.array([True] * 3)).tolist() == [True, False, True]
    assert predicted.since.tolist() == [1, -1, 2]
