"""When a wall is reached, against a walk along each path."""

import math

import numpy as np
import pytest

from wallwatch.domain.forecast.targets import HORIZONS_MIN
from wallwatch.domain.forecast.wall_times import DOWN, SOONER, UP, came_in_min, judged, reached_in_min, times, unstretched

INF, NAN = math.inf, math.nan


def naive(now: float, ahead: list[float], limit: float) -> float:
    """Minutes along straight lines from now over the horizons to the first crossing."""
    if now >= limit:
        return 0.0
    minute, value = 0.0, now
    for horizon, then in zip(HORIZONS_MIN, ahead, strict=True):
        if then >= limit:
            return minute + (limit - value) / (then - value) * (horizon - minute)
        minute, value = float(horizon), then
    return INF


def test_a_wall_is_reached_where_the_path_first_crosses_it() -> None:
    rng = np.random.default_rng(5)
    now = rng.uniform(0, 110, (40, 3))
    ahead = np.sort(now[:, :, None, None] + rng.normal(0, 40, (40, 3, len(HORIZONS_MIN), 3)), axis=3)
    limits = rng.uniform(50, 120, (40, 3))
    found = reached_in_min(now, ahead, limits)
    for rnic in range(40):
        for wall in range(3):
            paths = [list(ahead[rnic, wall, :, quantile]) for quantile in (2, 1, 0)]
            expected = [naive(now[rnic, wall], path, limits[rnic, wall]) for path in paths]
            assert found[rnic, wall].tolist() == pytest.approx(expected)
    assert np.isinf(found).any()
    assert (found == 0.0).any()


def one(now: float, limit: float, values: list[float]) -> list[float]:
    ahead = np.array(values)[None, None, :, None] + np.array([-1.0, 0.0, 1.0])
    return [float(each) for each in reached_in_min(np.array([[now]]), ahead, np.array([[limit]]))[0, 0]]


@pytest.mark.parametrize(
    ("now", "limit", "values", "likely"),
    [
        (100.0, 100.0, [50.0] * 5, 0.0),  # at the limit is past it
        (99.0, 100.0, [100.0] * 5, 1.0),
        (50.0, 100.0, [50.0, 50.0, 50.0, 50.0, 100.0], 60.0),
        (50.0, 100.0, [50.0, 50.0, 50.0, 50.0, 99.99], INF),
        (50.0, 100.0, [50.0, 150.0, 0.0, 0.0, 0.0], 3.0),  # the decline after it does not matter
        (NAN, 100.0, [50.0] * 5, NAN),
        (50.0, NAN, [50.0] * 5, NAN),
        (50.0, 100.0, [50.0, NAN, 50.0, 50.0, 150.0], NAN),
    ],
)
def test_edges_of_a_path(now: float, limit: float, values: list[float], likely: float) -> None:
    assert one(now, limit, values)[1] == pytest.approx(likely, nan_ok=True)


def test_a_stretch_moves_the_quantiles_from_the_median_and_brings_the_earliest_time_nearer() -> None:
    now, limits = np.array([[50.0]]), np.array([[100.0]])
    ahead = np.linspace(50.0, 110.0, len(HORIZONS_MIN))[None, None, :, None] + np.array([-20.0, 0.0, 20.0])
    plain = reached_in_min(now, ahead, limits)
    assert times(now, ahead, limits, unstretched()[:1, None, :].copy()).tolist() == plain.tolist()
    stretch = np.ones((1, 1, 3))
    stretch[0, 0, UP], stretch[0, 0, SOONER], stretch[0, 0, DOWN] = 1.5, 4.0, 0.5
    wider = np.linspace(50.0, 110.0, len(HORIZONS_MIN))[None, None, :, None] + np.array([-10.0, 0.0, 30.0])
    expected = reached_in_min(now, wider, limits)[0, 0]
    found = times(now, ahead, limits, stretch)[0, 0]
    assert found.tolist() == [expected[0] / 4.0, expected[1], expected[2]]
    assert expected[1] == plain[0, 0, 1]


def test_a_wall_was_reached_in_the_first_minute_that_is_at_it() -> None:
    after = np.array([[[1.0, 9.0], [5.0, 1.0], [7.0, 1.0]]])
    assert came_in_min(after, np.array([[5.0, 10.0]])).tolist() == [[2.0, INF]]
    assert came_in_min(after, np.array([[1.0, 9.0]])).tolist() == [[1.0, 1.0]]
    assert came_in_min(after, np.array([[NAN, 1.0]])).tolist() == [[INF, 1.0]]


@pytest.mark.parametrize(
    ("earliest", "latest", "came", "now", "verdict"),
    [
        (10.0, 20.0, 15.0, 50.0, (True, True, False, False)),
        (10.0, 20.0, 9.5, 50.0, (True, True, False, False)),  # within half a sample
        (10.0, 20.0, 9.4, 50.0, (True, True, True, False)),
        (10.0, 20.0, 20.5, 50.0, (True, True, False, False)),
        (10.0, 20.0, 20.6, 50.0, (True, True, False, True)),
        (10.0, INF, INF, 50.0, (True, True, False, False)),
        (10.0, 20.0, INF, 50.0, (True, True, False, True)),
        (INF, INF, INF, 50.0, (True, False, False, False)),  # nothing was predicted, and nothing came
        (INF, INF, 30.0, 50.0, (True, True, True, False)),
        (NAN, NAN, 30.0, 50.0, (False, False, False, False)),
        (10.0, 20.0, 9.0, 100.0, (False, False, False, False)),  # it had been reached already
        (10.0, 20.0, 9.0, 99.9, (True, True, True, False)),
    ],
)
def test_an_interval_of_times_is_judged_by_what_came(
    earliest: float, latest: float, came: float, now: float, verdict: tuple[bool, bool, bool, bool]
) -> None:
    likely = (earliest + latest) / 2
    found = judged(np.array([[[earliest, likely, latest]]]), np.array([[came]]), np.array([[now]]), np.array([[100.0]]))
    assert (bool(found.asked[0, 0]), bool(found.concerned[0, 0]), bool(found.earlier[0, 0]), bool(found.later[0, 0])) == verdict
