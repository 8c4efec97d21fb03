"""The surfaces that a fit takes: derivatives against finite differences, bounds and priors worked out by hand."""

from collections.abc import Callable

import numpy as np
import pytest

from wallwatch.domain.calibration import surfaces
from wallwatch.domain.calibration.least_squares import Floats
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us

CX6, CX7 = profiles()["CX-6"].performance, profiles()["CX-7"].performance
Q_L, Q_R = np.array([0.0, 10.0, 40.0, 3.0]), np.array([0.0, 5.0, 0.0, 60.0])
SURFACE = np.array([CX6.u, CX6.v, CX6.m, CX6.n, CX6.w])
LINE = np.array([CX6.a, CX6.b, CX6.c])


def test_a_surface_is_the_model_of_performance() -> None:
    places = list(zip(Q_L, Q_R, strict=True))
    assert surfaces.bandwidth(SURFACE, Q_L, Q_R).tolist() == pytest.approx([bandwidth_gbps(CX6, *place) for place in places])
    assert surfaces.latency(LINE, Q_L, Q_R).tolist() == pytest.approx([latency_us(CX6, *place) for place in places])


@pytest.mark.parametrize(
    ("of", "gradient", "at"),
    [(surfaces.bandwidth, surfaces.bandwidth_gradient, SURFACE), (surfaces.latency, surfaces.latency_gradient, LINE)],
)
def test_a_gradient_is_how_the_surface_changes_with_each_parameter(
    of: Callable[[Floats, Floats, Floats], Floats], gradient: Callable[[Floats, Floats, Floats], Floats], at: Floats
) -> None:
    found = gradient(at, Q_L, Q_R)
    assert found.shape == (len(Q_L), len(at))
    for number in range(len(at)):
        step = np.zeros(len(at))
        step[number] = max(abs(at[number]), 1.0) * 1e-6
        expected = (of(at + step, Q_L, Q_R) - of(at - step, Q_L, Q_R)) / (2 * step[number])
        assert found[:, number].tolist() == pytest.approx(expected.tolist(), rel=1e-4, abs=1e-7)


def test_bandwidth_is_sought_around_the_current_profile_and_within_what_is_physical() -> None:
    values = np.array([200.0, 50.0])
    model = surfaces.of("bandwidth", CX6, values, Q_L, Q_R)
    assert model.names == ("u", "v", "m", "n", "w")
    assert model.believed.tolist() == SURFACE.tolist()
    assert model.spread.tolist() == [CX6.u, CX6.v / 2, 30.0, 30.0, max(CX6.w, 5.0)]
    top = 1000 * max(200.0, CX6.u)
    assert model.lower.tolist() == [1e-6, 1.0, -1000.0, -1000.0, 0.0]
    assert model.upper.tolist() == [top, 1000.0, 0.0, 0.0, 10 * top]
    helped_by_lookups = CX6.model_copy(update={"m": 5.0, "n": 6.0, "w": 0.0})
    model = surfaces.of("bandwidth", helped_by_lookups, np.array([2000.0, 50.0]), Q_L, Q_R)
    assert model.believed.tolist() == [CX6.u, CX6.v, 0.0, 0.0, 0.0]
    assert (model.spread[4], model.upper[0]) == (5.0, 2_000_000.0)


@pytest.mark.parametrize(
    ("q_l", "q_r", "slope"), [([0, 40], [0, 20], 0.1), ([0, 20], [0, 40], 0.1), ([0, 0], [0, 0.5], 4.0), ([0, 0], [0, 0], 4.0)]
)
def test_latency_is_sought_as_widely_as_the_values_allow(q_l: list[float], q_r: list[float], slope: float) -> None:
    model = surfaces.of("latency", CX6, np.array([2.0, 4.0]), np.array(q_l), np.array(q_r))
    assert model.names == ("a", "b", "c")
    assert model.believed.tolist() == LINE.tolist()
    assert model.spread.tolist() == pytest.approx([slope, slope, 4.0])
    assert (model.lower.tolist(), model.upper.tolist()) == ([0.0] * 3, [np.inf] * 3)
    below_zero = CX6.model_copy(update={"a": -1.0, "b": -1.0, "c": -1.0})
    assert surfaces.of("latency", below_zero, np.array([2.0, 4.0]), Q_L, Q_R).believed.tolist() == [0.0, 0.0, 0.0]


def test_the_search_starts_from_other_models_at_the_height_of_the_values_narrow_and_wide() -> None:
    values = np.array([90.0, 30.0])
    found = surfaces.starts("bandwidth", CX6, [CX7], values)
    assert len(found) == 6
    for start, (one, widen) in zip(found, [(p, w) for p in (CX7, CX6) for w in (0.5, 1.0, 2.0)], strict=True):
        assert start[1:4].tolist() == [one.v * widen, one.m * widen, one.n * widen]
        head = surfaces.bandwidth(np.array([start[0], one.v, one.m, one.n, start[4]]), np.zeros(1), np.zeros(1))
        assert float(head[0]) == pytest.approx(90.0)
        assert start[4] / start[0] == pytest.approx(one.w / one.u)
    assert [start.tolist() for start in surfaces.starts("latency", CX6, [CX7], values)] == [[0.01, 0.01, 30.0]]
