"""The sending side: shaping, accounting, completions."""

from dataclasses import replace

import pytest

from wallwatch.domain.isolation.simulation.egress import Completions, EgressFlow, EgressRun, EgressSettings, simulate_egress
from wallwatch.domain.isolation.simulation.timing_wheel import TimingWheel

FAST = EgressFlow("A")
SLOW_NEIGHBOUR = EgressFlow("B", offered_kpps=600, limit_mbps=10)
OWN = EgressSettings({"fast": FAST, "slow": EgressFlow("A", offered_kpps=300, limit_mbps=10)}, guest_ring=256)


def run(settings: EgressSettings, accounting: bool = True) -> EgressRun:
    return simulate_egress(settings, accounting=accounting, duration_ms=60, warmup_ms=30)


def test_accounting_protects_the_neighbour_of_a_shaped_vf() -> None:
    alone = run(EgressSettings({"fast": FAST})).flows["fast"].mbps
    both = EgressSettings({"fast": FAST, "slow": SLOW_NEIGHBOUR})
    without, with_accounting = run(both, accounting=False), run(both)
    assert without.flows["fast"].mbps < 0.1 * alone
    assert with_accounting.flows["fast"].mbps >= 0.98 * alone
    assert with_accounting.flows["slow"].mbps == pytest.approx(10, rel=0.05)
    assert (without.wheel_occupancy, with_accounting.wheel_occupancy) == (8192, 256)


def test_early_completions_drop_what_the_wheel_does_not_admit() -> None:
    early = run(replace(OWN, completions=Completions.EARLY, vf_cap=4000))
    assert early.wheel_occupancy == 4000
    assert early.flows["slow"].drops / 0.03 == pytest.approx(300_000, rel=0.02)
    assert early.flows["fast"].mbps == pytest.approx(9000, rel=0.02)


def test_in_order_completions_block_the_fast_flow_behind_the_slow_one() -> None:
    assert run(replace(OWN, completions=Completions.IN_ORDER)).flows["fast"].mbps < 20


def test_completions_out_of_order_with_a_limit_per_flow_block_nothing_and_drop_nothing() -> None:
    found = run(replace(OWN, flow_limit=50))
    assert found.wheel_occupancy == 50
    assert found.flows["fast"].mbps > 10_000
    assert [flow.drops for flow in found.flows.values()] == [0, 0]


def test_a_sender_without_backlog_sends_what_it_offers() -> None:
    found = run(EgressSettings({"few": EgressFlow("A", offered_kpps=10)}))
    assert found.flows["few"].mbps == pytest.approx(120, rel=0.02)


def test_the_wheel_releases_slots_in_order() -> None:
    wheel = TimingWheel[int]()
    for departure in (100, 7, 55, 8, 101):
        wheel.add(departure, departure)
    assert (len(wheel), wheel.next_us()) == (5, 0.0)
    assert list(wheel.release(7.9)) == [7]
    assert list(wheel.release(95.9)) == [8, 55]
    assert list(wheel.release(96.0)) == [100, 101]
    assert (len(wheel), wheel.next_us()) == (0, float("inf"))
