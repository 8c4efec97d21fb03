"""The damped trend against a walk minute by minute, and what its interval is made of."""

import math

import numpy as np
import pytest

from wallwatch.domain.forecast.damped_trend import FEWEST, HALF_LIFE_MIN, damped, likely_labels, margins, starting_margins
from wallwatch.domain.forecast.features import NAMES, QUIET, Features
from wallwatch.domain.forecast.targets import HORIZONS_MIN, targets
from wallwatch.domain.forecast.training_examples import Examples

NO_MARGIN = np.zeros((2, len(HORIZONS_MIN), 2))
Z_90 = 1.645


def features(now: float, rate: float, unit: float) -> Features:
    return Features(np.empty((0, 0), dtype=np.float32), np.array([now]), np.array([rate]), np.array([unit]))


@pytest.mark.parametrize("rate", [2.0, -0.5])
def test_growth_loses_half_of_its_rate_every_half_life(rate: float) -> None:
    found = damped(features(100.0, rate, abs(rate)), np.zeros(1), NO_MARGIN)[0, :, 1]
    steps = 1000
    for ahead, value in zip(HORIZONS_MIN, found, strict=True):
        walked = sum(rate * 0.5 ** ((k + 0.5) * ahead / steps / HALF_LIFE_MIN) for k in range(steps)) * ahead / steps
        assert value == pytest.approx(100.0 + walked, rel=1e-5)


def test_a_label_of_minus_one_would_be_an_end_of_the_growth() -> None:
    labels = likely_labels(np.array([2.0]), np.array([2.0]), np.array([1e-6, HALF_LIFE_MIN, 1e9]))
    assert labels.tolist() == pytest.approx([0.0, 0.5 / math.log(2) - 1.0, -1.0], abs=1e-6)


@pytest.mark.parametrize(("rate", "kind"), [(0.0, 0), (50.0, 1)])
def test_the_interval_is_that_of_steady_or_of_changing_values(rate: float, kind: int) -> None:
    of_each = np.arange(20.0).reshape(2, 5, 2)
    of_each[:, :, 0] *= -1
    unit = abs(rate) + 1.0
    plain = damped(features(1e6, rate, unit), np.zeros(1), NO_MARGIN)[0]
    found = damped(features(1e6, rate, unit), np.zeros(1), of_each)[0]
    ahead = np.array(HORIZONS_MIN)
    assert found[:, 1].tolist() == plain[:, 1].tolist()
    assert (found[:, 0] - plain[:, 1]).tolist() == pytest.approx((of_each[kind, :, 0] * unit * ahead).tolist(), abs=1e-6)
    assert (found[:, 2] - plain[:, 1]).tolist() == pytest.approx((of_each[kind, :, 1] * unit * ahead).tolist(), abs=1e-6)


def test_the_interval_reaches_as_far_as_the_value_moves_about_its_trend() -> None:
    found = damped(features(1000.0, 0.0, 1.0), np.array([3.0]), NO_MARGIN)[0]
    for (low, likely, high), ahead in zip(found, HORIZONS_MIN, strict=True):
        assert (likely - low, high - likely) == pytest.approx((Z_90 * 3.0 * math.sqrt(ahead),) * 2)
    wide = NO_MARGIN.copy()
    wide[:, :, 0], wide[:, :, 1] = -100.0, 100.0
    assert damped(features(1e6, 0.0, 1.0), np.array([3.0]), wide)[0, 0].tolist() == [1e6 - 100.0, 1e6, 1e6 + 100.0]


def test_nothing_falls_below_zero() -> None:
    assert damped(features(5.0, -10.0, 10.0), np.array([50.0]), NO_MARGIN).min() == 0.0


@pytest.mark.parametrize(("count", "learned"), [(FEWEST - 1, False), (FEWEST, True)])
def test_margins_are_learned_from_enough_examples_of_a_kind_and_horizon(count: int, learned: bool) -> None:
    ahead, kind = 15, 1
    rows = np.zeros((count, len(NAMES)), dtype=np.float32)
    rows[:, NAMES.index("rate")], rows[:, NAMES.index("horizon_min")] = 0.5, ahead
    trend = float(likely_labels(np.array(0.5), np.array(0.5 + QUIET), np.array(float(ahead))))
    deviations = np.linspace(-2.0, 3.0, count)
    examples = Examples(rows, trend + deviations, np.full(count, bool(kind)))
    nothing = Examples(rows[:0], deviations[:0], np.zeros(0, dtype=np.bool_))
    found = margins([examples, *[nothing] * (len(targets()) - 1)])
    first, at = targets()[0].name, HORIZONS_MIN.index(ahead)
    expected = starting_margins()[first].copy()
    if learned:
        expected[kind, at] = np.quantile(deviations, 0.05), np.quantile(deviations, 0.95)
    assert found[first].ravel().tolist() == pytest.approx(expected.ravel().tolist(), abs=1e-6)
    for target in targets()[1:]:
        assert found[target.name].tolist() == starting_margins()[target.name].tolist()


def test_a_margin_never_lies_on_the_other_side_of_the_trend() -> None:
    rows = np.zeros((FEWEST, len(NAMES)), dtype=np.float32)
    rows[:, NAMES.index("horizon_min")] = 1
    for label, low, high in ((4.0, 0.0, 4.0), (-4.0, -4.0, 0.0)):
        examples = Examples(rows, np.full(FEWEST, label), np.zeros(FEWEST, dtype=np.bool_))
        found = margins([examples] * len(targets()))[targets()[0].name]
        assert found[0, 0].tolist() == [low, high]
