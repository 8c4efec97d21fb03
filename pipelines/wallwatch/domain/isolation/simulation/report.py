"""What a simulation answers: figures per VF with and without the mechanisms, as it is and with the changes to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from wallwatch.domain.isolation.shares.water_filling import Request, fair_shares
from wallwatch.domain.isolation.simulation.egress import EgressRun, simulate_egress
from wallwatch.domain.isolation.simulation.ingress import VfCourse, simulate_ingress
from wallwatch.domain.isolation.simulation.scenario import NO_MECHANISMS, Scenario, Vf

LOSS_PROMISED = 1e-4
"""Drops above this share of a well-behaved VF's packets break its promise."""
ENOUGH = 0.98
"""A VF gets its minimum when it receives this share of it: packets under way at the end are not counted."""


class Promise(StrEnum):
    """What became of a VF's promise."""

    KEPT = "kept"
    BROKEN = "broken"
    BEYOND = "beyond its share"
    IDLE = "no traffic"


@dataclass(frozen=True)
class VfFigures:
    """One VF over a run after its warm-up; rates per second, delays None without a packet."""

    offered_kpps: float
    sent_kpps: float
    received_kpps: float
    received_mbps: float
    fair_share_mbps: float
    nic_drops_per_s: float
    queue_drops_per_s: float
    delay_mean_us: float | None
    delay_p50_us: float | None
    delay_p99_us: float | None
    cpu_share: float
    promise: Promise


@dataclass(frozen=True)
class Variant:
    """One run of a scenario."""

    changes: str
    mechanisms: str
    vfs: dict[str, VfFigures]
    egress: EgressRun | None


def simulate(scenario: Scenario) -> list[Variant]:
    """The scenario without any mechanism and with its own; both again with the changes of `what_if`, if there are any."""
    worlds = [("as it is", replace(scenario, what_if=()))]
    if scenario.what_if:
        worlds.append((", ".join(f"{change.name} x {change.times:g}" for change in scenario.what_if), scenario.changed()))
    ladder = [NO_MECHANISMS] + [scenario.mechanisms] * (scenario.mechanisms != NO_MECHANISMS)
    return [_variant(changes, replace(world, mechanisms=mechanisms)) for changes, world in worlds for mechanisms in ladder]


def _variant(changes: str, scenario: Scenario) -> Variant:
    egress = None
    if scenario.egress is not None:
        egress = simulate_egress(scenario.egress, accounting=scenario.mechanisms.accounting)
    return Variant(changes, scenario.mechanisms.words(), figures(scenario, simulate_ingress(scenario)), egress)


def figures(scenario: Scenario, courses: Mapping[str, VfCourse]) -> dict[str, VfFigures]:
    """Rates, delays, drops and the state of every promise."""
    seconds = next(iter(courses.values())).measured_us / 1e6
    vfs = list(scenario.vfs.values())
    offered = {name: _offered(vf, courses[name]) / seconds for name, vf in scenario.vfs.items()}
    requests = [Request(vf.min_mbps, vf.max_mbps, offered[name] > 0) for name, vf in scenario.vfs.items()]
    shares = fair_shares(scenario.line_gbps * 1000, requests)
    loads = [offered[name] / 1e6 * _cost_us(scenario, vf) for name, vf in scenario.vfs.items()]
    allowed = weighted_max_min(1.0, loads, [vf.max_mbps for vf in vfs])
    cpu = sum(course.cpu_us for course in courses.values())
    found = {}
    for at, (name, vf) in enumerate(scenario.vfs.items()):
        course = courses[name]
        delays = course.delays_us
        mean, p50, p99 = (float(delays.mean()), *map(float, np.percentile(delays, (50, 99)))) if len(delays) else (None, None, None)
        received_mbps = course.processed * vf.packet_bytes * 8 / seconds / 1e6
        beyond = offered[name] * vf.packet_bytes * 8 / 1e6 > vf.max_mbps or loads[at] > allowed[at] * (1 + 1e-9)
        found[name] = VfFigures(
            offered_kpps=offered[name] / 1000,
            sent_kpps=course.sent / seconds / 1000,
            received_kpps=course.processed / seconds / 1000,
            received_mbps=received_mbps,
            fair_share_mbps=float(shares[at]),
            nic_drops_per_s=course.nic_drops / seconds,
            queue_drops_per_s=course.queue_drops / seconds,
            delay_mean_us=mean,
            delay_p50_us=p50,
            delay_p99_us=p99,
            cpu_share=course.cpu_us / cpu if cpu else 0.0,
            promise=_promise(vf, course, offered[name] * vf.packet_bytes * 8 / 1e6, received_mbps, p99, beyond),
        )
    return found


def weighted_max_min(capacity: float, wants: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Shares of a capacity in proportion to weights, none above what it wants; what is not wanted goes to the others.

    >>> weighted_max_min(1.0, [0.25, 2.0, 2.0], [1.0, 1.0, 2.0])
    [0.25, 0.25, 0.5]
    """
    shares = [0.0] * len(wants)
    hungry = sorted(range(len(wants)), key=lambda at: wants[at] / weights[at])
    left, weight = capacity, sum(weights)
    for at in hungry:
        shares[at] = min(wants[at], left * weights[at] / weight)
        left -= shares[at]
        weight -= weights[at]
    return shares


def _offered(vf: Vf, course: VfCourse) -> float:
    """Packets offered; senders with a window offer what came through."""
    return course.offered if vf.window is None else course.processed + course.nic_drops + course.queue_drops


def _cost_us(scenario: Scenario, vf: Vf) -> float:
    engine = scenario.engine
    return engine.pull_us + engine.packet_us + engine.byte_us * vf.packet_bytes + vf.extra_cost_us


def _promise(vf: Vf, course: VfCourse, offered_mbps: float, received_mbps: float, p99_us: float | None, beyond: bool) -> Promise:
    if offered_mbps == 0:
        return Promise.IDLE
    if vf.window is not None:  # it takes what it can get, and finds the limit by losing packets: only the minimum is promised
        return Promise.BROKEN if received_mbps < ENOUGH * vf.min_mbps else Promise.KEPT
    if beyond:
        return Promise.BEYOND
    dropped = course.nic_drops + course.queue_drops
    lost = dropped > LOSS_PROMISED * (course.processed + dropped)
    late = vf.p99_us is not None and (p99_us is None or p99_us > vf.p99_us)
    starved = received_mbps < ENOUGH * min(offered_mbps, vf.min_mbps)
    return Promise.BROKEN if lost or late or starved else Promise.KEPT
