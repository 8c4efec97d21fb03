"""What is simulated keeps its own laws: packets are counted once, queues serve what they can, truth has a cause."""

import itertools
from collections import Counter
from functools import cache

import numpy as np
import pytest
from tests.isolation_series import faults
from tests.isolation_series.demand import STEPS_PER_S
from tests.isolation_series.kinds import KINDS, make
from tests.isolation_series.play import play_ingress
from tests.isolation_series.rows import PORT, Row, Snapshot
from tests.isolation_series.scene import water_level
from tests.isolation_series.series import Series
from tests.isolation_series.test_worlds import card_with
from tests.isolation_series.truth import Interval

CLEAN = [kind for kind in KINDS if kind not in ("dirty", "ten seconds")]
HARMLESS = ("near miss", "beyond its envelope")


@cache
def series(kind: str, seed: int = 1) -> Series:
    """A series, made once."""
    return make(kind, seed)


def readings(made: Series) -> list[Snapshot]:
    return [entry.reading for entry in made.telemetry.entries]


def counters(snapshot: Snapshot) -> dict[str, tuple[int, ...]]:
    return {row.entity: row.counters for row in snapshot.rows}


def test_a_seed_makes_the_same_series_again() -> None:
    assert readings(make("early", 3)) == readings(make("early", 3))
    assert readings(make("early", 3)) != readings(make("early", 4))


@pytest.mark.parametrize("kind", CLEAN)
def test_counters_never_fall_where_no_fault_is_scripted(kind: str) -> None:
    last = counters(readings(series(kind))[0])
    for reading in readings(series(kind))[1:]:
        now = counters(reading)
        assert all(new >= old for entity in now for new, old in zip(now[entity], last[entity], strict=True))
        last = now


@pytest.mark.parametrize("kind", CLEAN)
def test_packets_have_sizes_that_packets_have(kind: str) -> None:
    first, last = counters(readings(series(kind))[0]), counters(readings(series(kind))[-1])
    for entity, values in last.items():
        octets, packets = values[0] - first[entity][0], values[1] - first[entity][1]
        assert 60 * packets <= octets <= 9500 * packets


@pytest.mark.parametrize("kind", ["packet storm", "bandwidth burst", "many VFs"])
def test_the_port_carries_what_its_vfs_receive_and_what_it_dropped(kind: str) -> None:
    made = next(one for one in (series(kind, seed) for seed in range(1, 9)) if one.card.port_row)
    first, last = counters(readings(made)[0]), counters(readings(made)[-1])
    grew = {entity: [new - old for new, old in zip(last[entity], first[entity], strict=True)] for entity in last}
    received = sum(grew[entity][1] for entity in grew if entity != PORT)
    extra = grew[PORT][1] - received
    assert extra == 0 or (made.card.port_counts_dropped and extra >= grew[PORT][2])
    assert grew[PORT][4] == sum(grew[entity][4] for entity in grew if entity != PORT)


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_broken_interval_has_victims_and_aggressors_that_are_not_the_same(kind: str) -> None:
    for interval in series(kind).telemetry.intervals():
        assert interval.broken == bool(interval.victims) or interval.marginal
        if interval.broken:
            assert interval.aggressors
            assert interval.mechanism
            assert not set(interval.aggressors) & set(interval.victims)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in HARMLESS])
def test_incidents_break_seconds(kind: str) -> None:
    made = series(kind)
    assert sum(one.broken for one in made.telemetry.intervals()) >= 5
    assert made.facts["incidents"]


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_harms_nobody_is_never_broken(kind: str) -> None:
    assert not any(one.broken for seed in (1, 2, 3) for one in series(kind, seed).telemetry.intervals())


def test_egress_blocking_loses_nothing_at_the_port() -> None:
    assert sum(one.lost for one in series("egress blocking").telemetry.intervals()) == 0


@pytest.mark.parametrize("kind", ["packet storm", "bandwidth burst"])
def test_packets_are_lost_only_while_the_engine_is_overloaded(kind: str) -> None:
    for interval in series(kind).telemetry.intervals():
        if interval.lost == 0:
            assert interval.load < 1.05
        if interval.load > 1.05:
            assert interval.lost > 0


def test_the_queue_serves_what_it_can_and_loses_the_rest() -> None:
    card = card_with(buffer_s=0.002)
    offered = np.array([0.5] * 20 + [2.0] * 20 + [0.5] * 20)
    result = play_ingress(card, offered, np.ones(60), np.full(60, 1e-7))
    assert not result.lost_part[:20].any()
    assert result.lost_part[25] == pytest.approx(0.5)
    served = (offered * (1 - result.lost_part))[20:40].sum() / STEPS_PER_S
    assert served == pytest.approx(1 + card.buffer_s)
    assert result.wait_mean_us[30] == pytest.approx(2000)
    assert result.wait_mean_us[5] < 100


@pytest.mark.parametrize("seed", range(20))
def test_the_water_level_shares_all_and_gives_nobody_more_than_asked(seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked, weights = rng.uniform(0, 1, 6), rng.uniform(0.1, 2, 6)
    capacity = float(rng.uniform(0.2, 0.9) * asked.sum())
    got = np.minimum(asked, water_level(asked, weights, capacity) * weights)
    assert got.sum() == pytest.approx(capacity)
    thirsty = got < asked - 1e-9
    levels = got[thirsty] / weights[thirsty]
    assert np.ptp(levels) < 1e-9
    assert (got[~thirsty] / weights[~thirsty] <= levels.max() + 1e-9).all()


def small(count: int = 12, step: int = 2**30) -> faults.Telemetry:
    """Two VFs whose counters grow by `step`."""
    snapshots = [
        Snapshot(float(t), tuple(Row(name, tuple(t * step + column for column in range(6)), None, None) for name in ("vf0", "vf1")))
        for t in range(count)
    ]
    return faults.telemetry_of(snapshots, [Interval(float(t)) for t in range(1, count)])


@pytest.mark.parametrize("bits", [32, 64])
def test_a_wrap_keeps_the_growth_modulo_its_width(bits: int) -> None:
    telemetry = small()
    faults.wrap(telemetry, np.random.default_rng(1), bits, with_bytes=True)
    values = [counters(entry.reading)["vf1"][0] for entry in telemetry.entries]
    assert all(0 <= value < 2**bits for value in values)
    assert any(new < old for old, new in itertools.pairwise(values))
    assert {(new - old) % 2**bits for old, new in itertools.pairwise(values)} == {2**30}


def test_a_restart_counts_from_zero_for_one_vf_only() -> None:
    telemetry = small()
    faults.restart(telemetry, 5, {"vf1"})
    assert counters(telemetry.entries[5].reading)["vf1"] == (2**30,) * 6
    assert counters(telemetry.entries[5].reading)["vf0"][0] == 5 * 2**30


def test_a_gap_has_no_rows_and_is_not_judged_where_it_ends() -> None:
    telemetry = small()
    faults.gap(telemetry, 4, 3)
    assert [entry.reading.t for entry in telemetry.entries] == [0, 1, 2, 3, 7, 8, 9, 10, 11]
    assert [one.t for one in telemetry.intervals() if one.gap] == [4, 5, 6]
    assert [one.t for one in telemetry.intervals() if one.marginal] == [7]


def test_a_clock_set_back_makes_times_that_occur_twice_and_are_not_judged() -> None:
    telemetry = small()
    faults.clock_back(telemetry, 6, 2.0)
    assert [entry.reading.t for entry in telemetry.entries] == [0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9]
    assert Counter(one.t for one in telemetry.intervals() if one.marginal) == {4.0: 2, 5.0: 2}


def test_a_vf_without_rows_is_not_judged_where_it_is_the_aggressor() -> None:
    telemetry = small()
    for entry in telemetry.entries[1:]:
        assert entry.interval is not None
        entry.interval.broken, entry.interval.aggressors = True, ["vf1" if entry.interval.t < 6 else "vf0"]
    faults.missing_rows(telemetry, 4, 3, "vf1")
    assert ["vf1" in counters(entry.reading) for entry in telemetry.entries[3:8]] == [True, False, False, False, True]
    assert [one.t for one in telemetry.intervals() if one.marginal] == [4, 5]


def test_an_unsteady_clock_reads_counters_of_its_own_time() -> None:
    telemetry = small()
    faults.unsteady_clock(telemetry, np.random.default_rng(3))
    for before, after in itertools.pairwise(entry.reading for entry in telemetry.entries):
        grew = counters(after)["vf0"][0] - counters(before)["vf0"][0]
        assert grew / (after.t - before.t) == pytest.approx(2**30, rel=1e-6)
    assert len({round(entry.reading.t % 1, 3) for entry in telemetry.entries}) > 5


def test_rows_come_twice_and_late() -> None:
    telemetry = small()
    faults.late(telemetry, 3, 2)
    faults.twice(telemetry, 8, 0)
    assert [entry.reading.t for entry in telemetry.entries] == [0, 1, 2, 4, 5, 3, 6, 7, 8, 8, 9, 10, 11]
    assert [one.t for one in telemetry.intervals() if one.marginal] == [3]
