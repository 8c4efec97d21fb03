"""A run of the receiving side: demands, senders' limits, the wire, the engine; packet by packet, deterministic by seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wallwatch.domain.isolation.simulation.engine import Engine, VfCounts
from wallwatch.domain.isolation.simulation.rate_limits import BandwidthLimits, PacketLimits
from wallwatch.domain.isolation.simulation.scenario import Demand, Scenario
from wallwatch.domain.isolation.simulation.sources import Source

TICK_US = 64.0
"""Demands and limits take effect at multiples of this."""


@dataclass(frozen=True)
class PccpEpoch:
    """One epoch of a VF: its end, the mean delay of its packets (None without packets), and whether PCCP was active."""

    at_us: float
    delay_us: float | None
    active: bool


@dataclass
class VfCourse:
    """One VF over a run. Numbers are of the time after the warm-up; `epochs` of all of it."""

    measured_us: float = 0.0
    """How long that time was: whole ticks."""
    offered: float = 0.0
    """Packets that applications offered, sent or not."""
    sent: int = 0
    """Packets that reached the receiver's NIC."""
    processed: int = 0
    nic_drops: int = 0
    queue_drops: int = 0
    cpu_us: float = 0.0
    delays_us: np.ndarray = field(default_factory=lambda: np.empty(0))
    epochs: list[PccpEpoch] = field(default_factory=list)


def simulate_ingress(scenario: Scenario) -> dict[str, VfCourse]:
    """Run the scenario with its mechanisms and return the course of every VF."""
    run = _Run(scenario)
    ticks = round(scenario.duration_ms * 1000.0 / TICK_US)
    for tick in range(ticks):
        run.tick(tick * TICK_US, (tick + 1) * TICK_US)
    return dict(zip(scenario.vfs, run.finish(), strict=True))


class _Run:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.vfs = list(scenario.vfs.values())
        settings, size = scenario.engine, len(self.vfs)
        costs = [settings.packet_us + settings.byte_us * vf.packet_bytes + vf.extra_cost_us for vf in self.vfs]
        self.engine = Engine(costs, [vf.max_mbps for vf in self.vfs], settings, fair=scenario.mechanisms.cwfq, seed=scenario.seed)
        self.sources = [Source(np.random.default_rng(seed)) for seed in np.random.SeedSequence(scenario.seed).spawn(size)]
        self.bandwidth = BandwidthLimits(scenario)
        self.packets = [PacketLimits(scenario) for _ in self.vfs]
        self.courses = [VfCourse() for _ in self.vfs]
        self.bits_of_epoch = [0.0] * size
        self.next_pccb = scenario.control.pccb_epoch_us
        self.next_pccp = scenario.control.pccp_epoch_us
        self.at_warmup: list[tuple[VfCounts, int]] | None = None
        self.epoch_from = [0] * size
        self.seen_drops = [0] * size
        for at, vf in enumerate(self.vfs):
            if vf.window is not None:
                self.engine.start_flows(at, vf.window.flows, vf.window.packets, vf.window.round_trip_us)

    def tick(self, start_us: float, end_us: float) -> None:
        """Send, receive, and let the controllers look at the result."""
        if self.at_warmup is None and start_us >= self.scenario.warmup_ms * 1000.0:
            self.at_warmup = [(_copy(counts), len(counts.delays_us)) for counts in self.engine.counts]
        demands = [vf.demand(start_us) for vf in self.vfs]
        self._send(start_us, end_us, demands)
        self.engine.run(end_us)
        if self.scenario.mechanisms.pccp:
            self._activate_pccp(end_us, demands)
        if end_us >= self.next_pccp:
            self._pccp_epoch(end_us, demands)
            self.next_pccp += self.scenario.control.pccp_epoch_us
        if end_us >= self.next_pccb:
            if self.scenario.mechanisms.pccb:
                epoch_us = self.scenario.control.pccb_epoch_us
                self.bandwidth.epoch(end_us, [bits / epoch_us for bits in self.bits_of_epoch], [_senders(one) for one in demands])
            self.bits_of_epoch = [0.0] * len(self.vfs)
            self.next_pccb += self.scenario.control.pccb_epoch_us

    def _send(self, start_us: float, end_us: float, demands: list[Demand | None]) -> None:
        offered = [demand.kpps * 1000.0 if demand else 0.0 for demand in demands]
        bits = [8.0 * vf.packet_bytes for vf in self.vfs]
        limits = [
            min(self.packets[at].feedback.known(start_us), self.bandwidth.feedback[at].known(start_us) * 1e6 / max(bits[at], 1.0))
            for at in range(len(self.vfs))
        ]
        sent = [min(want, limit) for want, limit in zip(offered, limits, strict=True)]
        load = sum(pps * size for pps, size in zip(sent, bits, strict=True)) / (self.scenario.line_gbps * 1e9)
        times, owners = [], []
        for at, pps in enumerate(sent):
            arrivals = self.sources[at].times_us(start_us, end_us, pps / max(load, 1.0), paced=_paced(demands[at], offered[at], limits[at]))
            times.append(arrivals)
            owners.append(np.full(len(arrivals), at))
            self.bits_of_epoch[at] += len(arrivals) * bits[at]
            if self.at_warmup is not None:
                self.courses[at].measured_us += end_us - start_us
                self.courses[at].offered += offered[at] * (end_us - start_us) / 1e6
                self.courses[at].sent += len(arrivals)
        merged = np.concatenate(times)
        order = np.argsort(merged, kind="stable")
        self.engine.offer(merged[order].tolist(), np.concatenate(owners)[order].tolist())

    def _activate_pccp(self, now_us: float, demands: list[Demand | None]) -> None:
        for at, limits in enumerate(self.packets):
            counts = self.engine.counts[at]
            dropped = counts.queue_drops > self.seen_drops[at]
            self.seen_drops[at] = counts.queue_drops
            limits.check(now_us, self.engine.occupancy(at), dropped, counts.processed, _senders(demands[at]))

    def _pccp_epoch(self, now_us: float, demands: list[Demand | None]) -> None:
        for at, limits in enumerate(self.packets):
            delays = self.engine.counts[at].delays_us[self.epoch_from[at] :]
            self.epoch_from[at] += len(delays)
            mean = sum(delays) / len(delays) if delays else None
            self.courses[at].epochs.append(PccpEpoch(now_us, mean, limits.active))
            limits.epoch(now_us, mean, len(delays) * 1e6 / self.scenario.control.pccp_epoch_us, _senders(demands[at]))

    def finish(self) -> list[VfCourse]:
        """The courses with what the engine counted since the warm-up."""
        marks = self.at_warmup or [(_copy(VfCounts()), 0)] * len(self.vfs)
        for course, counts, (before, delays) in zip(self.courses, self.engine.counts, marks, strict=True):
            course.processed = counts.processed - before.processed
            course.nic_drops = counts.nic_drops - before.nic_drops
            course.queue_drops = counts.queue_drops - before.queue_drops
            course.cpu_us = counts.cpu_us - before.cpu_us
            course.delays_us = np.array(counts.delays_us[delays:])
        return self.courses


def _senders(demand: Demand | None) -> int:
    return demand.senders if demand else 1


def _paced(demand: Demand | None, offered: float, limit: float) -> bool:
    """One sender that is held back is paced by its timing wheel; several together are nearly a Poisson process."""
    return demand is not None and demand.senders == 1 and (demand.paced or limit < offered)


def _copy(counts: VfCounts) -> VfCounts:
    return VfCounts(counts.processed, counts.nic_drops, counts.queue_drops, counts.cpu_us)
