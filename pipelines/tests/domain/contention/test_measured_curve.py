"""Curves fitted to noisy measurements, against the curve that was measured."""

import numpy as np
import pytest

from wallwatch.domain.contention.measured_curve import UnusableMeasurements, fit

SOLO = 800.0


def drop(load: float) -> float:
    """Saturates at 20%."""
    return float(0.2 * (1 - np.exp(-load / 2)))


def measurements(seed: int, noise: float = 0.01, count: int = 42, alone: int = 8) -> list[tuple[float, float]]:
    random = np.random.default_rng(seed)
    loads = [0.0] * alone + np.linspace(0.15, 7.5, count).tolist()
    return [(load, SOLO * (1 - drop(load)) * float(1 + random.normal(0, noise))) for load in loads]


def test_the_fit_is_several_times_better_than_a_measurement_and_knows_its_error() -> None:
    wrong, in_errors = [], []
    for seed in range(15):
        curve = fit(measurements(seed))
        for (load, found), error in zip(curve.points, curve.errors, strict=True):
            if 0.5 <= load <= 7.5:
                wrong.append(found - drop(load))
                in_errors.append((found - drop(load)) / error)
    assert np.std(wrong) < 0.0085, "two measurements of 1% differ by 1.4%"
    assert 0.6 < np.std(in_errors) < 1.5


def test_drops_ascend_from_zero_whatever_the_noise() -> None:
    curve = fit(measurements(3, noise=0.05))
    drops = [found for _, found in curve.points]
    assert drops[0] == 0
    assert drops == sorted(drops)
    assert curve.errors[0] < 1e-6, "alone, nothing is lost by definition"


def test_the_error_grows_where_nothing_was_measured() -> None:
    curve = fit(measurements(1))
    assert curve.points[-1][0] == pytest.approx(15.0)
    assert curve.errors[-1] > 3 * float(np.median(curve.errors))


def test_more_measurements_at_a_load_make_its_drop_surer() -> None:
    rows, random = measurements(5), np.random.default_rng(6)
    before = fit(rows)
    rows += [(3.0, SOLO * (1 - drop(3.0)) * float(1 + random.normal(0, 0.01))) for _ in range(40)]
    rows += [(0.0, SOLO * float(1 + random.normal(0, 0.01))) for _ in range(40)]
    after = fit(rows)
    error = [float(np.interp(3.0, [load for load, _ in curve.points], curve.errors)) for curve in (before, after)]
    assert error[1] < 0.8 * error[0]


def test_the_order_of_measurements_does_not_matter() -> None:
    rows = measurements(2)
    assert np.allclose(fit(rows).points, fit(rows[::-1]).points, rtol=1e-3, atol=1e-5)


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(UnusableMeasurements, match="at least 8"):
        fit(measurements(1)[:5])
    with pytest.raises(UnusableMeasurements, match="alone on the card"):
        fit(measurements(1)[8:])
    with pytest.raises(UnusableMeasurements, match="three different loads"):
        fit([(0.0, 800.0)] * 5 + [(1.0, 700.0)] * 5)
