"""Which exact entries stay, leave and come within the capacity of hyper masks."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import pytest

from wallwatch.domain.planning.hyper import Entry, HyperMask, fit
from wallwatch.domain.planning.traffic import IDLE_S, Traffic


def traffic(idle_s: Sequence[float], packets: Sequence[float] | None = None) -> Traffic:
    counts = np.zeros(len(idle_s)) if packets is None else np.array(packets, dtype=np.float64)
    return Traffic(counts, np.array(idle_s, dtype=np.float64), "", np.ones(len(idle_s), dtype=np.bool_), 0.0)


def mask_of(present: Sequence[int], entries: Sequence[int] = (), warm: Sequence[int] = ()) -> HyperMask:
    of = tuple(Entry(0, row) for row in entries) + tuple(Entry(0, row, known_before=True) for row in warm)
    return HyperMask(0, 1, tuple(present), of, (), 0, 0)


def all_of_them(rows: Sequence[int]) -> AbstractSet[int]:
    return set(rows)


def none_of_them(_: Sequence[int]) -> AbstractSet[int]:
    return set()


@pytest.mark.parametrize(
    ("capacity", "stay", "leave"),
    [(4, (0, 1, 2, 3), ()), (3, (0, 2, 3), (1,)), (2, (0, 2), (1, 3)), (0, (), (0, 1, 2, 3)), (9, (0, 1, 2, 3), ())],
)
def test_above_the_capacity_the_least_recently_used_leave(capacity: int, stay: tuple[int, ...], leave: tuple[int, ...]) -> None:
    [found] = fit([mask_of(range(4))], capacity, traffic([1.0, 400.0, 2.0, 3.0]), all_of_them)
    assert (found.present, found.evicted) == (stay, leave)
    [kept] = fit([mask_of(range(4))], capacity, traffic([1.0, 400.0, 2.0, 3.0]), none_of_them)
    assert (kept.present, kept.evicted) == ((0, 1, 2, 3), ())


def test_of_entries_used_equally_recently_those_with_fewest_packets_leave() -> None:
    [found] = fit([mask_of(range(3))], 2, traffic([5.0, 5.0, 5.0], [9, 1, 7]), all_of_them)
    assert found.evicted == (1,)


@pytest.mark.parametrize(("idle_s", "leaves"), [(IDLE_S - 0.001, False), (IDLE_S, True), (IDLE_S + 1, True), (math.inf, False)])
def test_an_entry_that_is_idle_for_ten_minutes_leaves_and_one_that_was_never_used_does_not(idle_s: float, leaves: bool) -> None:
    [found] = fit([mask_of([0])], 9, traffic([idle_s]), all_of_them)
    assert found.evicted == ((0,) if leaves else ())


@pytest.mark.parametrize(("capacity", "come", "left_out"), [(3, 1, 2), (4, 2, 1), (5, 3, 0), (2, 0, 3), (1, 0, 3)])
def test_new_entries_come_into_what_is_left_the_most_recently_used_first(capacity: int, come: int, left_out: int) -> None:
    idle_s = [1.0, 1.0, 30.0, 10.0, 20.0]
    [found] = fit([mask_of([0, 1], entries=[2, 3, 4])], capacity, traffic(idle_s), none_of_them)
    assert sorted(entry.row for entry in found.entries) == sorted([3, 4, 2][:come])
    assert (found.left_out, found.present) == (left_out, (0, 1))


def test_what_is_only_expected_comes_last_and_what_left_makes_room() -> None:
    idle_s = [700.0, 1.0, 50.0, 0.0]
    [found] = fit([mask_of([0, 1], entries=[2], warm=[3])], 2, traffic(idle_s), all_of_them)
    assert ([entry.row for entry in found.entries], found.evicted, found.left_out) == ([2], (0,), 1)
    assert list(found.shielded) == [2]


def test_the_capacity_is_that_of_all_hyper_masks_together() -> None:
    first, second = fit([mask_of([0], entries=[1]), mask_of([2], entries=[3])], 3, traffic([1.0, 9.0, 2.0, 4.0]), none_of_them)
    assert ([entry.row for entry in first.entries], [entry.row for entry in second.entries]) == ([], [3])
    assert (first.left_out, second.left_out) == (1, 0)
