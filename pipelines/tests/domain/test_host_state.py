"""What is kept of a host and of an RNIC's usual values: the edges of what is fresh, learned, and a stall; numbers worked out by hand."""

import math
from typing import Any

import pytest

from wallwatch.domain.symptoms import baseline, events, host, window
from wallwatch.domain.symptoms.packed_window import Layout, PackedWindow
from wallwatch_testing.stories import PCI, START_MS

OTHER = "0000:af:00.0"


def datapaths(*samples: tuple[str, float, dict[str, Any]]) -> host.Host:
    """A host after these samples: name of the datapath, second, fields."""
    owner = host.new()
    for name, second, fields in samples:
        host.take_datapath(owner, name, START_MS + round(second * 1000), fields)
    return owner


def at(second: float) -> int:
    return START_MS + round(second * 1000)


def test_misses_are_those_of_all_datapaths_whose_rate_is_fresh() -> None:
    owner = datapaths(
        ("a", 0, {"lookups_missed": 100}), ("b", 0, {"lookups_missed": 0}),
        ("a", 10, {"lookups_missed": 150}), ("b", 20, {"lookups_missed": 40}),
    )  # fmt: skip
    assert host.misses_per_s(owner, at(20)) == 5.0 + 2.0
    assert host.misses_per_s(owner, at(70)) == 5.0 + 2.0
    assert host.misses_per_s(owner, at(70.001)) == 2.0
    assert host.misses_per_s(owner, at(80)) == 2.0
    assert host.misses_per_s(owner, at(80.001)) is None


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([(0, 100)], None),  # one sample is no rate
        ([(0, 100), (10, 100)], 0.0),
        ([(0, 100), (10, 40)], None),  # a reset
        ([(0, 100), (10, 40), (20, 60)], 2.0),
        ([(0, 100), (10, None), (20, 60)], None),
        ([(0, 100), (10, 200), (10, 900)], 10.0),  # twice the same time
        ([(0, 100), (10, 200), (8, 900)], 10.0),  # out of order
    ],
)
def test_misses_are_a_rate_between_two_samples(samples: list[tuple[float, int | None]], expected: float | None) -> None:
    assert host.misses_per_s(datapaths(*(("a", second, {"lookups_missed": n}) for second, n in samples)), at(20)) == expected


def test_sixteen_datapaths_are_followed() -> None:
    owner = datapaths(*((f"dp{n}", 0, {"lookups_missed": 1}) for n in range(17)))
    assert len(owner["datapaths"]) == 16
    host.take_datapath(owner, "dp15", at(1), {"lookups_missed": 3})
    assert host.misses_per_s(owner, at(1)) == 2.0


def test_sweeps_last_as_long_as_their_mean_or_the_last_one_of_the_slowest_datapath() -> None:
    owner = datapaths(("a", 0, {"dump_duration_ms": 300, "flows": 1000}))
    assert (host.dump_duration_ms(owner, at(60)), host.saw_sweeps(owner)) == (300.0, False)
    assert host.dump_duration_ms(owner, at(60.001)) is None
    owner = datapaths(
        ("a", 0, {"dump_duration_ms": 300, "dump_duration_mean_ms": 80, "flows": 1000}), ("b", 5, {"dump_duration_ms": 90, "flows": 9})
    )
    assert (host.dump_duration_ms(owner, at(5)), host.saw_sweeps(owner)) == (90.0, True)
    for incomplete in ({"dump_duration_ms": 300}, {"flows": 1000}, {}):
        assert host.dump_duration_ms(datapaths(("a", 0, incomplete)), at(0)) is None
    assert host.saw_sweeps(host.new()) is False


def test_a_mean_of_sweeps_covers_the_flows_of_both_ends() -> None:
    mean = {"dump_duration_ms": 50, "dump_duration_mean_ms": 40}
    assert datapaths(("a", 0, mean | {"flows": 1000}))["datapaths"]["a"]["flows"] == 1000.0
    assert datapaths(("a", 0, mean | {"flows": 1000}), ("a", 10, mean | {"flows": 3000}))["datapaths"]["a"]["flows"] == 2000.0
    once = {"dump_duration_ms": 50}
    assert datapaths(("a", 0, once | {"flows": 1000}), ("a", 10, once | {"flows": 3000}))["datapaths"]["a"]["flows"] == 3000.0


@pytest.mark.parametrize(("flows", "learned"), [(499, None), (500, 0.1)])
def test_the_usual_time_per_flow_is_learned_from_sweeps_over_enough_flows(flows: int, learned: float | None) -> None:
    owner = datapaths(("a", 0, {"dump_duration_ms": flows / 10, "flows": flows}))
    assert baseline.least_of(owner.get("least"), "dump_ms_per_flow") == (None if learned is None else pytest.approx(learned))


@pytest.mark.parametrize(("rate", "noted"), [(4.9, False), (5.0, True)])
def test_few_deletions_are_none(rate: float, noted: bool) -> None:
    owner = host.new()
    host.note_deletions(owner, PCI, START_MS, rate, 0.0)
    assert (PCI in owner["deletions"]) is noted
    host.note_deletions(owner, PCI, START_MS, 100.0, 1000.0)
    host.note_deletions(owner, PCI, START_MS, rate, 1000.0)
    assert (PCI in owner["deletions"]) is noted


def test_sweeps_back_to_back_are_all_of_the_time_and_short_ones_of_half_a_second() -> None:
    def load(*durations: float) -> float | None:
        owner = datapaths(*((f"dp{n}", 0, {"dump_duration_ms": each, "flows": 10}) for n, each in enumerate(durations)))
        baseline.least(owner.setdefault("least", {}), "dump_ms_per_flow", 1.0, START_MS)
        host.note_deletions(owner, PCI, START_MS, 100.0, 1000.0)
        return host.deletion_load(owner, PCI, at(0))

    assert load(110.0) == pytest.approx(100 / 500)
    assert load(1010.0) == pytest.approx(1000 / 1010)
    assert load(110.0, 60.0) == pytest.approx(150 / 500)
    assert load(5.0) == 0.0  # quicker than usual is no negative time
    assert load(5.0, 110.0) == pytest.approx(100 / 500)


def test_the_load_of_deletions_is_unknown_without_sweeps_or_their_usual_time() -> None:
    owner = datapaths(("a", 0, {"dump_duration_ms": 100, "flows": 10}))
    host.note_deletions(owner, PCI, START_MS, 100.0, 1000.0)
    assert host.deletion_load(owner, PCI, at(0)) is None
    baseline.least(owner.setdefault("least", {}), "dump_ms_per_flow", 1.0, START_MS)
    assert host.deletion_load(owner, PCI, at(60)) == pytest.approx(90 / 500)
    assert host.deletion_load(owner, PCI, at(60.001)) is None


@pytest.mark.parametrize(
    ("counted", "rates", "second", "factor"),
    [
        (None, [100.0], 20, 1.0),
        (3000, [], 20, 1.0),
        (3000, [100.0], 20, 3.0),
        (3000, [100.0, 200.0], 20, 1.0),
        (3000, [50.0, 50.0], 20, 3.0),
        (500, [100.0], 20, 1.0),  # fewer than the dumps show: nothing is unseen
        (3000, [100.0], 10.4, 1.0),  # the same look at the host: its other RNICs may not have reported yet
        (3000, [100.0], 70, 3.0),
        (3000, [100.0], 70.001, 1.0),
    ],
)
def test_deletions_that_no_dump_shows_are_those_that_the_daemon_counted(
    counted: int | None, rates: list[float], second: float, factor: float
) -> None:
    owner = datapaths(("a", 0, {"dpif_flow_del": 1000}), ("a", 10, {} if counted is None else {"dpif_flow_del": 1000 + counted}))
    for pci, rate in zip((PCI, OTHER), rates, strict=False):
        host.note_deletions(owner, pci, at(10), rate, 1000.0)
    host.note_deletions(owner, PCI, at(second), 50.0, 1000.0)
    assert host.unseen_deletions(owner, at(second)) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("gaps", "stall"),
    [
        ([10, 10, 35], None),  # three and a half times the usual is the bound
        ([10, 10, 35.001], 35.001),
        ([1, 1, 25], None),  # the kernel's watchdog would not report it
        ([1, 1, 25.001], 25.001),
        ([40, 40, 139], None),
        ([40, 40, 141], 141.0),
        ([300], None),  # nothing is usual yet
        ([0], None),
        ([10, 10, -5], None),
    ],
)
def test_a_pause_is_a_stall_from_several_times_the_usual_and_half_a_minute(gaps: list[float], stall: float | None) -> None:
    owner, second = host.new(), 0.0
    found = host.pause_s(owner, "rnic", at(second))
    for gap in gaps:
        assert found is None
        second += gap
        found = host.pause_s(owner, "rnic", at(second))
    assert found == (None if stall is None else pytest.approx(stall))


def test_the_usual_interval_follows_slowly_and_a_stall_does_not_count() -> None:
    owner = host.new()
    for second in (0, 10, 30, 130, 140):
        host.pause_s(owner, "rnic", at(second))
    usual = 0.8 * 10 + 0.2 * 20  # the 100 s are a stall
    assert owner["beat"]["rnic"] == [at(140), pytest.approx(0.8 * usual + 0.2 * 10)]


def test_after_a_step_back_nothing_lies_in_the_future() -> None:
    owner = datapaths(("a", 0, {"lookups_missed": 1}), ("b", 100, {"lookups_missed": 1}))
    host.note_deletions(owner, PCI, at(0), 50.0, 1.0)
    host.note_deletions(owner, OTHER, at(100), 50.0, 1.0)
    host.pause_s(owner, "rnic", at(100))
    events.take(owner["events"], "host_booted", at(100) * 1000, "", {})
    owner["newest"] = at(100)
    owner["symptoms"] = {"S2": {"reported": at(100), "sent_ms": at(120), "since": at(90)}, "S3": {"since": at(90)}}
    owner["ended"] = {"S7": at(100), "S8": at(10)}
    host.set_back(owner, at(50))
    assert set(owner["datapaths"]) == {"a"}
    assert set(owner["deletions"]) == {PCI}
    assert (owner["newest"], owner["beat"]["rnic"][0], owner["events"]["boots"][0][0]) == (at(50), at(50), at(50) * 1000)
    assert (owner["symptoms"]["S2"]["sent_ms"], owner["symptoms"]["S2"]["since"]) == (at(120), at(50))
    assert "sent_ms" not in owner["symptoms"]["S3"]
    assert owner["ended"] == {"S7": at(50), "S8": at(10)}
    assert owner["steps"] == 1
    host.set_back(owner, at(50))
    assert (owner["steps"], set(owner["datapaths"]), set(owner["deletions"])) == (2, {"a"}, {PCI})


# What is usual


def learn(*values: tuple[float, float]) -> list[float | None]:
    mean = baseline.Mean()
    return [mean.take(value, at(second)) for second, value in values]


def test_a_mean_is_used_after_a_minute_and_is_that_of_before_the_value() -> None:
    assert learn((0, 8.0), (30, 8.0), (59.999, 8.0), (60, 99.0)) == [None, None, None, None]
    assert learn((0, 8.0), (30, 8.0), (60, 8.0), (61, 99.0)) == [None, None, None, 8.0]
    # A value of the same time as the one before, or of an earlier one, moves nothing.
    assert learn((0, 8.0), (0, 99.0), (30, 8.0), (30, 99.0), (60, 8.0), (60, 99.0), (59, 99.0), (61, 1.0)) == [*[None] * 5, 8.0, 8.0, 8.0]


def test_each_value_of_a_mean_weighs_by_the_time_it_covers() -> None:
    found = learn((0, 0.0), (60, 1.0), (90, 1.0), (90, 5.0))
    first = 1.0 - math.exp(-1.0)  # as much as everything before it
    second = first + (1.0 - math.exp(-30 / 60)) * (1.0 - first)
    assert found == [None, None, pytest.approx(first), pytest.approx(second)]


def test_a_mean_forgets_within_minutes_however_long_it_has_learned() -> None:
    found = learn((0, 0.0), (3000, 0.0), (3300, 1.0), (3301, 1.0))
    assert found[3] == pytest.approx(1.0 - math.exp(-1.0))


def test_a_least_value_doubles_within_an_hour_unless_something_less_is_seen() -> None:
    state: baseline.Least = {}
    baseline.least(state, "x", 2.0, at(0))
    baseline.least(state, "x", 9.0, at(1800))
    assert baseline.least_of(state, "x") == pytest.approx(3.0)
    baseline.least(state, "x", 9.0, at(0))  # out of order: nothing grows backwards
    assert baseline.least_of(state, "x") == pytest.approx(3.0)
    baseline.least(state, "x", 1.0, at(10))
    assert baseline.least_of(state, "x") == 1.0
    assert baseline.least_of(state, "y") is None
    assert baseline.least_of(None, "x") is None


# The window's rows


def rows(*samples: tuple[float, float]) -> window.Rows:
    found: window.Rows = []
    for second, value in samples:
        window.add(found, {"x": 0}, round(second * 1000), {"x": value}, 60_000)
    return found


def value(samples: window.Rows, statistic: str, window_s: int = 60) -> float | None:
    found = window.feature(samples, 0, 60_000, window_s, statistic)
    return None if found is None else found.value


@pytest.mark.parametrize(
    ("statistic", "expected"), [("mean", 25.0), ("median", 20.0), ("max", 50.0), ("min", 10.0), ("last", 20.0), ("count", 25.0)]
)
def test_statistics_over_buckets_of_several_samples(statistic: str, expected: float) -> None:
    """Buckets: 10, 50 | 20 | 20, the median of their means 30, 20, 20."""
    assert value(rows((51, 10.0), (52, 50.0), (55, 20.0), (60, 20.0)), statistic) == expected


@pytest.mark.parametrize(("window_s", "expected"), [(5, 4.0), (10, 3.5), (15, 3.0), (60, 2.5), (1, 4.0)])
def test_a_window_has_the_buckets_that_end_with_the_newest(window_s: int, expected: float) -> None:
    samples = rows((45, 1.0), (50, 2.0), (55, 3.0), (60, 4.0))
    assert value(samples, "mean", window_s) == expected
    layout, packed = Layout(["x"]), PackedWindow()
    layout.take_rows(packed, samples)
    assert layout.sum_of(packed, 0, 60_000, 10) == (7.0, 2)
    assert layout.sum_of(packed, 0, 60_000, 1) == (4.0, 1)
    assert window.count_of(rows((11, 1.0), (12, 1.0), (17, 1.0)), 0) == 3


def test_a_feature_lasts_from_its_first_bucket_to_the_end_of_its_last_or_now() -> None:
    early = window.feature(rows((41, 1.0), (46, 1.0)), 0, 60_000, 60)
    assert early is not None
    assert (early.from_ms, early.to_ms) == (40_000, 50_000)
    for statistic in ("mean", "max"):
        now = window.feature(rows((41, 1.0), (60, 1.0)), 0, 60_000, 60, statistic)
        assert now is not None
        assert (now.from_ms, now.to_ms) == (40_000, 60_000)


@pytest.mark.parametrize(
    ("samples", "drop", "swing"),
    [
        ([(10, 5.0)], None, None),
        ([(10, 5.0), (20, 5.0)], 0.0, 0.0),
        ([(10, 5.0), (20, 10.0)], 0.0, 0.5),  # it only grows
        ([(10, 10.0), (20, 4.0)], 0.6, 0.6),
        ([(10, 10.0), (20, 8.0), (30, 20.0), (40, 5.0)], 0.75, 0.75),
        ([(10, 10.0), (20, 2.0), (30, 20.0), (40, 10.0)], 0.8, 0.9),
        ([(10, 10.0), (11, 2.0)], 0.0, 0.8),  # within a bucket nobody knows which came first
        ([(10, 10.0), (11, 2.0), (20, 5.0)], 0.5, 0.8),
        ([(10, 0.0), (20, 0.0)], 0.0, 0.0),
        ([(10, 0.0), (20, 5.0), (30, 0.0)], 1.0, 1.0),
    ],
)
def test_drops_and_swings_are_relative_to_the_greatest_value(
    samples: list[tuple[float, float]], drop: float | None, swing: float | None
) -> None:
    for of, expected in ((window.drop_of, drop), (window.swing_of, swing)):
        found = of(rows(*samples), 0, 60_000, 60)
        assert (None if found is None else found.value) == (None if expected is None else pytest.approx(expected))
        if found is not None:
            assert (found.from_ms, found.to_ms) == (10_000, 60_000)


# Events that count only before others


@pytest.mark.parametrize(
    ("link_down_s", "pci", "counts"),
    [
        ([5], PCI, True),
        ([60], PCI, True),
        ([60.001], PCI, False),
        ([], PCI, False),
        ([0], PCI, False),  # not before it
        ([-5], PCI, False),
        ([-5, 5], PCI, False),  # the link was down already
        ([-60.001, 5], PCI, True),
        ([5], OTHER, False),
    ],
)
def test_an_rnic_was_removed_where_its_link_went_down_after_it_and_not_just_before(
    link_down_s: list[float], pci: str, counts: bool
) -> None:
    kept: events.Events = {}
    events.take(kept, "device_vanished", START_MS * 1000, PCI, {})
    for second in link_down_s:
        events.take(kept, "pcie_link_down", START_MS * 1000 + round(second * 1_000_000), pci, {})
    assert events.feature(kept, "removals", at(100), 600, PCI).value == float(counts)


def test_an_event_of_another_rnic_counts_for_the_host_alone() -> None:
    kept: events.Events = {}
    assert events.take(kept, "command_timeout", START_MS * 1000, PCI, {})
    assert not events.take(kept, "command_timeout", START_MS * 1000, PCI, {})
    assert events.take(kept, "command_timeout", START_MS * 1000, OTHER, {"left_out": 2})
    assert events.feature(kept, "command_timeouts", START_MS, 60, PCI).value == 1.0
    assert events.feature(kept, "command_timeouts", START_MS, 60, OTHER).value == 3.0
    assert events.feature(kept, "command_timeouts", START_MS, 60, None).value == 4.0
    assert not events.take(kept, "nothing", START_MS * 1000, PCI, {})
