"""Which buckets of roll-ups are computed when."""

from collections.abc import Callable

import pytest

from wallwatch.jobs.pending_buckets import PendingBuckets
from wallwatch.store.rollups import TENANT_1M, TENANT_HOUR, VF_DAY, VF_HOUR, Rollup

HOUR, DAY = 3_600, 86_400
NOW = 10 * DAY + 5 * HOUR + 30 * 60


class Database:
    """Notes what is computed; each bucket takes `cost_s` on a clock of its own."""

    def __init__(self, cost_s: float = 0.0) -> None:
        self.cost_s = cost_s
        self.at_s = 0.0
        self.computed: list[tuple[str, int]] = []
        self.fails = False

    def clock(self) -> float:
        return self.at_s

    def compute(self, rollup: Rollup, bucket: int) -> None:
        if self.fails:
            raise RuntimeError("no database")
        self.at_s += self.cost_s
        self.computed.append((rollup.view, bucket))


@pytest.fixture
def database() -> Database:
    return Database()


New = Callable[..., PendingBuckets]


@pytest.fixture
def new(database: Database) -> New:
    return lambda *rollups: PendingBuckets(rollups or (VF_HOUR, VF_DAY), database.clock)


def test_an_hour_and_then_its_day_are_computed_where_rows_arrived_and_nowhere_else(database: Database, new: New) -> None:
    pending = new(TENANT_1M, TENANT_HOUR, VF_HOUR, VF_DAY)
    pending.note("vf_minute", [NOW, NOW - 60])
    pending.compute(NOW, 0, database.compute)
    minute, hour = NOW, NOW - NOW % HOUR
    assert database.computed == [
        ("tenant_1m", minute), ("tenant_1m", minute - 60), ("tenant_hour", hour), ("vf_hour", hour), ("vf_day", NOW - NOW % DAY),
    ]  # fmt: skip
    pending.compute(NOW, 0, database.compute)
    assert len(database.computed) == 5


def test_a_late_minute_computes_its_hour_and_day_and_not_the_time_since(database: Database, new: New) -> None:
    pending = new()
    pending.note("vf_minute", [2 * DAY + 90, NOW])
    pending.compute(NOW, 0, database.compute)
    assert database.computed == [
        ("vf_hour", NOW - NOW % HOUR), ("vf_hour", 2 * DAY), ("vf_day", NOW - NOW % DAY), ("vf_day", 2 * DAY),
    ]  # fmt: skip


def test_what_costs_much_is_computed_seldom_and_the_newest_first(database: Database, new: New) -> None:
    database.cost_s = 20.0
    pending = new(VF_HOUR)
    pending.note("vf_minute", [NOW, NOW - HOUR])
    for _ in range(200):
        pending.compute(NOW, 0, database.compute)
        database.at_s += 2.0
    hour = NOW - NOW % HOUR
    assert database.computed == [("vf_hour", hour), ("vf_hour", hour - HOUR)]
    assert database.cost_s / VF_HOUR.most_share == 400.0  # the second waited for the rest of this time


def test_a_bucket_stays_noted_until_it_was_computed(database: Database, new: New) -> None:
    pending = new()
    pending.note("vf_minute", [NOW])
    database.fails = True
    with pytest.raises(RuntimeError):
        pending.compute(NOW, 0, database.compute)
    assert pending.waiting("vf_hour") == 1
    database.fails = False
    pending.compute(NOW, 0, database.compute)
    assert [view for view, _ in database.computed] == ["vf_hour", "vf_day"]


def test_a_day_that_is_over_waits_for_all_its_hours_so_that_its_sums_never_shrink(database: Database, new: New) -> None:
    database.cost_s = 20.0
    pending = new()
    yesterday = 9 * DAY
    pending.note("vf_minute", [yesterday + HOUR, yesterday + 2 * HOUR])
    pending.compute(NOW, 0, database.compute)
    assert database.computed == [("vf_hour", yesterday + 2 * HOUR)]
    database.at_s += 400.0
    pending.compute(NOW, 0, database.compute)
    assert database.computed[1:] == [("vf_hour", yesterday + HOUR), ("vf_day", yesterday)]


def test_a_bucket_whose_rows_may_be_gone_is_left_as_it_is(database: Database, new: New) -> None:
    pending = new()
    pending.note("vf_minute", [2 * DAY, 3 * DAY + HOUR])
    pending.compute(NOW, 3 * DAY + HOUR + 60, database.compute)
    assert database.computed == [("vf_hour", 3 * DAY + HOUR), ("vf_day", 3 * DAY)]
    assert pending.waiting("vf_hour") == 0
