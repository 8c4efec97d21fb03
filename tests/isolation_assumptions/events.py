"""What happens in a world: overloads, a blocked buffer, and what only looks like one."""

from __future__ import annotations

import numpy as np
from tests.isolation_assumptions.world import PARTS, Incident, World

PACKETS, BYTES, EGRESS = "ingress packet rate", "ingress bandwidth", "egress buffer"
FIRST_S = 20.0
"""Seconds before the first incident."""


def overload(world: World, mechanism: str, count: int) -> None:
    """Incidents at the ingress engine, each of VFs that are not heavy by right."""
    rng, given = world.rng, world.given
    for _ in range(count):
        length = world.length()
        start = world.free(length, FIRST_S)
        if start < 0:
            continue
        many = min(int(rng.choice(given.aggressors)), given.vfs - 1)
        guilty = rng.choice(np.arange(1 if given.heavy else 0, given.vfs), size=many, replace=False)
        span = slice(start, start + length)
        others = np.setdiff1d(np.arange(given.vfs), guilty)
        rest = float((world.rx[span][:, others] * world.cost(world.rx_size[span][:, others])).sum(axis=1).mean())
        excess = rng.uniform(*given.loads) - rest
        for vf, part in zip(guilty, rng.dirichlet(np.full(many, 15.0)), strict=True):
            size = rng.uniform(*(given.storm_bytes if mechanism == PACKETS else given.burst_bytes))
            world.rx_size[span, vf] = size
            world.rx[span, vf] = excess * part / world.cost(size) * rng.uniform(0.97, 1.03, length)
        world.incidents.append(Incident(start, start + length, tuple(sorted(int(vf) for vf in guilty)), mechanism))


def block(world: World, count: int) -> None:
    """A VF at its own limiter keeps the transmit buffers that all share: nothing is dropped, the others wait."""
    rng, given = world.rng, world.given
    vf = int(rng.integers(0, given.vfs))
    limit = float(world.max_bps[vf] * rng.uniform(0.005, 0.05) if given.egress_wants == "throttled" else world.max_bps[vf] * 0.9)
    if given.egress_stated and given.egress_wants == "throttled":
        world.policed_bps[vf] = limit
        below = 0.7 * limit / 8 / world.tx_size[:, vf]
        usual = np.minimum(world.tx[:, vf], below) if rng.random() < 0.5 else world.tx[:, vf]
        if usual is not world.tx[:, vf]:
            world.tx[:, vf] = usual
    if given.egress_wants == "throttled" and not given.egress_stated and world.tx[:, vf].mean() * world.tx_size[0, vf] * 8 < 3 * limit:
        limit = float(world.tx[:, vf].mean() * world.tx_size[0, vf] * 8 / rng.uniform(5, 50))
    for _ in range(count):
        length = max(world.length(), 5 * PARTS)
        start = world.free(length, FIRST_S, 10.0)
        if start < 0:
            continue
        span = slice(start, start + length)
        kept = rng.uniform(*given.egress_passes, given.vfs)
        mine = limit / 8 / world.tx_size[span, vf]
        world.tx[span] *= kept
        if not given.egress_receives:
            world.rx[span] *= np.where(np.arange(given.vfs) == vf, 1.0, kept)
        world.tx[span, vf] = mine
        world.egress_us[span] = world.p99_us * rng.uniform(*given.egress_delay)
        world.incidents.append(Incident(start, start + length, (vf,), EGRESS))


def policed(world: World) -> None:
    """A VF whose own limiter drops, in some seconds, far more than 0.1% and than 10,000 packets."""
    rng = world.rng
    vf = int(rng.integers(1, world.given.vfs))
    receives = bool(rng.random() < 0.5)
    rates, sizes, drops = (world.rx, world.rx_size, world.own_rx_drops) if receives else (world.tx, world.tx_size, world.own_tx_drops)
    usual = float((rates[:, vf] * sizes[:, vf]).mean() * 8)
    limit = min(1.2 * usual, 0.5 * float(world.max_bps[vf]))
    world.policed_bps[vf] = limit
    passed = limit / 8 / sizes[:, vf]
    other = (world.tx, world.tx_size) if receives else (world.rx, world.rx_size)
    other[0][:, vf] = np.minimum(other[0][:, vf], 0.7 * limit / 8 / other[1][:, vf])
    rates[:, vf] = np.minimum(rates[:, vf], 0.75 * passed)
    for _ in range(int(rng.integers(2, 6))):
        length = int(rng.integers(PARTS, 30 * PARTS))
        start = int(rng.integers(0, len(world.rx) - length))
        start -= start % PARTS
        span = slice(start, start + length - length % PARTS)
        rates[span, vf] = passed[span]
        drops[span, vf] = passed[span] * rng.uniform(0.1, 3.0)


def few_drops(world: World) -> None:
    """Some packets lost at the port of a calm engine: below 0.08% of the packets and 8,000 per second."""
    rng = world.rng
    for _ in range(int(rng.integers(10, 60))):
        start = int(rng.integers(0, len(world.rx) - 2 * PARTS))
        span = slice(start, start + int(rng.integers(1, 2 * PARTS)))
        world.stray[span] = np.minimum(world.rx[span].sum(axis=1) * 0.0008, 8000.0) * rng.uniform(0.1, 1.0)


def rise_together(world: World) -> None:
    """All VFs receive and send more for a while, each inside its envelope and the engine below its capacity."""
    rng = world.rng
    length = int(rng.integers(5 * PARTS, 40 * PARTS))
    start = int(rng.integers(0, len(world.rx) - length))
    span = slice(start, start + length)
    room = 0.8 / float((world.rx[span] * world.cost(world.rx_size[span])).sum(axis=1).max())
    inside = float((0.9 * world.max_bps / 8 / (world.rx[span] * world.rx_size[span]).max(axis=0)).min())
    world.rx[span] *= max(min(rng.uniform(1.2, 2.0), room, inside), 1.0)
