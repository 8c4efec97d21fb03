"""The flow table of ovs-vswitchd with TC offload: who installs an entry, who reads its counter and who deletes it.

Mechanism, with its sources:

- A packet that finds no entry goes to a handler, which installs one within milliseconds (ofproto/ofproto-dpif-upcall.c,
  `handle_upcalls`).
- The driver reads counters in turn, whatever their traffic (mlx5: drivers/net/ethernet/mellanox/mlx5/core/fs_counters.c, once per
  second while the table is small). What the dump shows is what was read last; `lastuse` moves when a read found more packets.
- A new filter has `lastuse == install` (net/sched/act_api.c, `tcf_action_init`; lib/tc.c, `nl_parse_tcf`).
- The revalidator looks at all flows at least every `max-revalidator` ms and deletes those whose `used`, or creation where they were
  never used, lies `max-idle` back (`revalidate`). It shortens `max-idle` to 100 ms above the flow limit, deletes all flows above twice
  the limit, and lowers the limit when a sweep is slow (`udpif_revalidator`).
- Each deletion takes the RNIC time; the sweep waits for it (paper, section 4.1: deletions search the table).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tests.raw_hosts.flow_text import Line
from tests.raw_hosts.releases import OVS_3_3, Release
from tests.raw_hosts.traffic import FOREVER, Bools, Floats, Pattern, Traffic

Indices = NDArray[np.int64]
UNUSED = -FOREVER
"""`used` of an entry whose counter was never seen to move."""
MOST_FLOWS = 200_000.0
"""Default of other_config:flow-limit (ovs-vswitchd.conf.db(5))."""
FIRST_LIMIT = 10_000.0
"""The limit with which a daemon begins (ofproto/ofproto-dpif-upcall.c, `udpif_create`)."""
SOFTWARE_READ_S = 0.05
"""Software counts for itself: what it shows is as good as current."""
ETHERNET_HEADER = 14
"""TC counts packets without it (include/net/sch_generic.h, `qdisc_pkt_len` of what is already pulled)."""


@dataclass
class Settings:
    """Of the switch and the RNIC; times in s."""

    max_idle_s: float = 10.0
    max_revalidator_s: float = 0.5
    most_flows: float = MOST_FLOWS
    """What an operator has set (other_config:flow-limit)."""
    flow_limit: float = MOST_FLOWS
    """What is allowed at present, at most that."""
    counter_read_s: float = 1.0
    """Time in which the driver reads all counters once."""
    deletion_s: float = 0.0002
    insertions_per_s: float = 20_000.0
    sweep_base_s: float = 0.002
    sweep_flow_s: float = 0.000012
    """What a sweep takes for each flow without deletions."""


class FlowTable:
    """All flows of one datapath; times in s since the case began."""

    def __init__(self, seed: int, settings: Settings | None = None, release: Release = OVS_3_3) -> None:
        self.random = np.random.default_rng(seed)
        self.settings = settings or Settings()
        self.release = release
        self.traffic = Traffic(self.random)
        self.now = 0.0
        self.lines: list[Line] = []
        self.owner: Indices = np.empty(0, np.int64)
        """Number of the RNIC that each flow belongs to, -1 for none."""
        self.is_egress: Bools = np.empty(0, bool)
        self.in_rnic: Bools = np.empty(0, bool)
        self.enabled: Bools = np.empty(0, bool)
        self.present: Bools = np.empty(0, bool)
        self.created: Floats = np.empty(0)
        self.sent: Floats = np.empty(0)
        """Packets of the present entry, whether or not its counter was read."""
        self.seen_packets: Floats = np.empty(0)
        self.seen_used: Floats = np.empty(0)
        self.next_read: Floats = np.empty(0)
        self.read_every: Floats = np.empty(0)
        self.delete_at: Floats = np.empty(0)
        self.frozen_until = -FOREVER
        """Until then no counter is read and nothing is sent: the RNIC stands still."""
        self.stuck_until = -FOREVER
        """Until then nothing is installed or deleted: the switch waits for the kernel."""
        self.hit = self.missed = 0
        self.insertions = self.deletions = self.refused = 0
        self.sweep_took_s = 0.005
        self._next_sweep = -FOREVER
        self.sent_bytes: dict[tuple[int, bool], float] = {}
        self.sent_packets: dict[tuple[int, bool], float] = {}
        self.software_copies: dict[int, float] = {}
        """Packets that the software copy of an offloaded flow has counted; such a flow is listed twice."""

    def add(
        self, lines: Sequence[Line], pattern: Pattern, owner: int, *, is_egress: bool, in_rnic: bool = True, installed: bool = False
    ) -> Indices:
        """Add flows. They are installed by their first packet; those that send now are `installed` already where their traffic is old."""
        flows = self.traffic.add(pattern, len(lines), self.now)
        self.lines += lines
        count = len(lines)

        def extend(values: NDArray[np.generic], value: object) -> NDArray[np.generic]:
            return np.append(values, np.full(count, value)).astype(values.dtype)

        self.owner = extend(self.owner, owner)  # type: ignore[assignment]
        self.is_egress = extend(self.is_egress, is_egress)  # type: ignore[assignment]
        self.in_rnic = extend(self.in_rnic, in_rnic)  # type: ignore[assignment]
        self.enabled = extend(self.enabled, True)  # type: ignore[assignment]
        self.present = extend(self.present, False)  # type: ignore[assignment]
        self.created = extend(self.created, 0.0)  # type: ignore[assignment]
        self.sent = extend(self.sent, 0.0)  # type: ignore[assignment]
        self.seen_packets = extend(self.seen_packets, 0.0)  # type: ignore[assignment]
        self.seen_used = extend(self.seen_used, UNUSED)  # type: ignore[assignment]
        self.next_read = extend(self.next_read, FOREVER)  # type: ignore[assignment]
        read_every = self.settings.counter_read_s if in_rnic else SOFTWARE_READ_S
        self.read_every = extend(self.read_every, read_every)  # type: ignore[assignment]
        self.delete_at = extend(self.delete_at, FOREVER)  # type: ignore[assignment]
        if installed:
            sending = flows[self.traffic.on[flows]]
            self._install(sending, np.full(len(sending), self.now))
        return flows

    def read_counters_late(self, flows: Indices, from_s: float, to_s: float) -> None:
        """Let the driver come round to the counters of these flows only every `from_s` to `to_s`, which differs from flow to flow."""
        self.read_every[flows] = from_s + (to_s - from_s) * self.random.random(len(flows))
        present = flows[self.present[flows]]
        self.next_read[present] = self.now + self.random.random(len(present)) * self.read_every[present]

    def read_counters_in_time(self, flows: Indices) -> None:
        """Let the driver read the counters of these flows as usual again."""
        self.read_every[flows] = self.settings.counter_read_s
        self.next_read[flows] = np.minimum(self.next_read[flows], self.now + self.settings.counter_read_s)

    def end(self, flows: Indices) -> None:
        """Let flows end: their entries age."""
        self.traffic.stop(flows)

    def remove(self, flows: Indices) -> None:
        """Delete entries at once, and let nobody install them again: their port is gone."""
        self.traffic.stop(flows)
        self._delete(flows[self.present[flows]])
        self.enabled[flows] = False

    def lose(self, flows: Indices) -> None:
        """Entries vanish although their flows have not aged (cause C1)."""
        self._delete(flows[self.present[flows]])

    def flush(self) -> None:
        """Delete all entries: the daemon was restarted."""
        self._delete(np.flatnonzero(self.present))

    @property
    def count(self) -> int:
        """Flows in the datapath."""
        return int(self.present.sum())

    @property
    def offloaded(self) -> int:
        """Flows in RNICs."""
        return int((self.present & self.in_rnic).sum())

    def advance(self, to: float) -> None:
        """Let time pass. It goes in steps of at most half a second, and of a tenth where deletions wait."""
        while self.now < to - 1e-9:
            self._step(min(to, max(self._next_sweep, self.now + 0.05), self.now + 0.5))

    def _step(self, to: float) -> None:
        since, self.now = self.now, to
        frozen = to <= self.frozen_until
        if not frozen:
            sent = self.traffic.advance(since, to)
            self._count(sent.packets)
            if to > self.stuck_until:
                absent = np.flatnonzero(~self.present & self.enabled & (sent.first_at < FOREVER))
                if len(absent):
                    self._install_some(absent, sent.first_at[absent], sent.packets, to - since, to)
            self._read_counters(to)
        if to <= self.stuck_until:
            return
        due = np.flatnonzero(self.delete_at <= to)
        if len(due):
            self._delete(due)
        if to >= self._next_sweep:
            self._sweep()

    def _count(self, packets: Floats) -> None:
        held = self.present
        self.sent[held] += packets[held]
        self.hit += int(packets[held].sum())
        byte_counts = packets * self.traffic.packet_bytes
        for owner in np.unique(self.owner):
            for egress in (True, False):
                of = (self.owner == owner) & (self.is_egress == egress) & self.enabled
                key = (int(owner), egress)
                self.sent_packets[key] = self.sent_packets.get(key, 0.0) + float(packets[of].sum())
                self.sent_bytes[key] = self.sent_bytes.get(key, 0.0) + float(byte_counts[of].sum())

    def _install_some(self, absent: Indices, first_at: Floats, packets: Floats, length: float, to: float) -> None:
        self.missed += len(absent)
        room = int(self.settings.insertions_per_s * length) + 1
        if len(absent) > room:
            chosen = np.sort(self.random.choice(len(absent), room, replace=False))
            absent, first_at = absent[chosen], first_at[chosen]
        if self.count > self.settings.flow_limit:
            self.refused += len(absent)
            return
        at = np.minimum(first_at + 0.001 + 0.004 * self.random.random(len(absent)), to)
        self._install(absent, at)
        # Of the packets in this step, the entry counts those after the first.
        self.sent[absent] = np.maximum(0.0, packets[absent] - 1)

    def _install(self, flows: Indices, at: Floats) -> None:
        self.present[flows] = True
        self.created[flows] = at
        self.sent[flows] = 0.0
        self.seen_packets[flows] = 0.0
        self.seen_used[flows] = UNUSED if self.release.never_until_counted else at
        # The new counter has some place in the driver's round.
        self.next_read[flows] = at + self.random.random(len(flows)) * self.read_every[flows]
        self.delete_at[flows] = FOREVER
        self.insertions += len(flows)

    def _delete(self, flows: Indices) -> None:
        self.present[flows] = False
        self.delete_at[flows] = FOREVER
        self.next_read[flows] = FOREVER
        self.deletions += len(flows)

    def _read_counters(self, to: float) -> None:
        due = np.flatnonzero(self.present & (self.next_read <= to))
        if not len(due):
            return
        moved = due[self.sent[due] > self.seen_packets[due]]
        self.seen_packets[moved] = self.sent[moved]
        self.seen_used[moved] = self.next_read[moved]
        rounds = np.ceil((to - self.next_read[due]) / self.read_every[due] + 1e-9)
        self.next_read[due] += np.maximum(rounds, 1) * self.read_every[due]

    def _sweep(self) -> None:
        settings = self.settings
        count = self.count
        max_idle = 0.1 if count > settings.flow_limit else settings.max_idle_s
        if count > 2 * settings.flow_limit:
            max_idle = -FOREVER  # all are deleted
        used = np.where(self.seen_used == UNUSED, self.created, self.seen_used)
        waiting = self.delete_at < FOREVER
        aged = np.flatnonzero(self.present & ~waiting & (used < self.now - max_idle))
        took = settings.sweep_base_s + settings.sweep_flow_s * count + settings.deletion_s * len(aged)
        if len(aged):
            self.delete_at[aged] = self.now + settings.sweep_base_s + settings.deletion_s * np.arange(1, len(aged) + 1)
        self.sweep_took_s = took
        self._adapt_limit(took, count)
        self._next_sweep = self.now + max(settings.max_revalidator_s, took)

    def _adapt_limit(self, took: float, count: int) -> None:
        limit = self.settings.flow_limit
        if took > 2.0:
            limit /= int(took)
        elif took > 1.3:
            limit = limit * 3 / 4
        elif took < 1.0 and limit < count / took:
            limit += 1000
        self.settings.flow_limit = min(self.settings.most_flows, max(1000.0, limit))

    def dump(self) -> list[bytes]:
        """The lines of `dpctl/dump-flows -m --names`; a flow with a software copy has two."""
        here = np.flatnonzero(self.present)
        packets = self.seen_packets[here].astype(np.int64)
        byte_counts = (packets * np.maximum(0, self.traffic.packet_bytes[here] - ETHERNET_HEADER)).astype(np.int64)
        # The kernel's clock of `lastuse` has hundredths of a second.
        idle = np.round(np.maximum(0.0, self.now - self.seen_used[here]) * 100) / 100
        lines = self.lines
        never = b"never"
        text = [
            b"%b%d, bytes:%d, used:%b%b"
            % ((line := lines[flow]).head, count, size, never if rest == FOREVER else b"%.3fs" % rest, line.tail)
            for flow, count, size, rest in zip(here.tolist(), packets.tolist(), byte_counts.tolist(), idle.tolist(), strict=True)
        ]
        for flow, copied in self.software_copies.items():
            if self.present[flow]:
                tail = lines[flow].tail.replace(b"offloaded:yes, dp:tc", b"dp:ovs")
                text.append(b"%b%d, bytes:%d, used:0.100s%b" % (lines[flow].head, int(copied), int(copied) * 1000, tail))
        return text
