"""A card whose queue is a formula, and the VFs on it. What a series assumes of hardware, traffic and probes is in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

PARTS = 10
"""Steps of a second: an incident begins and ends at a step."""


@dataclass(frozen=True)
class Assumptions:
    """What a series assumes; the defaults are the base case."""

    vfs: int = 8
    seconds: int = 300
    nic_bps: float = 25e9
    packet_bytes: float = 200.0
    """A packet costs as much as so many bytes."""
    engine: float = 0.9
    """Part of the line rate that the engine passes on with packets of 1,500 bytes."""
    busy: tuple[float, float] = (0.2, 0.5)
    """Usual load of the engine, from and to."""
    sizes: tuple[float, float] = (200.0, 1400.0)
    """Mean packet sizes of the VFs."""
    storm_bytes: tuple[float, float] = (64.0, 128.0)
    burst_bytes: tuple[float, float] = (1300.0, 1500.0)
    loads: tuple[float, float] = (1.15, 2.5)
    """Offered load of the engine in an incident."""
    lengths_s: tuple[float, float] = (1.0, 40.0)
    whole_seconds: bool = False
    """Incidents begin and end with a second."""
    aggressors: tuple[int, ...] = (1,)
    heavy: bool = False
    """One VF has a right to half of the card, and uses it."""
    spread: float = 0.08
    """Scatter of the usual rates from second to second."""
    back_off: float = 1.0
    """Part that the others still send to themselves while packets are lost."""
    uneven: float = 0.0
    """Scatter of the lost part between VFs: receive queues are not emptied alike."""
    drops_at: str = "both"
    """`port`, `vfs`, `both`, or `vfs without port` (no rows of the port)."""
    received_with_lost: bool = False
    """The VFs' rx_packets and rx_bytes include what was dropped."""
    queue_us: tuple[float, float] = (300.0, 3000.0)
    """Delay of a full queue."""
    knee: float = 0.05
    """Delay below capacity, in promised delays at load 0.5: `knee * load / (1 - load)`."""
    delays: bool = True
    noise: float = 0.12
    """Scatter of the measured p99 (of its logarithm)."""
    base: tuple[float, float] = (0.25, 0.45)
    """p99 of a calm second over the promised one."""
    blips: float = 0.01
    """VF-seconds in which a guest or the fabric is late on its own."""
    jitter_s: float = 0.0
    """Scatter of the time of a reading; its counters are of that time."""
    t0: float = 0.0
    random_start: bool = True
    """Counters begin anywhere."""
    egress_delay: tuple[float, float] = (10.0, 100.0)
    """Delay behind a blocked buffer, in promised ones."""
    egress_passes: tuple[float, float] = (0.2, 0.7)
    """Part of their rate that those behind a blocked buffer keep."""
    egress_receives: bool = True
    """Those behind a blocked buffer receive as usual; without it they receive less to the same part, as senders that wait for answers."""
    egress_stated: bool = True
    """The promises name the limiter of the VF that blocks."""
    egress_wants: str = "throttled"
    """`throttled`: the limit takes most of what the VF usually sends; `floods`: the VF wants more than ever and is held at its limit."""


@dataclass
class Incident:
    """Somebody overloads something in these steps."""

    start: int
    end: int
    guilty: tuple[int, ...]
    mechanism: str


@dataclass
class World:
    """What all VFs ask for, step by step (rows), and what the card does with it."""

    rng: np.random.Generator
    given: Assumptions
    packet_cost: float
    byte_cost: float
    min_bps: np.ndarray
    max_bps: np.ndarray
    p99_us: float
    base_us: np.ndarray
    queue_us: float
    rx: np.ndarray
    """Asked for, packets per second; shape (steps, VFs), as all that follow."""
    rx_size: np.ndarray
    tx: np.ndarray
    tx_size: np.ndarray
    policed_bps: dict[int, float] = field(default_factory=dict)
    own_rx_drops: np.ndarray = field(default_factory=lambda: np.zeros(0))
    own_tx_drops: np.ndarray = field(default_factory=lambda: np.zeros(0))
    stray: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Drops of a calm engine at the port, per second; shape (steps,)."""
    egress_us: np.ndarray = field(default_factory=lambda: np.zeros(0))
    incidents: list[Incident] = field(default_factory=list)
    taken: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def cost(self, size: float | np.ndarray) -> float | np.ndarray:
        """Engine seconds of one packet."""
        return self.packet_cost + self.byte_cost * size

    def free(self, length: int, first_s: float, apart_s: float = 2.0) -> int:
        """The first step of `length` free ones, which are then taken; -1 when there is no room."""
        for _ in range(50):
            start = int(self.rng.integers(round(first_s * PARTS), max(len(self.rx) - length, round(first_s * PARTS) + 1)))
            if self.given.whole_seconds:
                start -= start % PARTS
            margin = round(apart_s * PARTS)
            if start + length <= len(self.rx) and not self.taken[max(start - margin, 0) : start + length + margin].any():
                self.taken[start : start + length] = True
                return start
        return -1

    def length(self) -> int:
        """Steps of an incident."""
        low, high = np.log(self.given.lengths_s)
        steps = max(round(float(np.exp(self.rng.uniform(low, high))) * PARTS), 3)
        return max(PARTS, steps - steps % PARTS) if self.given.whole_seconds else steps


def draw(given: Assumptions, rng: np.random.Generator) -> World:
    """VFs with their usual traffic, all of it inside the envelopes and below half of the shares."""
    count, steps = given.vfs, given.seconds * PARTS
    weights = rng.dirichlet(np.full(count, 4.0))
    if given.heavy:
        weights = np.append(0.5, 0.5 * rng.dirichlet(np.full(count - 1, 4.0)))
    minimum = weights * given.nic_bps * 0.6
    maximum = np.minimum(minimum * rng.uniform(1.5, 3.0, count), given.nic_bps)
    byte_cost = 8 / (given.engine * given.nic_bps) / (1 + given.packet_bytes / 1500)
    packet_cost = given.packet_bytes * byte_cost
    sizes = rng.uniform(*given.sizes, count)
    usual = maximum * rng.uniform(0.1, 0.4, count)
    if given.heavy:
        usual[0], sizes[0] = 0.45 * maximum[0], min(max(given.sizes[0], 500.0), given.sizes[1])
    pps = usual / 8 / sizes
    work = float((pps * (packet_cost + byte_cost * sizes)).sum())
    factor = rng.uniform(*given.busy) / work
    pps = np.minimum(pps * factor, 0.6 * maximum / 8 / sizes)
    tx_sizes = rng.uniform(*given.sizes, count)
    tx = np.minimum(usual * min(factor, 1.0) * rng.uniform(0.4, 1.2, count), 0.6 * maximum) / 8 / tx_sizes
    wander = np.repeat(np.exp(rng.normal(0, given.spread, (given.seconds, count, 2))), PARTS, axis=0)
    shape = (steps, count)
    p99 = float(rng.choice([50.0, 100.0, 200.0]))
    return World(
        rng=rng,
        given=given,
        packet_cost=packet_cost,
        byte_cost=byte_cost,
        min_bps=minimum,
        max_bps=maximum,
        p99_us=p99,
        base_us=p99 * rng.uniform(*given.base, count),
        queue_us=float(rng.uniform(*given.queue_us)),
        rx=pps * wander[:, :, 0],
        rx_size=np.broadcast_to(sizes, shape).copy(),
        tx=tx * wander[:, :, 1],
        tx_size=np.broadcast_to(tx_sizes, shape).copy(),
        own_rx_drops=np.zeros(shape),
        own_tx_drops=np.zeros(shape),
        stray=np.zeros(steps),
        egress_us=np.zeros(steps),
        taken=np.zeros(steps, dtype=bool),
    )
