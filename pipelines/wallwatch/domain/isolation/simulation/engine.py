"""The receiving engine of a host: one core that pulls packets from the NIC and processes them (PicNIC, sections 2.2 and 5.2).

Pulling and classifying a packet is cheap, processing it is not. Without fair queues the engine does both for one packet after the
other: when it is overloaded, the NIC's queue fills and drops packets of everyone. With CPU-fair weighted fair queues (CWFQ) it pulls
a batch first, puts each packet into the queue of its VF, and then processes a few packets of the VF that used the least CPU time
(moving average) for its weight; a VF that brings too much fills its own queue. A batch is limited, so that pulling cannot take the
whole core; above `pull_batch` packets per cycle the NIC still drops.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import exp

import numpy as np

MULTIPLIERS = 4096


@dataclass(frozen=True)
class EngineSettings:
    """Costs and buffers [ours]: chosen so that figures 7d and 7e come out (drops of 1.54 Mpps; goodput of 0.96 and 1.57 Mpps)."""

    pull_us: float = 0.1
    packet_us: float = 0.45
    byte_us: float = 0.0003
    variation: float = 0.5
    """A packet's cost varies uniformly by this share around its mean (cache misses)."""
    hardware_us: float = 3.0
    """From the NIC's timestamp until the engine can see the packet (PCIe); part of the delay."""
    nic_ring: int = 1024
    vf_queue: int = 256
    pull_batch: int = 32
    process_batch: int = 6
    memory_us: float = 1000.0
    """Time constant of the moving average of CPU time."""


STANDARD_ENGINE = EngineSettings()


@dataclass
class VfCounts:
    """What happened to one VF's packets; `delays_us` from the NIC's timestamp to the engine's dequeue."""

    processed: int = 0
    nic_drops: int = 0
    queue_drops: int = 0
    cpu_us: float = 0.0
    delays_us: list[float] = field(default_factory=list)


@dataclass
class _Tcp:
    """The cooperating senders of a VF together: every flow adds one packet per round trip to its window, and halves it after a loss."""

    flows: int
    window: float
    round_trip_us: float
    in_flight: int = 0

    def acknowledged(self) -> None:
        self.in_flight -= 1
        self.window += self.flows / self.window

    def lost(self) -> None:
        self.in_flight -= 1
        self.window = max(self.window * (1.0 - 0.5 / self.flows), float(self.flows))


class Engine:
    """State of one engine; `costs_us` and `weights` per VF, times in microseconds."""

    def __init__(self, costs_us: Sequence[float], weights: Sequence[float], settings: EngineSettings, *, fair: bool, seed: int) -> None:
        self.now = 0.0
        self.counts = [VfCounts() for _ in costs_us]
        self.costs_us = list(costs_us)
        self._tcp: dict[int, _Tcp] = {}
        self._weights = list(weights)
        self._settings = settings
        self._fair = fair
        spread = np.random.default_rng(seed).uniform(1 - settings.variation, 1 + settings.variation, MULTIPLIERS)
        self._multipliers: list[float] = (spread / spread.mean()).tolist()
        self._drawn = 0
        self._ring: deque[tuple[float, int]] = deque()
        self._queues: list[deque[float]] = [deque() for _ in costs_us]
        self._usage = [0.0] * len(self.costs_us)
        self._usage_at = 0.0
        self._times: list[float] = []
        self._vfs: list[int] = []
        self._next = 0
        self._returning: list[tuple[float, int]] = []

    def occupancy(self, vf: int) -> int:
        """Packets in the VF's own queue."""
        return len(self._queues[vf])

    def offer(self, times_us: list[float], vfs: list[int]) -> None:
        """Packets on the wire, in order of time and later than everything offered before."""
        self._times = self._times[self._next :] + times_us
        self._vfs = self._vfs[self._next :] + vfs
        self._next = 0

    def start_flows(self, vf: int, flows: int, window: float, round_trip_us: float) -> None:
        """Cooperating senders of a VF; their first packets arrive now."""
        self._tcp[vf] = _Tcp(flows, window * flows, round_trip_us)
        self._send(vf, 0.0)

    def _send(self, vf: int, after_us: float) -> None:
        """As many packets as the window has room for."""
        tcp = self._tcp[vf]
        count = max(int(tcp.window) - tcp.in_flight, 0)
        tcp.in_flight += count
        for _ in range(count):
            heappush(self._returning, (self.now + after_us, vf))

    def run(self, until_us: float) -> None:
        """Work until `until_us`; a packet that has begun is finished."""
        self._forget()
        while self.now < until_us:
            self._admit()
            if self._ring or any(self._queues):
                self._fair_cycle() if self._fair else self._plain_cycle()
                continue
            coming = [self._times[self._next]] if self._next < len(self._times) else []
            coming += [self._returning[0][0]] if self._returning else []
            self.now = max(self.now, min([until_us, *coming]))

    def _forget(self) -> None:
        """Age the CPU times. Between calls, new times are charged with a factor that grows instead: the order is the same."""
        aged = exp((self._usage_at - self.now) / self._settings.memory_us)
        self._usage = [usage * aged for usage in self._usage]
        self._usage_at = self.now

    def _admit(self) -> None:
        """Move what has arrived from the wire into the NIC's queue; its tail is dropped when it is full."""
        ring, room = self._ring, self._settings.nic_ring - len(self._ring)
        while self._returning and self._returning[0][0] <= self.now:
            arrived, vf = heappop(self._returning)
            if room > 0:
                ring.append((arrived, vf))
                room -= 1
            else:
                self._drop(vf, at_nic=True)
        until = bisect_right(self._times, self.now, self._next)
        if until > self._next:
            taken = min(until, self._next + max(room, 0))
            ring.extend(zip(self._times[self._next : taken], self._vfs[self._next : taken], strict=True))
            for vf in self._vfs[taken:until]:
                self._drop(vf, at_nic=True)
            self._next = until

    def _drop(self, vf: int, *, at_nic: bool) -> None:
        if at_nic:
            self.counts[vf].nic_drops += 1
        else:
            self.counts[vf].queue_drops += 1
        if vf in self._tcp:
            self._tcp[vf].lost()
            self._send(vf, self._tcp[vf].round_trip_us)

    def _fair_cycle(self) -> None:
        settings, ring, queues = self._settings, self._ring, self._queues
        batch = min(settings.pull_batch, len(ring))
        self.now += batch * settings.pull_us
        for _ in range(batch):
            arrived, vf = ring.popleft()
            if len(queues[vf]) < settings.vf_queue:
                queues[vf].append(arrived)
            else:
                self._drop(vf, at_nic=False)
        waiting = [vf for vf, queue in enumerate(queues) if queue]
        growth = exp((self.now - self._usage_at) / settings.memory_us)
        usage = self._usage
        for _ in range(settings.process_batch):
            if not waiting:
                return
            vf = min(waiting, key=usage.__getitem__) if len(waiting) > 1 else waiting[0]
            cost = self._process(vf, queues[vf].popleft())
            usage[vf] += cost * growth / self._weights[vf]
            if not queues[vf]:
                waiting.remove(vf)

    def _plain_cycle(self) -> None:
        for _ in range(min(self._settings.process_batch, len(self._ring))):
            arrived, vf = self._ring.popleft()
            self.now += self._settings.pull_us
            self._process(vf, arrived)

    def _process(self, vf: int, arrived: float) -> float:
        counts = self.counts[vf]
        counts.delays_us.append(self.now - arrived + self._settings.hardware_us)
        self._drawn = (self._drawn + 1) % MULTIPLIERS
        cost = self.costs_us[vf] * self._multipliers[self._drawn]
        self.now += cost
        counts.processed += 1
        counts.cpu_us += cost
        if vf in self._tcp:
            self._tcp[vf].acknowledged()
            self._send(vf, self._tcp[vf].round_trip_us)
        return cost
