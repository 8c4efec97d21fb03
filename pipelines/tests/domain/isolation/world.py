"""A small world of one RNIC for the tests of the detector: VFs with demands, an engine with costs, counters as cards keep them.

Not tuned to the detector: the costs, the place where drops are counted and the shape of the delay differ from world to world.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from wallwatch.domain.isolation.detector import Detector
from wallwatch.domain.isolation.readings import Counters, Reading, VfCounters
from wallwatch.domain.isolation.slo import Slo
from wallwatch.domain.isolation.verdicts import Verdict


@dataclass
class Vf:
    """Usual traffic of a VF: bits and mean packet size, received and sent."""

    max_bps: float
    rx_bps: float
    size: float
    tx_bps: float = 0.0
    min_bps: float = 0.0
    policed_bps: float | None = None
    p99_us: float = 50.0
    loss: float = 0.0001


@dataclass
class Incident:
    """Traffic that is added to (or replaces) that of some VFs for some seconds."""

    first: int
    last: int
    kind: str
    """storm, burst or egress."""
    extra: dict[str, float]
    """VF -> added packets/s for a storm, added bit/s for a burst, sent bit/s for egress."""
    size: float = 64.0


@dataclass
class World:
    """One RNIC."""

    vfs: dict[str, Vf]
    nic_bps: float = 40e9
    packet_bytes: float = 160.0
    """Cost of a packet in bytes."""
    capacity: float = 1.0
    """In parts of what the line rate costs at full-sized packets."""
    incidents: list[Incident] = field(default_factory=list)
    drops_at: str = "both"
    """both, port, vfs, or victims (only VFs without an incident count their drops)."""
    delay: str = "queue"
    """queue (rises with the load), jump (only when full), none."""
    noise: float = 0.05
    blips: float = 0.0
    """Probability per VF and second of a delay of its own."""
    port_noise_drops: float = 0.0
    """Largest number of drops per second at the port while the engine is calm."""
    counts_offered: bool = False
    """The receive counters include what was dropped."""
    seed: int = 1

    def slos(self) -> dict[str, Slo]:
        """The promises."""
        return {name: Slo(vf.min_bps, vf.max_bps, 10.0, vf.p99_us, vf.loss, vf.policed_bps) for name, vf in self.vfs.items()}

    def readings(self, seconds: int, start: int = 1000) -> list[Reading]:
        """Readings of the seconds `start` (the first, before any traffic) to `start + seconds`."""
        rng = random.Random(self.seed)
        names = [*self.vfs, "port"]
        counters = {name: [rng.randrange(10**12) for _ in range(6)] for name in names}
        readings = [self._reading(start, counters, {})]
        for second in range(1, seconds + 1):
            delays = self._second(second, counters, rng)
            readings.append(self._reading(start + second, counters, delays))
        return readings

    def truth(self, seconds: int, start: int = 1000) -> dict[float, Incident]:
        """Time -> incident."""
        return {float(start + second): one for one in self.incidents for second in range(one.first, min(one.last, seconds) + 1)}

    def _cost(self, packets: float, byte_rate: float) -> float:
        full = self.capacity * self.nic_bps / 8 * (1 + self.packet_bytes / 1500)
        return (packets * self.packet_bytes + byte_rate) / full

    def _second(self, second: int, counters: dict[str, list[int]], rng: random.Random) -> dict[str, tuple[float, float]]:
        incident = next((one for one in self.incidents if one.first <= second <= one.last), None)
        extra = incident.extra if incident else {}
        egress = incident is not None and incident.kind == "egress"
        offered: dict[str, tuple[float, float]] = {}
        for name, vf in self.vfs.items():
            rate = vf.rx_bps / 8 * rng.uniform(1 - self.noise, 1 + self.noise)
            packets = rate / vf.size
            if incident and name in extra and incident.kind == "storm":
                added = extra[name] * rng.uniform(0.97, 1.03)
                packets, rate = packets + added, rate + added * incident.size
            elif incident and name in extra and incident.kind == "burst":
                added = extra[name] / 8 * rng.uniform(0.97, 1.03)
                packets, rate = packets + added / 1500, rate + added
            offered[name] = packets, rate
        load = sum(self._cost(*flow) for flow in offered.values())
        lost = 1 - 1 / load if load > 1 else 0.0
        delays = {}
        port = counters["port"]
        for name, vf in self.vfs.items():
            packets, rate = offered[name]
            own_drops = 0.0
            if vf.policed_bps and rate * 8 > vf.policed_bps:
                own_drops = packets * (1 - vf.policed_bps / 8 / rate)
                packets, rate = packets - own_drops, vf.policed_bps / 8
            dropped = packets * lost
            got = 1.0 if self.counts_offered else 1 - lost
            shown = self.drops_at in ("both", "vfs") or (self.drops_at == "victims" and name not in extra)
            tx = vf.tx_bps / 8 * rng.uniform(1 - self.noise, 1 + self.noise) * (0.5 if egress and name not in extra else 1.0)
            tx_dropped = 0.0
            if egress and name in extra:
                tx = min(extra[name], vf.max_bps) / 8
                tx_dropped = max(0.0, extra[name] - vf.max_bps) / 8 / 1000
            values = [rate * got, packets * got, (dropped if shown else 0.0) + own_drops, tx, tx / 1000, tx_dropped]
            counters[name] = [count + int(value) for count, value in zip(counters[name], values, strict=True)]
            port_values = [rate, packets, dropped if self.drops_at != "vfs" else 0.0, tx, tx / 1000, 0.0]
            port[:] = [count + int(value) for count, value in zip(port, port_values, strict=True)]
            delays[name] = self._delay(load, egress and name not in extra, rng)
        if self.port_noise_drops and load < 1:
            port[2] += int(rng.uniform(0, self.port_noise_drops))
        return delays

    def _delay(self, load: float, blocked: bool, rng: random.Random) -> tuple[float, float]:
        if self.delay == "none":
            return float("nan"), float("nan")
        if load > 1:
            p99 = rng.uniform(200, 5000)
        elif self.delay == "queue":
            p99 = rng.uniform(15, 20) * (1 + 0.05 * load / (1.02 - min(load, 1.0)))
        else:
            p99 = rng.uniform(15, 30)
        if blocked:
            p99 = rng.uniform(300, 900)
        if rng.random() < self.blips:
            p99 = rng.uniform(60, 2000)
        return p99 / 4, p99

    @staticmethod
    def _reading(t: int, counters: dict[str, list[int]], delays: dict[str, tuple[float, float]]) -> Reading:
        vfs = {}
        for name, values in counters.items():
            if name != "port":
                p50, p99 = delays.get(name, (float("nan"), float("nan")))
                vfs[name] = VfCounters(*values, "", p50 if p50 == p50 else None, p99 if p99 == p99 else None)
        return Reading(float(t), Counters(*counters["port"]), vfs)


def run(world: World, readings: list[Reading]) -> list[Verdict]:
    """The verdicts of a fresh detector."""
    detector = Detector(world.slos(), world.nic_bps)
    return [verdict for verdict in map(detector.step, readings) if verdict is not None]


@dataclass
class Score:
    """How the verdicts compare with the truth."""

    missed: list[float]
    invented: list[float]
    wrong_aggressors: list[float]
    wrong_mechanism: list[float]


MECHANISMS = {"storm": "ingress packet rate", "burst": "ingress bandwidth", "egress": "egress buffer"}


def score(verdicts: list[Verdict], truth: dict[float, Incident]) -> Score:
    """Compare second by second."""
    broken = {verdict.t: verdict for verdict in verdicts if verdict.broken}
    both = broken.keys() & truth.keys()
    return Score(
        sorted(truth.keys() - broken.keys()),
        sorted(broken.keys() - truth.keys()),
        sorted(t for t in both if set(broken[t].aggressors) != set(truth[t].extra)),
        sorted(t for t in both if broken[t].mechanism != MECHANISMS[truth[t].kind]),
    )
