"""Reads the real interfaces of the lab, and brings them into the form of the measurement `vf_traffic`."""

import json
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.isolation_real.lab import SOFTNET, VFS, Lab, run

from wallwatch.domain.isolation.readings import Reading, reading_of_message

FEWEST_ANSWERS = 10
"""Fewer answers in an interval say nothing of a 99th percentile: the delay is then unknown."""


@dataclass(frozen=True)
class Delay:
    """Round trips of one tenant since the reading before; None where there was no answer."""

    answered: int = 0
    lost: int = 0
    p50_us: float | None = None
    p99_us: float | None = None


@dataclass(frozen=True)
class Sample:
    """Everything read at one instant."""

    t: float
    uplink: dict[str, Any]
    representors: list[dict[str, Any]]
    qdiscs: list[dict[str, Any]]
    processed: int
    dropped: int
    squeezed: int
    """Of the one CPU that handles what the host receives; other CPUs are busy with other things."""
    delays: list[Delay] = field(default_factory=list)

    def reading(self) -> Reading:
        """The sample as the product reads it: fields as in `vf_traffic`, absent where a device of this kind has no such counter."""
        rx, tx = self.uplink["rx"], self.uplink["tx"]
        fields = {
            "port_rx_bytes": rx["bytes"],
            "port_rx_packets": rx["packets"],
            "port_tx_bytes": tx["bytes"],
            "port_tx_packets": tx["packets"],
            "softnet_processed": self.processed,
            "softnet_dropped": self.dropped,
            "softnet_squeezed": self.squeezed,
            "tx_backlog_bytes": sum(queue["backlog"] for queue in self.qdiscs),
            "vfs": [self._row(vf) for vf in range(VFS)],
        }
        return reading_of_message(self.t, fields)

    def _row(self, vf: int) -> list[Any]:
        """Order of the measurement; a representor transmits what its VF receives."""
        link, delay = self.representors[vf], self.delays[vf]
        rx, tx = link["tx"], link["rx"]
        known = delay.answered >= FEWEST_ANSWERS
        counters = [rx["bytes"], rx["packets"], rx["dropped"], tx["bytes"], tx["packets"], tx["dropped"]]
        backlog = sum(queue["backlog"] for queue in self.qdiscs if queue["dev"] == f"rep{vf}")
        return [vf, "real", *counters, delay.p50_us if known else None, delay.p99_us if known else None, backlog, None, None, None, None]


class Telemetry:
    """Takes samples; the delays are of the time since the sample before."""

    def __init__(self, lab: Lab, delays: Path) -> None:
        self._lab = lab
        self._delays = delays
        self._at = 0

    def sample(self) -> Sample:
        """Read everything once."""
        links = {link["ifname"]: link["stats64"] for link in json.loads(run("ip", "-n", self._lab.host, "-s", "-j", "link", "show"))}
        qdiscs = json.loads(run("tc", "-n", self._lab.host, "-s", "-j", "qdisc", "show"))
        processed, dropped, squeezed = self._softnet()
        representors = [links[f"rep{vf}"] for vf in range(VFS)]
        # A class's queue is counted in its parent too.
        queues = [queue for queue in qdiscs if queue.get("kind") in ("bfifo", "tbf")]
        return Sample(time.monotonic(), links["uplink"], representors, queues, processed, dropped, squeezed, self._new_delays())

    def _softnet(self) -> tuple[int, int, int]:
        """Columns of `/proc/net/softnet_stat`: processed, dropped, time_squeeze; the 13th is the CPU."""
        for line in SOFTNET.read_text().splitlines():
            columns = [int(text, 16) for text in line.split()]
            if columns[12] == self._lab.engine_cpu:
                return columns[0], columns[1], columns[2]
        raise ValueError(f"{SOFTNET} has no line of CPU {self._lab.engine_cpu}")

    def _new_delays(self) -> list[Delay]:
        with self._delays.open("rb") as file:
            file.seek(self._at)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._at += len(whole)
        trips: list[list[float]] = [[] for _ in range(VFS)]
        lost = [0] * VFS
        for line in whole.decode().splitlines():
            kind, vf, *took = line.split()
            if kind == "a":
                trips[int(vf)].append(float(took[0]))
            else:
                lost[int(vf)] += 1
        return [_delay(sorted(took), lost_count) for took, lost_count in zip(trips, lost, strict=True)]


def _delay(sorted_us: list[float], lost: int) -> Delay:
    if not sorted_us:
        return Delay(0, lost)
    rank = [max(0, math.ceil(part * len(sorted_us)) - 1) for part in (0.5, 0.99)]
    return Delay(len(sorted_us), lost, sorted_us[rank[0]], sorted_us[rank[1]])
