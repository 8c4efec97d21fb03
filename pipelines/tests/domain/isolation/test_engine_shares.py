"""Fair shares in floating point, and the smallest set that ends an overload."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallwatch.domain.isolation.engine_shares import smallest_set, water_level

FLOWS = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.1, 10.0)), min_size=1, max_size=6)


@given(FLOWS, st.floats(0.05, 2.0))
def test_shares_fill_the_capacity_and_nobody_gets_more_than_asked_for(flows: list[tuple[float, float]], capacity: float) -> None:
    demands, weights = [flow[0] for flow in flows], [flow[1] for flow in flows]
    level = water_level(capacity, demands, weights)
    shares = [min(demand, level * weight) for demand, weight in flows]
    assert sum(shares) == pytest.approx(min(capacity, sum(demands)))


def test_what_small_demands_leave_is_shared_again_by_weight() -> None:
    level = water_level(12.0, [1.0, 20.0, 20.0], [4.0, 1.0, 2.0])
    assert (min(20.0, level), min(20.0, 2 * level)) == pytest.approx((11 / 3, 22 / 3))


@given(st.lists(st.floats(-0.5, 1.0), min_size=1, max_size=6), st.floats(0.01, 2.0))
def test_no_smaller_set_ends_the_overload(excesses: list[float], overload: float) -> None:
    chosen = smallest_set(excesses, overload, 0.0)
    ended = sum(excesses[position] for position in chosen) >= overload
    for size in range(len(chosen)):
        for others in combinations(range(len(excesses)), size):
            assert not (ended and sum(max(excesses[position], 0.0) for position in others) >= overload + 1e-12)


def test_only_vfs_above_their_share_are_chosen() -> None:
    assert smallest_set([-0.1, 0.2, 0.0], 5.0, 0.0) == [1]
