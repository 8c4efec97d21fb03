"""Examples to learn from: labels worked out by hand, from the minutes that have a future."""

from collections.abc import Callable

import numpy as np
import pytest

from wallwatch.domain.forecast.features import NAMES, QUIET
from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats, column, scales
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN, Examples, batches, examples_of, is_growing, together
from wallwatch.domain.forecast.window import History

MASKS = column("egress_masks")
MINUTES = 150
SCALE = float(scales(["CX-6"])[0, MASKS])


def growing_then_steady() -> Floats:
    """One RNIC: 0.5 masks per minute until minute 80, then as many as it has; one that stands still."""
    minutes = np.arange(MINUTES)
    return np.array([5.0 + 0.5 * np.minimum(minutes, 80), np.full(MINUTES, 7.0)])


def of(examples: Examples, ahead: int) -> tuple[Floats, Floats]:
    """Levels and labels of the examples of a horizon."""
    chosen = examples.rows[:, NAMES.index("horizon_min")] == ahead
    return examples.rows[chosen, NAMES.index("level")].astype(np.float64) * SCALE, examples.labels[chosen]


def test_a_label_is_how_far_the_change_was_from_the_present_growth(make_history: Callable[..., History]) -> None:
    found = examples_of(make_history(growing_then_steady()))[MASKS]
    rate = 0.5 / SCALE
    for ahead in HORIZONS_MIN:
        levels, labels = of(found, ahead)
        # The first minute with ten before it, to the last one that has a future.
        assert len(labels) == 2 * (MINUTES - LEAST_HISTORY_MIN - ahead)
        for level, label in zip(levels, labels, strict=True):
            minute = round((level - 5.0) / 0.5)
            if level == pytest.approx(7.0, abs=1e-4) or not 20 <= minute < 80:
                continue
            change = min(80 - minute, ahead) * 0.5 / SCALE / ahead
            assert label == pytest.approx((change - rate) / (rate + QUIET), abs=1e-3), (ahead, minute)


def test_what_stands_still_continues_and_is_not_growing(make_history: Callable[..., History]) -> None:
    found = examples_of(make_history(np.full((1, MINUTES), 7.0)))[MASKS]
    assert found.labels.tolist() == pytest.approx([0.0] * len(found))
    assert len(found) > 0
    assert not found.growing.any()
    grows = examples_of(make_history(5.0 + 0.5 * np.arange(MINUTES)[None, :]))[MASKS]
    late = grows.rows[:, NAMES.index("age_min")] > 15
    assert grows.growing[late].all()
    assert grows.labels[late].tolist() == pytest.approx([0.0] * int(late.sum()), abs=1e-3)


@pytest.mark.parametrize(("every", "offset"), [(1, 0), (7, 0), (7, 3)])
def test_examples_are_of_every_so_many_minutes(make_history: Callable[..., History], every: int, offset: int) -> None:
    found = examples_of(make_history(growing_then_steady()[:1]), every, offset)[MASKS]
    minutes = range(LEAST_HISTORY_MIN + offset, MINUTES, every)
    for ahead in HORIZONS_MIN:
        levels, _ = of(found, ahead)
        expected = [5.0 + 0.5 * min(minute, 80) for minute in minutes if minute + ahead < MINUTES]
        assert levels.tolist() == pytest.approx(expected, rel=1e-4)


def test_each_history_begins_at_another_minute(make_history: Callable[..., History]) -> None:
    histories = [make_history(growing_then_steady()[:1])] * 3
    found = list(batches(histories, 2))
    assert [each[MASKS].labels.tolist() for each in found] == [
        examples_of(histories[0], 2, offset)[MASKS].labels.tolist() for offset in (0, 1, 0)
    ]


def test_lots_of_examples_are_put_together() -> None:
    one = Examples(np.ones((2, 3), dtype=np.float32), np.array([1.0, 2.0]), np.array([True, False]))
    two = Examples(np.zeros((1, 3), dtype=np.float32), np.array([3.0]), np.array([True]))
    found = together([one, two])
    assert (len(found), found.labels.tolist(), found.growing.tolist()) == (3, [1.0, 2.0, 3.0], [True, False, True])
    assert found.rows.shape == (3, 3)
    assert len(together([])) == 0


@pytest.mark.parametrize(("rate", "growing"), [(QUIET * 0.99, False), (QUIET * 1.01, True), (-QUIET * 1.01, True), (0.0, False)])
def test_growth_is_what_exceeds_standing_still(rate: float, growing: bool) -> None:
    assert bool(is_growing(np.array([rate]), np.array([abs(rate) + QUIET]))[0]) is growing
