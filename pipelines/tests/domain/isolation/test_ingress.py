"""Storms and bursts in small worlds: which seconds, who, and by what."""

import math

import pytest
from pipelines.tests.domain.isolation.world import Incident, Score, Vf, World, run, score

from wallwatch.domain.isolation.detector import Detector
from wallwatch.domain.isolation.readings import Reading
from wallwatch.domain.isolation.verdicts import State

NOTHING_WRONG = Score([], [], [], [])


def vfs(count: int = 8) -> dict[str, Vf]:
    """VFs that use a third of the engine together, with different packet sizes."""
    sizes = (300, 600, 1000, 1400)
    return {f"vf{n}": Vf(5e9, (0.6 + 0.15 * n) * 1e9, sizes[n % 4], 1e9, 1e9) for n in range(count)}


@pytest.mark.parametrize("drops_at", ["both", "port", "vfs", "victims"])
@pytest.mark.parametrize("delay", ["queue", "jump", "none"])
def test_a_storm_is_found_to_the_second_wherever_drops_are_counted(drops_at: str, delay: str) -> None:
    storms = [Incident(40, 60, "storm", {"vf3": 40e6}), Incident(80, 80, "storm", {"vf5": 60e6})]
    world = World(vfs(), incidents=storms, drops_at=drops_at, delay=delay)
    assert score(run(world, world.readings(100)), world.truth(100)) == NOTHING_WRONG


@pytest.mark.parametrize("packet_bytes", [60.0, 160.0, 1000.0])
def test_a_burst_is_one_of_bandwidth_whatever_packets_cost(packet_bytes: float) -> None:
    bursts = [Incident(30, 45, "burst", {"vf2": 55e9}), Incident(70, 70, "burst", {"vf6": 55e9})]
    world = World(vfs(), packet_bytes=packet_bytes, noise=0.1, incidents=bursts)
    assert score(run(world, world.readings(80)), world.truth(80)) == NOTHING_WRONG


def test_a_storm_in_the_very_first_second_is_found_before_anything_is_learnt() -> None:
    world = World(vfs(), incidents=[Incident(1, 4, "storm", {"vf1": 60e6})])
    assert score(run(world, world.readings(20)), world.truth(20)) == NOTHING_WRONG


@pytest.mark.parametrize(("drops_at", "short"), [("both", True), ("vfs", True), ("port", False)])
def test_who_receives_less_than_its_minimum_though_it_was_sent_more_is_a_victim_whatever_loss_it_accepts(
    drops_at: str, short: bool
) -> None:
    """Where only the port counts drops, what the VF was sent is unknown, and nobody is accused of a guess."""
    tolerant = {
        "vf2": Vf(5e9, 1e9, 1000, min_bps=0.8e9, loss=0.99),
        "vf4": Vf(5e9, 1e9, 1000, loss=0.99),  # no minimum
        "vf6": Vf(5e9, 1e9, 1000, min_bps=2e9, loss=0.99),  # asks for less than its minimum
    }
    world = World(vfs() | tolerant, delay="none", drops_at=drops_at, incidents=[Incident(30, 40, "storm", {"vf3": 60e6})])
    broken = [verdict for verdict in run(world, world.readings(50)) if verdict.broken]
    assert len(broken) == 11
    for verdict in broken:
        assert ("vf2" in verdict.victims, "vf4" in verdict.victims, "vf6" in verdict.victims) == (short, False, False)
        assert "vf0" in verdict.victims
        if short:
            assert (
                "of the 800 that it is guaranteed, and was sent 9" in verdict.vfs["vf2"].reason or "sent 1,0" in verdict.vfs["vf2"].reason
            )


def test_who_still_receives_its_minimum_is_no_victim_of_losses_that_it_accepts() -> None:
    world = World(
        vfs() | {"vf2": Vf(5e9, 1e9, 1000, min_bps=0.1e9, loss=0.99)},
        delay="none",
        incidents=[Incident(30, 40, "storm", {"vf3": 60e6})],
    )
    assert all("vf2" not in verdict.victims for verdict in run(world, world.readings(50)))


def test_two_aggressors_of_different_size_are_both_named_the_larger_first() -> None:
    world = World(vfs(), incidents=[Incident(30, 50, "storm", {"vf4": 25e6, "vf7": 45e6})])
    verdicts = run(world, world.readings(60))
    assert score(verdicts, world.truth(60)) == NOTHING_WRONG
    assert next(verdict for verdict in verdicts if verdict.broken).aggressors == ("vf7", "vf4")


def test_the_vf_with_most_traffic_is_not_blamed_when_it_is_heavy_by_right() -> None:
    incidents = [Incident(20, 40, "storm", {"vf3": 30e6}), Incident(60, 61, "burst", {"vf5": 40e9})]
    world = World(vfs() | {"vf0": Vf(30e9, 16e9, 700)}, incidents=incidents)
    verdicts = run(world, world.readings(80))
    assert score(verdicts, world.truth(80)) == NOTHING_WRONG
    heavy = next(verdict for verdict in verdicts if verdict.broken).vfs["vf0"]
    assert heavy.state is State.BROKEN
    assert heavy.share is not None
    assert heavy.fair_share is not None
    assert heavy.share < heavy.fair_share


def test_an_aggressor_inside_its_bandwidth_is_named_for_its_packets() -> None:
    world = World(vfs(), packet_bytes=1000.0, incidents=[Incident(20, 30, "storm", {"vf1": 7e6})])
    verdicts = run(world, world.readings(40))
    assert score(verdicts, world.truth(40)) == NOTHING_WRONG
    assert (next(verdict for verdict in verdicts if verdict.broken).vfs["vf1"].rx_bps or math.inf) < 5e9


def test_receive_counters_that_include_drops_change_nothing() -> None:
    world = World(vfs(), counts_offered=True, incidents=[Incident(40, 60, "storm", {"vf3": 40e6})])
    assert score(run(world, world.readings(70)), world.truth(70)) == NOTHING_WRONG


def test_vfs_beyond_their_envelope_are_no_victims_and_nothing_is_broken_among_them() -> None:
    world = World({f"vf{n}": Vf(5e9, 1e9, 800) for n in range(3)})
    world.incidents = [Incident(10, 20, "burst", {"vf0": 30e9, "vf1": 30e9, "vf2": 30e9})]
    assert not any(verdict.broken for verdict in run(world, world.readings(30)))


def test_a_vf_without_a_promise_may_be_the_aggressor_and_is_never_a_victim() -> None:
    world = World(vfs(), incidents=[Incident(20, 30, "storm", {"vf3": 40e6})])
    slos = world.slos()
    del slos["vf3"], slos["vf4"]
    detector = Detector(slos, world.nic_bps)
    broken = [verdict for verdict in map(detector.step, world.readings(40)) if verdict is not None and verdict.broken]
    assert len(broken) == 11
    assert all(verdict.aggressors == ("vf3",) and "vf4" not in verdict.victims for verdict in broken)
    assert broken[0].vfs["vf4"].state is State.NOT_PROMISED


def test_a_storm_of_a_fifth_of_a_second_blames_nobody_else() -> None:
    """Counters cover the whole second: the engine looks as if it passed on little, and everybody as if asking for too much."""
    world = World(vfs(), incidents=[Incident(30, 33, "storm", {"vf3": 60e6})])
    readings = world.readings(50)
    detector = Detector(world.slos(), world.nic_bps)
    for reading in readings[:-1]:
        detector.step(reading)
    storm, calm, before, last = (readings[31], readings[30]), (readings[49], readings[48]), readings[-2], readings[-1]
    for name in (*last.vfs, "port"):
        for counter in ("rx_bytes", "rx_packets", "rx_dropped"):
            parts = [_value(pair[0], name, counter) - _value(pair[1], name, counter) for pair in (calm, storm)]
            entity = last.port if name == "port" else last.vfs[name]
            setattr(entity, counter, _value(before, name, counter) + int(0.8 * parts[0] + 0.2 * parts[1]))
    verdict = detector.step(last)
    assert verdict is not None
    assert verdict.aggressors == ("vf3",)
    assert verdict.mechanism == "ingress packet rate"


def _value(reading: Reading, name: str, counter: str) -> int:
    return getattr(reading.port if name == "port" else reading.vfs[name], counter)


def test_the_papers_breakage_is_more_than_ten_thousand_drops_in_a_second() -> None:
    world = World(vfs(), incidents=[Incident(20, 20, "storm", {"vf3": 40e6})])
    verdicts = run(world, world.readings(30))
    assert [verdict.t for verdict in verdicts if verdict.paper_breakage] == [1020.0]
