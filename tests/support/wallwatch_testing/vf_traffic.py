"""Messages of `vf_traffic` by a small model of one RNIC: VFs with steady rates, and at times a storm of packets to one of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

CAPACITY_PPS = 4_000_000.0
STORM_PPS = 6_000_000.0


@dataclass
class SharedRnic:
    """Cumulative counters of eight VFs of one RNIC; `step` moves on and returns the message."""

    host: str
    pci: str = "0000:3b:00.0"
    vfs: int = 8
    pps: float = 100_000.0
    packet_bytes: int = 700
    port_mbps: int = 25_000
    aggressor: int = 3
    seed: int = 1
    counters: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._of_vf = [[0] * 6 for _ in range(self.vfs)]
        self._port = [0, 0, 0, 0, 0]
        self.generations = [f"{number}-1" for number in range(self.vfs)]

    def step(self, at_s: float, seconds: float = 1.0, storm: bool = False, doubt: str | None = None) -> dict[str, Any]:
        """The message at this time, after `seconds` of traffic."""
        offered = [self.pps * self._random.uniform(0.97, 1.03) for _ in range(self.vfs)]
        if storm:
            offered[self.aggressor] = STORM_PPS * self._random.uniform(0.98, 1.02)
        total = sum(offered)
        passed = min(1.0, CAPACITY_PPS / total)
        rows: list[list[Any]] = []
        for number, rate in enumerate(offered):
            size = 64 if storm and number == self.aggressor else self.packet_bytes
            packets = round(rate * passed * seconds)
            counts = self._of_vf[number]
            counts[0] += packets * size
            counts[1] += packets
            counts[3] += packets * size // 2
            counts[4] += packets // 2
            delay = (400.0, 5_000.0) if storm else (8.0, 20.0)
            noise = self._random.uniform(0.9, 1.1)
            rows.append([number, self.generations[number], *counts, delay[0] * noise, delay[1] * noise, 0, 0, 0, 0, None])
        self._port[0] += sum(round(rate * passed * seconds) * self.packet_bytes for rate in offered)
        self._port[1] += round(total * passed * seconds)
        self._port[2] += round(total * (1.0 - passed) * seconds)
        self._port[3] += round(total / 2 * seconds) * self.packet_bytes
        self._port[4] += round(total / 2 * seconds)
        fields: dict[str, Any] = {
            "port_rx_bytes": self._port[0],
            "port_rx_packets": self._port[1],
            "port_rx_discards": self._port[2],
            "port_rx_out_of_buffer": 0,
            "port_tx_bytes": self._port[3],
            "port_tx_packets": self._port[4],
            "port_tx_discards": 0,
            "port_mbps": self.port_mbps,
            "vfs": json.dumps(rows),
        }
        if doubt is not None:
            fields["doubt"] = doubt
        tags = {"host": self.host, "rack": "r1", "pci": self.pci}
        return {"name": "vf_traffic", "timestamp": round(at_s * 1e9), "tags": tags, "fields": fields}

    def series(self, start_s: float, seconds: int, storm: Callable[[int], bool] = lambda second: False) -> Iterable[dict[str, Any]]:
        """One message per second; `storm` says in which seconds the storm blows."""
        for second in range(seconds):
            yield self.step(start_s + second, storm=storm(second), doubt="port drops" if storm(second) else None)
