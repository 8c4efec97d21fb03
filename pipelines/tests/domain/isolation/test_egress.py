"""Blocked egress buffers: many slow VFs, a calm ingress engine, and one that sends at its limit."""

import pytest
from pipelines.tests.domain.isolation.world import Incident, Score, Vf, World, run, score

from wallwatch.domain.isolation.detector import Detector
from wallwatch.domain.isolation.readings import Extras
from wallwatch.domain.isolation.verdicts import Mechanism

NOTHING_WRONG = Score([], [], [], [])


def world(seconds_of_block: range, sent_bps: float = 8e9, **more: float) -> World:
    vfs = {f"vf{n}": Vf(5e9, 1e9, 700, 1.5e9) for n in range(8)}
    return World(vfs, incidents=[Incident(seconds_of_block[0], seconds_of_block[-1], "egress", {"vf2": sent_bps})], **more)


@pytest.mark.parametrize("sent_bps", [4.9e9, 8e9])
def test_a_sender_at_its_limit_that_blocks_the_others_is_named(sent_bps: float) -> None:
    blocked = world(range(30, 60), sent_bps)
    assert score(run(blocked, blocked.readings(90)), blocked.truth(90)) == NOTHING_WRONG


@pytest.mark.parametrize("capped", [3.5e9, 4.2e9])
def test_a_sender_that_surges_below_its_limit_and_blocks_the_others_is_named(capped: float) -> None:
    blocked = world(range(30, 60), capped)
    for vf in blocked.vfs.values():
        vf.tx_bps = 0.4e9
    assert score(run(blocked, blocked.readings(90)), blocked.truth(90)) == NOTHING_WRONG


def test_a_block_of_one_second_and_one_from_the_first_second_on_are_found() -> None:
    for seconds in (range(50, 51), range(1, 9)):
        blocked = world(seconds)
        assert score(run(blocked, blocked.readings(70)), blocked.truth(70)) == NOTHING_WRONG


def test_single_blips_next_to_a_block_do_not_hide_it() -> None:
    blocked = world(range(40, 60), blips=0.05)
    assert score(run(blocked, blocked.readings(90)), blocked.truth(90)) == NOTHING_WRONG


def test_all_vfs_slow_while_everybody_sends_as_usual_is_the_fabric() -> None:
    calm = world(range(500, 501))
    readings = calm.readings(60)
    for reading in readings[30:40]:
        for vf in reading.vfs.values():
            vf.delay_p50_us, vf.delay_p99_us = 100.0, 400.0
    verdicts = run(calm, readings)
    assert not any(verdict.broken for verdict in verdicts)
    assert "the fabric or the host" in verdicts[30].notes[0]


def test_delays_longer_than_a_fabric_can_hold_are_of_the_hosts_buffers() -> None:
    calm = world(range(500, 501))
    readings = calm.readings(60)
    for reading in readings[30:40]:
        for vf in reading.vfs.values():
            vf.delay_p50_us, vf.delay_p99_us = 10_000.0, 40_000.0
    broken = [verdict for verdict in run(calm, readings) if verdict.broken]
    assert [verdict.mechanism for verdict in broken] == [Mechanism.EGRESS] * 10


def test_a_backlog_names_the_sender_although_its_rate_is_as_usual() -> None:
    calm = world(range(500, 501))
    readings = calm.readings(40)
    for reading in readings:
        reading.extras = Extras(tx_backlog_bytes=0.0)
    for reading in readings[30:35]:
        reading.extras = Extras(tx_backlog_bytes=2e6)
        reading.vfs["vf6"].tx_backlog_bytes = 1.9e6
        for name, vf in reading.vfs.items():
            vf.delay_p99_us = 400.0 if name != "vf6" else 20.0
    detector = Detector(calm.slos(), calm.nic_bps)
    broken = [verdict for verdict in map(detector.step, readings) if verdict is not None and verdict.broken]
    assert [(verdict.t, verdict.mechanism, verdict.aggressors) for verdict in broken] == [
        (float(t), Mechanism.EGRESS, ("vf6",)) for t in range(1030, 1035)
    ]
