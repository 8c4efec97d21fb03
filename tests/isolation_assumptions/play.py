"""Plays a world: what the engine loses, what the counters show, and what is true of each second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.isolation_assumptions.events import EGRESS
from tests.isolation_assumptions.world import PARTS, World

SURELY_LOST, HARDLY_LOST = 0.003, 0.0003
SURELY_LATE, HARDLY_LATE = 1.3, 0.9
"""Between both nobody would judge."""
JITTER_PARTS = 4
"""Steps around the end of an interval in which an edge belongs to either, where readings jitter."""


@dataclass
class Second:
    """The truth of one second; `t` of the reading that ends it."""

    t: float
    broken: bool
    judged: bool
    guilty: frozenset[str]
    maybe: frozenset[str]
    mechanism: str


@dataclass
class Played:
    """A series: its rows and its truth."""

    rows: list[str]
    seconds: list[Second]


def water_level(asked: np.ndarray, weights: np.ndarray, capacity: float) -> float:
    """Level of the weighted max-min shares, one VF after the other."""
    left, weight = capacity, float(weights.sum())
    for vf in np.argsort(asked / weights):
        if asked[vf] > left / weight * weights[vf]:
            return float(left / weight)
        left -= asked[vf]
        weight -= weights[vf]
    return float("inf")


def play(world: World) -> Played:
    """Run the queue over all steps, and read the counters each second."""
    given, rng = world.given, world.rng
    guilty_at = np.zeros(world.rx.shape, dtype=bool)
    for one in world.incidents:
        guilty_at[one.start : one.end, list(one.guilty)] = True
    offered = world.rx
    if given.back_off < 1:
        hit = (offered * world.cost(world.rx_size)).sum(axis=1) > 1
        offered = np.where(hit[:, None] & ~guilty_at, offered * given.back_off, offered)
    work = offered * world.cost(world.rx_size)
    load = work.sum(axis=1)
    part = np.maximum(1 - 1 / np.maximum(load, 1e-9), 0.0)
    scatter = np.exp(rng.normal(0, given.uneven, offered.shape)) if given.uneven else np.ones(offered.shape)
    scatter *= (work.sum(axis=1) / np.maximum((work * scatter).sum(axis=1), 1e-12))[:, None]
    lost = offered * np.minimum(part[:, None] * scatter, 0.999)
    below = np.minimum(load, 0.97)
    wait = np.where(load > 1, world.queue_us, given.knee * world.p99_us * below / (1 - below))
    shared = np.minimum(wait, world.queue_us) + world.egress_us
    return Played(_rows(world, offered, lost, shared), _truth(world, offered, lost, load, shared))


def per_second(values: np.ndarray) -> np.ndarray:
    """Sums over the steps of each second, of rates per second."""
    return np.asarray(values.reshape(-1, PARTS, *values.shape[1:]).sum(axis=1) / PARTS)


def late_us(shared: np.ndarray) -> np.ndarray:
    """The p99 of a second: the wait of its worst step."""
    return np.asarray(shared.reshape(-1, PARTS).max(axis=1))


def _truth(world: World, offered: np.ndarray, lost: np.ndarray, load: np.ndarray, shared: np.ndarray) -> list[Second]:
    given = world.given
    all_lost, all_offered = per_second(lost), per_second(offered)
    late = late_us(shared)
    envelope_rx = per_second(offered * world.rx_size) * 8 / world.max_bps
    envelope_tx = per_second(world.tx * world.tx_size) * 8 / world.max_bps
    found = []
    for second in range(given.seconds):
        steps = slice(second * PARTS, (second + 1) * PARTS)
        causes = [one for one in world.incidents if one.start < steps.stop and one.end > steps.start]
        guilty = frozenset(vf for one in causes for vf in one.guilty)
        sure, maybe = guilty, frozenset[int]()
        egress = any(one.mechanism == EGRESS for one in causes)
        over = np.nonzero(load[steps] > 1)[0] + steps.start
        if guilty and not egress and len(over):
            asked = (offered[over] * world.cost(world.rx_size[over])).mean(axis=0)
            share = water_level(asked, world.max_bps, 1.0) * world.max_bps
            sure = frozenset(int(vf) for vf in np.nonzero((asked > 1.15 * share) & (asked - share > 0.02))[0])
            maybe = frozenset(int(vf) for vf in np.nonzero((asked > 1.02 * share) & (asked - share > 0.002))[0]) - sure
        suffers = doubt = False
        for vf in range(given.vfs):
            if vf in sure or vf in maybe or all_offered[second, vf] + world.tx[steps, vf].sum() == 0:
                continue
            fraction = all_lost[second, vf] / max(all_offered[second, vf], 1e-9)
            lateness = (late[second] + world.base_us[vf]) / world.p99_us if given.delays else 0.0
            surely = fraction > SURELY_LOST or lateness > SURELY_LATE
            perhaps = fraction > HARDLY_LOST or lateness > HARDLY_LATE
            inside = max(envelope_rx[second, vf], envelope_tx[second, vf])
            suffers = suffers or (surely and inside <= 0.97)
            doubt = doubt or perhaps
        broken = suffers and bool(sure)
        if given.jitter_s and any(
            abs(edge - (second + place) * PARTS) < JITTER_PARTS
            for one in world.incidents
            for edge in (one.start, one.end)
            for place in (0, 1)
        ):
            doubt, broken = True, False  # which of the two intervals has the edge depends on when they were read
        mechanism = causes[-1].mechanism if causes else ""
        found.append(
            Second(
                float(second + 1), broken, broken or not (doubt or (causes and suffers)),
                frozenset(f"vf{vf}" for vf in sure), frozenset(f"vf{vf}" for vf in maybe), mechanism,
            )
        )  # fmt: skip
    return found


def _rows(world: World, offered: np.ndarray, lost: np.ndarray, shared: np.ndarray) -> list[str]:
    given, rng = world.given, world.rng
    count = given.vfs
    times = np.arange(given.seconds + 1, dtype=float)
    if given.jitter_s:
        times[1:-1] += np.clip(rng.normal(0, given.jitter_s, given.seconds - 1), -0.3, 0.3)
    passed = offered if given.received_with_lost else offered - lost
    visible = lost if given.drops_at != "port" else np.zeros_like(lost)
    columns = [passed * world.rx_size, passed, visible + world.own_rx_drops, world.tx * world.tx_size, world.tx, world.own_tx_drops]
    vfs = np.stack([_read(column, times) for column in columns], axis=-1)
    port_lost = lost.sum(axis=1) + world.stray if given.drops_at in ("port", "both") else world.stray
    port_columns = [one.sum(axis=1) for one in (columns[0], columns[1])] + [port_lost]
    port_columns += [columns[3].sum(axis=1), columns[4].sum(axis=1), np.zeros(len(port_lost))]
    port = np.stack([_read(column, times) for column in port_columns], axis=-1)
    begin = rng.integers(0, 2**40, (count, 6)) if given.random_start else np.zeros((count, 6), dtype=np.int64)
    late = late_us(shared)
    blip = rng.random((given.seconds, count)) < given.blips
    own = np.where(blip, world.p99_us * rng.uniform(1.2, 20.0, blip.shape), 0.0)
    p99 = (world.base_us + late[:, None] + own) * np.exp(rng.normal(0, given.noise, blip.shape))
    p50 = (0.4 * world.base_us + 0.5 * late[:, None]) * np.exp(rng.normal(0, 0.05, blip.shape))
    lines = ["t,entity,rx_bytes,rx_packets,rx_dropped,tx_bytes,tx_packets,tx_dropped,delay_p50_us,delay_p99_us"]
    for place, at in enumerate(times):
        t = f"{given.t0 + at:.3f}".rstrip("0").rstrip(".")
        for vf in range(count):
            counters = ",".join(str(int(value) + int(first)) for value, first in zip(vfs[place, vf], begin[vf], strict=True))
            measured = f"{min(p50[place - 1, vf], p99[place - 1, vf]):.1f},{p99[place - 1, vf]:.1f}" if given.delays and place else ","
            lines.append(f"{t},vf{vf},{counters},{measured}")
        if given.drops_at != "vfs without port":
            lines.append(f"{t},port,{','.join(str(int(value)) for value in port[place])},,")
    return lines


def _read(rates: np.ndarray, times: np.ndarray) -> np.ndarray:
    """A counter of a rate per second, read at `times`; between steps it grows evenly."""
    grown = np.concatenate([np.zeros((1, *rates.shape[1:])), np.cumsum(rates, axis=0) / PARTS])
    at = np.clip(times * PARTS, 0, len(rates))
    low = np.minimum(at.astype(int), len(rates) - 1)
    part = (at - low).reshape(-1, *([1] * (rates.ndim - 1)))
    return np.asarray(np.floor(grown[low] + part * (grown[low + 1] - grown[low])))
