"""One host: its RNICs, its switch, its kernel, and what is scheduled to happen to them."""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import numpy as np
from tests.raw_hosts import flow_text
from tests.raw_hosts.card import Card
from tests.raw_hosts.flow_table import FlowTable, Indices, Settings
from tests.raw_hosts.flow_text import Ends, Shape
from tests.raw_hosts.kernel_log import KernelLog
from tests.raw_hosts.models import CX6, Model
from tests.raw_hosts.releases import OVS_3_3, Release
from tests.raw_hosts.switch import Switch
from tests.raw_hosts.traffic import Pattern

EPOCH = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
EPOCH_NS = int(EPOCH.timestamp()) * 1_000_000_000
"""Time of day at which cases begin: their second 0."""
PCI_ADDRESSES = ("0000:3b:00.0", "0000:5e:00.0", "0000:86:00.0", "0000:af:00.0")
OFFLOADED, SOFTWARE = "offloaded:yes, dp:tc", "dp:ovs"


class Host:
    """What one host shows. Times in s since the case began; negative times are before the collector's first start."""

    def __init__(self, root: Path, seed: int, settings: Settings | None = None, release: Release = OVS_3_3, from_s: float = -40.0) -> None:
        self.root = root
        for folder in ("sys/class/infiniband", "sys/class/net", "sys/bus/pci/devices", "ovs", "pstore", "cni/events", "netlink"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        self.random = random.Random(seed)
        self.now = from_s
        self.table = FlowTable(seed, settings, release)
        self.table.now = from_s
        self.kernel = KernelLog(root, EPOCH_NS)
        self.cards: list[Card] = []
        self.switch = Switch(root / "ovs", self.table, ["ovs-system", "vxlan_sys_4789 (vxlan: packet_type=ptap)"])
        self.settings: dict[str, str] = {"hw-offload": "true"}
        self.clock_offset_s = 0.0
        """By how much the clock was set since the beginning; messages carry it, the collector's differences of times do not."""
        self.collector_runs = True
        """Whether there should be a collector; the player starts and ends it."""
        self.collector_ends = "stop"
        self.stalled = False
        """The kernel stands still: no process runs."""
        self.dump_takes_s = 0.0
        """How long the daemon needs to print its flows."""
        self._events: list[tuple[float, int, Callable[[], object]]] = []
        self._order = count()
        self._flow_number = 0
        self._port_before: dict[tuple[int, bool], tuple[float, float]] = {}
        self._calls = count(1)

    def at(self, when: float, what: Callable[[], object]) -> None:
        """Schedule something."""
        heapq.heappush(self._events, (when, next(self._order), what))

    def every(self, period: float, since: float, until: float, what: Callable[[], object]) -> None:
        """Schedule something again and again."""
        for when in np.arange(since, until, period):
            self.at(float(when), what)

    def next_event(self) -> float:
        """When something is scheduled next."""
        return self._events[0][0] if self._events else float("inf")

    def advance(self, to: float) -> None:
        """Let time pass, with what is scheduled."""
        while self._events and self._events[0][0] <= to:
            when, _, what = heapq.heappop(self._events)
            self._pass(max(when, self.now))
            what()
        self._pass(to)

    def _pass(self, to: float) -> None:
        self.table.advance(to)
        self.now = to
        for card in self.cards:
            sent = self._since(card.number, True)
            received = self._since(card.number, False)
            card.send(*sent, *received)

    def _since(self, owner: int, egress: bool) -> tuple[float, float]:
        key = (owner, egress)
        now = (self.table.sent_bytes.get(key, 0.0), self.table.sent_packets.get(key, 0.0))
        before = self._port_before.get(key, (0.0, 0.0))
        self._port_before[key] = now
        return now[0] - before[0], now[1] - before[1]

    def write(self) -> None:
        """Write what sysfs shows now."""
        for card in self.cards:
            card.write()

    def add_card(self, model: Model = CX6, vfs: int = 8) -> Card:
        """Put an RNIC into the host."""
        number = len(self.cards)
        card = Card(self.root / "sys", number, model, PCI_ADDRESSES[number], f"ens{number + 1}f0np0", vfs, f"192.168.7.{number + 1}")
        card.counters["port_xmit_data"] = self.random.randrange(10**12)
        card.counters["port_rcv_data"] = self.random.randrange(10**12)
        card.create()
        self.cards.append(card)
        self.switch.ports += [card.netdev, *(card.representor(vf) for vf in range(vfs))]
        return card

    def flows(
        self,
        card: Card,
        number: int,
        pattern: Pattern,
        *,
        egress_share: float = 0.5,
        shapes: Sequence[Shape] = (Shape(),),
        peers: int = 16,
        networks: int = 4,
        placed: str = OFFLOADED,
        installed: bool = True,
        option: Callable[[int], str] = lambda _: "",
        skewed: bool = False,
    ) -> Indices:
        """Let containers of an RNIC talk: flows from and to its representors, spread over masks, peers and networks.

        Masks get flows in turn, or, if `skewed`, the first masks most of them.
        """
        out, come = [], []
        for _ in range(number):
            index = self._flow_number
            self._flow_number += 1
            shape_number = index % len(shapes)
            if skewed:
                shape_number = min(len(shapes) - 1, int(self.random.expovariate(4 / len(shapes))))
            ends = Ends(card.representor(index % max(card.vf_count, 1)), index, card.endpoint,
                        f"192.168.{20 + index % peers // 200}.{index % peers % 200 + 1}", 100 + index // peers % networks)  # fmt: skip
            identity = flow_text.ufid(self.random)
            if self.random.random() < egress_share:
                out.append(flow_text.egress(ends, shapes[shape_number], identity, placed))
            else:
                come.append(flow_text.ingress(ends, shapes[shape_number], identity, placed, option(index)))
        in_rnic = "offloaded:yes" in placed
        made = [
            self.table.add(lines, pattern, card.number, is_egress=is_egress, in_rnic=in_rnic, installed=installed)
            for lines, is_egress in ((out, True), (come, False))
        ]
        self.switch.masks = max(self.switch.masks, len(shapes))
        return np.concatenate(made)

    def time_of_day(self, at: float | None = None) -> datetime:
        """The host's clock."""
        return EPOCH + timedelta(seconds=(self.now if at is None else at) + self.clock_offset_s)

    def cni(self, command: str, card: Card, vf: int) -> None:
        """Leave what the CNI plugin leaves after a call."""
        at = self.time_of_day()
        event = {
            "at": at.isoformat().replace("+00:00", "Z"),
            "command": command,
            "container": f"c{card.number}{vf:04d}{next(self._calls):06d}",
            "interface": "eth0",
            "pod": f"train/worker-{vf}",
            "device": card.vf_pci(vf),
            "rnic": card.pci,
            "addresses": [f"10.100.0.{vf + 1}/16"],
            "vxlan_network": 100,
            "result": "ok",
            "duration_ns": 14_000_000,
        }
        name = f"{int(at.timestamp() * 1e9):020d}-{next(self._calls)}.json"
        (self.root / "cni/events" / name).write_text(json.dumps(event))

    def release(self, card: Card, vf: int) -> None:
        """End a container: its call of DEL, and its function unbound."""
        self.cni("DEL", card, vf)
        card.bind(vf, False)

    def reboot(self, down_s: float) -> None:
        """Let the kernel go: nothing runs for a while, then a new boot with an empty flow table. The collector starts with it."""
        self.collector_runs = False
        self.table.stuck_until = self.now + down_s
        self.switch.stop()
        self.table.flush()

        def up() -> None:
            self.kernel.boot(self.now)
            for card in self.cards:
                card.counters = dict.fromkeys(card.counters, 0.0)
                card.fatal.clear()
            self.switch.restart()

        def run() -> None:
            self.collector_runs = True

        self.at(self.now + down_s, up)
        self.at(self.now + down_s + 12, run)
