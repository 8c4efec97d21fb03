"""Intervals in which the engine was full for a part of the time."""

import pytest

from wallwatch.domain.isolation.engine_load import Costs
from wallwatch.domain.isolation.full_part import full_part
from wallwatch.domain.isolation.second import Second
from wallwatch.domain.isolation.vf_track import VfTrack

COSTS = Costs(2e-7, 1e-9)
"""A full engine passes 833,333 packets/s of 1,000 bytes."""


def track(name: str, usual: float, packets: float, dropped: float = 0.0, size: float = 1000.0, usual_size: float = 1000.0) -> VfTrack:
    found = VfTrack(name)
    found.calm_rx_packets, found.calm_rx_bytes = usual, usual * usual_size
    found.rx_packets, found.rx_bytes, found.rx_dropped = packets, packets * size, dropped
    return found


def second(tracks: list[VfTrack], port_drops: float) -> Second:
    packets, byte_rate = sum(one.rx_packets for one in tracks), sum(one.rx_bytes for one in tracks)
    found = Second(tracks, packets, byte_rate, sum(one.rx_dropped for one in tracks), [], 0, False)
    found.drops = port_drops
    return found


def test_without_usual_rates_the_engine_is_taken_as_full_all_the_time() -> None:
    part = full_part(second([track("vf0", 0, 100_000), track("vf1", 0, 300_000)], 40_000), COSTS, calm_seconds=0)
    assert (part.part, part.packets) == (1.0, [100_000, 300_000])
    assert part.dropped == pytest.approx([10_000, 30_000])


def test_the_calm_part_is_taken_out_of_the_rates() -> None:
    # half of the second calm with 200,000 packets/s of vf0; in the other half vf0 passes 160,000/s and vf1 673,333/s
    tracks = [track("vf0", 200_000, 180_000), track("vf1", 0, 336_667)]
    part = full_part(second(tracks, 100_000), COSTS, calm_seconds=10)
    assert part.part == pytest.approx(0.5, abs=0.01)
    assert part.packets == pytest.approx([160_000, 673_333], rel=0.02)
    assert part.passed(COSTS) == pytest.approx(1.0, abs=0.01)
    assert sum(part.dropped) == pytest.approx(200_000, rel=0.02)


def test_losses_that_differ_show_who_filled_the_queue() -> None:
    # a tenth of a second: vf1 sends 64-byte packets and loses 80% of them, vf0 the same 80%, but only of a tenth of its packets
    tracks = [track("vf0", 500_000, 460_000, dropped=40_000), track("vf1", 0, 100_000, dropped=400_000, size=64.0)]
    part = full_part(second(tracks, 440_000), COSTS, calm_seconds=10)
    offered = part.offered(COSTS)
    assert [dropped / (packets + dropped) for packets, dropped in zip(part.packets, part.dropped, strict=True)] == pytest.approx([0.8, 0.8])
    assert offered[1] > 2 * offered[0]


def test_the_size_of_a_storm_is_not_that_of_the_usual_traffic() -> None:
    # 200,000 usual packets of 1,000 bytes and 800,000 of 64
    storm = track("vf1", 200_000, 1_000_000, dropped=600_000, size=251.2)
    part = full_part(second([track("vf0", 1_300_000, 1_290_000, dropped=10_000), storm], 610_000), COSTS, calm_seconds=10)
    assert part.bytes[1] / part.packets[1] == pytest.approx(64.0)


def test_drops_that_only_the_port_counts_go_to_those_who_count_too_few() -> None:
    # the victims count their drops, the aggressor does not
    tracks = [track("vf0", 0, 300_000, dropped=100_000), track("vf1", 0, 600_000)]
    part = full_part(second(tracks, 300_000), COSTS, calm_seconds=0)
    assert part.dropped == pytest.approx([100_000, 200_000])


def test_an_engine_that_passed_less_than_usual_is_not_split() -> None:
    part = full_part(second([track("vf0", 500_000, 300_000)], 10_000), COSTS, calm_seconds=10)
    assert part.packets == [300_000]
    assert part.passed(COSTS) > 0
