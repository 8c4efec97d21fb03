"""Plays the mechanism: one ingress queue before an engine, and one set of egress descriptors, shared by all VFs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.isolation_series.card import Card
from tests.isolation_series.demand import STEP_S, Demand
from tests.isolation_series.tenants import Tenant


@dataclass(frozen=True)
class Ingress:
    """What the shared queue did in each step; arrays of shape (steps,)."""

    lost_part: np.ndarray
    wait_mean_us: np.ndarray
    wait_p99_us: np.ndarray
    load: np.ndarray
    """Offered load over capacity."""


@dataclass(frozen=True)
class Egress:
    """What the shared descriptors did in each step."""

    passed_part: np.ndarray
    """Shape (steps, VFs): how much of what a VF wants to send leaves."""
    wait_us: np.ndarray
    """Shape (steps,)."""


@dataclass(frozen=True)
class Played:
    """Packets and bytes per step, shape (steps, VFs), and the waits that VFs share."""

    arrived: np.ndarray
    lost: np.ndarray
    rx_bytes: np.ndarray
    sent: np.ndarray
    wanted_tx: np.ndarray
    tx_bytes: np.ndarray
    own_tx_drops: np.ndarray
    own_rx_drops: np.ndarray
    stray_drops: np.ndarray
    """Shape (steps,)."""
    offered_rx_bytes: np.ndarray
    ingress: Ingress
    egress: Egress


def play_ingress(card: Card, offered_s: np.ndarray, capacity: np.ndarray, mean_service_s: np.ndarray) -> Ingress:
    """Run the queue over engine seconds offered per second (shape (steps,)): what does not fit is lost for all VFs alike."""
    steps = len(offered_s)
    lost = np.zeros(steps)
    wait = np.zeros(steps)
    queued = 0.0
    for step in range(steps):
        inflow, outflow = offered_s[step] * STEP_S, capacity[step] * STEP_S
        left = queued + inflow - outflow
        if left > card.buffer_s:
            lost[step] = (left - card.buffer_s) / inflow
            left = card.buffer_s
        left = max(left, 0.0)
        if left:  # a queue that drains does so in milliseconds: too few packets of the step wait for it
            wait[step] = (queued + left) / 2 / capacity[step]
        queued = left
    load = offered_s / capacity
    bunches = card.burstiness * mean_service_s * np.minimum(load, 0.98) / (1 - np.minimum(load, 0.98))
    full = card.buffer_s / capacity
    mean = np.minimum(np.where(load < 1, wait + bunches, np.maximum(wait, bunches)), full)
    p99 = np.minimum(np.where(load < 1, wait + 4.6 * bunches, full), full)
    return Ingress(lost, mean * 1e6, p99 * 1e6, load)


def play_egress(card: Card, demand: Demand) -> Egress:
    """Let throttled VFs fill the shared descriptors; behind them, completed in order, everybody moves at their pace."""
    passed = np.ones_like(demand.tx_pps)
    wait = np.zeros(demand.steps)
    for throttle in demand.throttles:
        held = 0.0
        for step in range(throttle.start, demand.steps):
            active = step < throttle.end
            wants = throttle.wants_pps if active else float(demand.tx_pps[step, throttle.vf])
            others = float(demand.tx_pps[step].sum() - demand.tx_pps[step, throttle.vf])
            held = min(max(held + (wants - throttle.shaper_pps) * STEP_S, 0.0), float(min(card.descriptors, throttle.backlog)))
            if not active and (held <= 0 or throttle.lifted):
                break
            own = throttle.shaper_pps / max(wants, throttle.shaper_pps)
            behind = held * (1 + others / throttle.shaper_pps)  # between two of its packets wait those of the others
            full = behind >= card.descriptors
            pace = throttle.shaper_pps + others * (own if full else 1.0)
            wait[step] = max(wait[step], min(behind, card.descriptors) / pace * 1e6)
            if full:
                passed[step] = np.minimum(passed[step], own)
            if not active:  # what waits still leaves at the shaper's rate
                demand.tx_pps[step, throttle.vf] = max(wants, 1.0)
                own = throttle.shaper_pps / max(wants, 1.0)
            passed[step, throttle.vf] = own
    return Egress(passed, wait)


def slow_down(tenants: list[Tenant], pps: np.ndarray, hurt: np.ndarray, spare: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Elastic VFs send less from the step after they were hurt; `spare` (steps, VFs) marks the VFs that do not care."""
    after = np.concatenate([[False], hurt[:-1]])
    eager = np.array([not one.elastic for one in tenants])
    kept = rng.uniform(0.4, 0.9, len(tenants))
    return np.where(after[:, None] & ~eager[None, :] & ~spare, pps * kept, pps)


def counted(rng: np.random.Generator, pps: np.ndarray) -> np.ndarray:
    """Whole packets per step for rates: the fractions are carried by chance."""
    return np.floor(pps * STEP_S + rng.random(pps.shape))


def play(card: Card, tenants: list[Tenant], demand: Demand, overloads: np.ndarray, rng: np.random.Generator) -> Played:
    """Play a demand. `overloads` (steps, VFs) marks VFs that overload on purpose and do not slow down."""
    for throttle in demand.throttles:
        demand.tx_pps[throttle.start : throttle.end, throttle.vf] = throttle.wants_pps
    egress = play_egress(card, demand)
    wanted_tx = demand.tx_pps
    blocked = np.asarray((egress.passed_part < 0.99).all(axis=1))
    sent_pps = slow_down(tenants, wanted_tx * egress.passed_part, blocked, overloads, rng)
    tx_work = card.tx_cost * card.load(sent_pps, demand.tx_size).sum(axis=1)
    capacity = np.maximum(1 - tx_work, 0.3) * np.clip(rng.normal(1, 0.01, demand.steps), 0.97, 1.03)
    rx_pps = demand.rx_pps
    for _ in range(2):
        offered = card.load(rx_pps, demand.rx_size)
        service = offered.sum(axis=1) / np.maximum(rx_pps.sum(axis=1), 1.0)
        ingress = play_ingress(card, offered.sum(axis=1), capacity, service)
        rx_pps = slow_down(tenants, demand.rx_pps, ingress.lost_part > 0.01, overloads, rng)
    offered = card.load(rx_pps, demand.rx_size)
    ingress = play_ingress(card, offered.sum(axis=1), capacity, service)
    arrived = counted(rng, rx_pps)
    chance = np.broadcast_to(ingress.lost_part[:, None], arrived.shape)
    lost = np.zeros_like(arrived)
    hit = chance > 0
    lost[hit] = rng.binomial(arrived[hit].astype(np.int64), chance[hit])
    sent = counted(rng, sent_pps)
    own_tx = np.zeros_like(sent)
    for throttle in demand.throttles:
        if throttle.counts_own_drops:
            steps = slice(throttle.start, throttle.end)
            own_tx[steps, throttle.vf] = np.floor((throttle.wants_pps - throttle.shaper_pps) * STEP_S)
    own_tx += counted(rng, demand.limiter_tx_pps)
    return Played(
        arrived=arrived,
        lost=lost,
        rx_bytes=np.floor((arrived - lost) * demand.rx_size),
        sent=sent,
        wanted_tx=wanted_tx * STEP_S,
        tx_bytes=np.floor(sent * demand.tx_size),
        own_tx_drops=own_tx,
        own_rx_drops=counted(rng, demand.limiter_rx_pps),
        stray_drops=counted(rng, demand.stray_drops_pps),
        offered_rx_bytes=arrived * demand.rx_size,
        ingress=ingress,
        egress=egress,
    )
