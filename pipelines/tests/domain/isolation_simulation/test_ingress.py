"""The receiving side, packet by packet: short runs with wide margins; docs/isolation-simulations.md has the long ones."""

from dataclasses import replace

import numpy as np
import pytest

from wallwatch.domain.isolation.simulation.ingress import simulate_ingress
from wallwatch.domain.isolation.simulation.report import Promise, figures, simulate, weighted_max_min
from wallwatch.domain.isolation.simulation.scenario import NO_MECHANISMS, Change, Demand, Mechanisms, Scenario, Vf, Window
from wallwatch.domain.isolation.simulation.sources import SLOT_US, Source

CWFQ = Mechanisms(pccb=False, pccp=False)


def vf(kpps: float, packet_bytes: int = 256, **more: float) -> Vf:
    return Vf(1000, 5000, (Demand(0, kpps, packet_bytes),), **more)


def overloaded(mechanisms: Mechanisms, flood_kpps: float = 3000) -> Scenario:
    return Scenario({"flood": vf(flood_kpps), "quiet": vf(50, p99_us=50)}, mechanisms, duration_ms=30, warmup_ms=10)


def test_without_queues_a_flood_costs_the_quiet_vf_its_packets_too() -> None:
    found = figures(overloaded(NO_MECHANISMS), simulate_ingress(overloaded(NO_MECHANISMS)))
    assert found["quiet"].nic_drops_per_s > 10_000
    assert found["quiet"].delay_p99_us is not None
    assert found["quiet"].delay_p99_us > 500
    assert (found["flood"].promise, found["quiet"].promise) == (Promise.BEYOND, Promise.BROKEN)


def test_fair_queues_move_the_drops_to_the_floods_own_queue() -> None:
    plain, fair = (simulate_ingress(overloaded(mechanisms)) for mechanisms in (NO_MECHANISMS, CWFQ))
    assert sum(course.nic_drops for course in fair.values()) <= 0.05 * sum(course.nic_drops for course in plain.values())
    assert fair["flood"].queue_drops > 10_000
    assert fair["quiet"].queue_drops == 0
    assert figures(overloaded(CWFQ), fair)["quiet"].promise is Promise.KEPT


def test_a_flood_faster_than_pulling_overflows_the_nic_despite_the_queues() -> None:
    assert simulate_ingress(overloaded(CWFQ, flood_kpps=8000))["flood"].nic_drops > 10_000


def test_with_pccp_nothing_is_dropped_after_its_first_limits() -> None:
    scenario = overloaded(Mechanisms())
    courses = simulate_ingress(scenario)
    assert sum(course.nic_drops + course.queue_drops for course in courses.values()) == 0
    assert courses["flood"].sent < 0.8 * courses["flood"].offered
    assert any(epoch.active for epoch in courses["flood"].epochs)
    assert not any(epoch.active for epoch in courses["quiet"].epochs)
    assert figures(scenario, courses)["quiet"].promise is Promise.KEPT


def test_pccp_holds_the_delay_near_its_threshold() -> None:
    scenario = Scenario({"flood": vf(6000, 100), "quiet": vf(20, 100)}, duration_ms=180, warmup_ms=100)
    delays = [epoch.delay_us for epoch in simulate_ingress(scenario)["flood"].epochs if epoch.at_us > 100_000]
    assert 6.5 < np.mean([delay for delay in delays if delay is not None]) < 12


def test_pccp_switches_off_when_the_flood_ends() -> None:
    flood = Vf(1000, 5000, (Demand(0, 3000, 256), Demand(10, 300, 256)))
    epochs = simulate_ingress(Scenario({"flood": flood}, duration_ms=40, warmup_ms=20))["flood"].epochs
    assert any(epoch.active for epoch in epochs if epoch.at_us < 10_000)
    assert not epochs[-1].active


def test_pccb_holds_a_vf_at_its_maximum() -> None:
    big = Vf(1000, 2000, (Demand(0, 600, 1000),))
    found = simulate_ingress(Scenario({"big": big}, Mechanisms(pccp=False), duration_ms=40, warmup_ms=20))["big"]
    assert found.processed * 8000 / 20e-3 / 1e6 == pytest.approx(2000, rel=0.03)


def test_the_wire_carries_no_more_than_its_rate() -> None:
    scenario = Scenario({"big": Vf(0, 20_000, (Demand(0, 2000, 1500),))}, NO_MECHANISMS, 20, 5, line_gbps=10)
    assert simulate_ingress(scenario)["big"].sent * 12_000 / 15e-3 == pytest.approx(10e9, rel=0.03)


def test_many_streams_get_no_more_cpu_than_few() -> None:
    vfs = {"few": Vf(1000, 5000, window=Window(4)), "many": Vf(1000, 5000, window=Window(200))}
    plain, fair = (simulate_ingress(Scenario(vfs, mechanisms, 60, 20)) for mechanisms in (NO_MECHANISMS, CWFQ))
    assert plain["few"].cpu_us < 0.2 * plain["many"].cpu_us
    assert fair["few"].cpu_us == pytest.approx(fair["many"].cpu_us, rel=0.02)


def test_a_cooperating_vf_is_promised_its_minimum() -> None:
    scenario = Scenario({"tcp": Vf(2500, 5000, window=Window(4)), "flood": vf(6000)}, NO_MECHANISMS, 30, 10)
    plain, fair = (figures(scenario, simulate_ingress(replace(scenario, mechanisms=one)))["tcp"].promise for one in (NO_MECHANISMS, CWFQ))
    assert (plain, fair) == (Promise.BROKEN, Promise.KEPT)


def test_cpu_time_is_shared_by_weight_and_not_by_packets() -> None:
    heavy = Vf(0, 6000, (Demand(0, 1500, 256),), extra_cost_us=1.0)
    light = Vf(0, 3000, (Demand(0, 1500, 256),))
    courses = simulate_ingress(Scenario({"heavy": heavy, "light": light}, CWFQ, 40, 20))
    assert courses["heavy"].cpu_us == pytest.approx(2 * courses["light"].cpu_us, rel=0.02)


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    first, again, other = (simulate(replace(overloaded(Mechanisms()), seed=seed)) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_what_if_doubles_a_tenant() -> None:
    vfs = {"a": vf(300, p99_us=50), "b": replace(vf(500), tenant="batch"), "c": replace(vf(500), tenant="batch")}
    scenario = Scenario(vfs, duration_ms=25, warmup_ms=5, what_if=(Change("batch", 2.0),))
    variants = simulate(scenario)
    assert [(one.changes, one.mechanisms.startswith("none")) for one in variants] == [
        ("as it is", True),
        ("as it is", False),
        ("batch x 2", True),
        ("batch x 2", False),
    ]
    assert [one.vfs["a"].promise for one in variants] == [Promise.KEPT, Promise.KEPT, Promise.BROKEN, Promise.KEPT]
    assert [round(one.vfs["c"].offered_kpps) for one in variants] == [500, 500, 1000, 1000]


def test_a_demand_starts_at_its_time_and_a_silent_vf_has_no_promise_to_keep() -> None:
    scenario = Scenario({"late": Vf(0, 5000, (Demand(15, 100, 256),)), "never": Vf(500, 5000)}, CWFQ, 20, 10)
    found = figures(scenario, simulate_ingress(scenario))
    assert found["late"].offered_kpps == pytest.approx(50, rel=0.02)
    assert (found["never"].promise, found["never"].delay_mean_us) == (Promise.IDLE, None)


def test_engine_shares_hand_on_what_is_not_wanted() -> None:
    assert weighted_max_min(1.0, [0.2, 0.1, 5.0], [1.0, 1.0, 1.0]) == pytest.approx([0.2, 0.1, 0.7])
    assert weighted_max_min(1.0, [0.2, 0.1], [1.0, 3.0]) == [0.2, 0.1]


def test_a_paced_sender_releases_bursts_and_keeps_its_rate() -> None:
    source = Source(np.random.default_rng(1))
    times = np.concatenate([source.times_us(at * 64.0, (at + 1) * 64.0, 1e6, paced=True) for at in range(100)])
    assert len(times) == pytest.approx(6400, rel=0.02)
    assert np.all(np.diff(times) > 0)
    assert np.all(times % SLOT_US < 2.0)


def test_a_change_of_rate_neither_loses_nor_repeats_packets() -> None:
    source = Source(np.random.default_rng(2))
    times = np.concatenate([source.times_us(at * 64.0, (at + 1) * 64.0, 2e6 if at % 2 else 1e3, paced=False) for at in range(400)])
    assert len(times) == pytest.approx(200 * 128, rel=0.03)
    assert np.all(np.diff(times) > 0)
