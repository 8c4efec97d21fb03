"""A scene: an RNIC, its VFs, what they do, and the incidents that somebody causes in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from tests.isolation_series.card import Card
from tests.isolation_series.demand import STEP_S, STEPS_PER_S, Demand, Throttle, draw_demand
from tests.isolation_series.tenants import Tenant

PACKETS, BYTES, EGRESS = "ingress packet rate", "ingress bandwidth", "egress buffer"


class Impossible(Exception):
    """What was drawn cannot happen on this RNIC, or would not be what it is meant to be: draw again."""


@dataclass(frozen=True)
class Incident:
    """One or two VFs overload what all share, from step `start` up to `end`."""

    start: int
    end: int
    aggressors: tuple[int, ...]
    mechanism: str


@dataclass
class Scene:
    """Everything that happens, before it is played."""

    rng: np.random.Generator
    card: Card
    tenants: list[Tenant]
    seconds: int
    demand: Demand
    incidents: list[Incident] = field(default_factory=list)
    probe_noise: float = 0.06
    """Relative noise of the measured p99."""
    harmless: bool = False
    """Overloads that break no promise are scripted."""
    background: list[str] = field(default_factory=list)
    """What else happens, in words, for whoever looks at a disagreement."""
    kept_free: list[tuple[int, int]] = field(default_factory=list)
    """Steps that no further event may touch."""

    def overload(self, start: int, end: int, aggressors: Sequence[int], load: float, mechanism: str) -> None:
        """Let `aggressors` receive so much from `start` to `end` (steps) that the engine is asked for `load` times what it can do.

        Raises Impossible where the line cannot deliver it, or where the fair shares make somebody else an aggressor too.
        """
        span = slice(start, end)
        before = self.demand.rx_pps[span].copy(), self.demand.rx_size[span].copy()
        others = [place for place in range(len(self.tenants)) if place not in aggressors]
        base = float(self.card.load(self.demand.rx_pps[span][:, others], self.demand.rx_size[span][:, others]).sum(axis=1).mean())
        tx_work = float(self.card.load(self.demand.tx_pps[span], self.demand.tx_size[span]).sum(axis=1).mean()) * self.card.tx_cost
        capacity = 1 - tx_work
        work = load * capacity - base
        parts = self.rng.dirichlet(np.full(len(aggressors), 12.0)) * work
        for place, part in zip(aggressors, parts, strict=True):
            size = self.size_for(mechanism)
            wobble = np.clip(self.rng.normal(1, 0.03, end - start), 0.9, 1.1)
            self.demand.rx_size[span, place] = size
            self.demand.rx_pps[span, place] = part / self.card.cost(size) * wobble
        try:
            self.check_line(span)
            self.check_shares(span, aggressors, capacity)
        except Impossible:
            self.demand.rx_pps[span], self.demand.rx_size[span] = before
            raise
        self.incidents.append(Incident(start, end, tuple(sorted(aggressors)), mechanism))

    def size_for(self, mechanism: str) -> float:
        """A size of which it is plain whether the packets or their bytes load the engine."""
        cross = self.card.crossover_bytes
        if mechanism == PACKETS:
            return float(self.rng.uniform(64, max(70.0, min(150.0, cross / 2.5))))
        return float(self.rng.uniform(max(1100.0, 1.8 * cross), 1500.0) if self.rng.random() < 0.8 else self.rng.uniform(3000, 9000))

    def check_line(self, span: slice) -> None:
        """Raise Impossible when more bits would arrive than the ports carry (20 bytes of preamble and gap per packet)."""
        bits = (self.demand.rx_pps[span] * (self.demand.rx_size[span] + 20) * 8).sum(axis=1).max()
        if bits > self.card.nic_bps * self.card.ports:
            raise Impossible("the line is too slow")

    def check_shares(self, span: slice, aggressors: Sequence[int], capacity: float) -> None:
        """Raise Impossible unless exactly the aggressors ask for more than their weighted share of the engine."""
        asked = self.card.load(self.demand.rx_pps[span], self.demand.rx_size[span]).mean(axis=0)
        level = water_level(asked, np.array([one.max_bps for one in self.tenants]), capacity)
        for place, tenant in enumerate(self.tenants):
            part = asked[place] / (level * tenant.max_bps)
            if place in aggressors and part < 1.25:
                raise Impossible("the aggressor keeps within its share")
            if place not in aggressors and part > 0.9:
                raise Impossible("somebody else exceeds its share too")

    def throttle(self, throttle: Throttle) -> None:
        """Let a VF send against a shaper that passes less than it wants."""
        self.demand.throttles.append(throttle)
        self.incidents.append(Incident(throttle.start, throttle.end, (throttle.vf,), EGRESS))

    def overloading(self) -> np.ndarray:
        """Which VFs cause an incident in each step, shape (steps, VFs)."""
        found = np.zeros((self.demand.steps, len(self.tenants)), dtype=bool)
        for incident in self.incidents:
            found[incident.start : incident.end, list(incident.aggressors)] = True
        return found

    def note(self, start: int, end: int, words: str) -> None:
        """Remember what else happens from `start` to `end` (steps)."""
        self.background.append(f"{start * STEP_S:.2f} to {end * STEP_S:.2f} s: {words}")

    def free(self, start: int, end: int, apart: int) -> bool:
        """Whether nothing happens from `start` to `end`, nor within `apart` steps of it; then keep it for the caller."""
        if start < 0 or end > self.demand.steps or any(start < stop + apart and begin < end + apart for begin, stop in self.kept_free):
            return False
        self.kept_free.append((start, end))
        return True


def water_level(asked: np.ndarray, weights: np.ndarray, capacity: float) -> float:
    """Level at which VFs that take `min(asked, level * weight)` fill the capacity, by bisection."""
    low, high = 0.0, float(asked.sum() / weights.min()) + 1.0 / float(weights.min())
    for _ in range(200):
        middle = (low + high) / 2
        if float(np.minimum(asked, middle * weights).sum()) < capacity:
            low = middle
        else:
            high = middle
    return high


def make_scene(rng: np.random.Generator, card: Card, tenants: list[Tenant], seconds: int, spread: float | None = None) -> Scene:
    """A scene with the usual traffic and nothing else yet; raises Impossible when that alone would load the engine."""
    demand = draw_demand(rng, tenants, seconds, spread)
    scene = Scene(rng, card, tenants, seconds, demand)
    work = card.load(demand.rx_pps, demand.rx_size).sum(axis=1)
    tx_work = card.tx_cost * card.load(demand.tx_pps, demand.tx_size).sum(axis=1)
    if float((work / np.maximum(1 - tx_work, 0.3)).max()) > 0.88:
        raise Impossible("the usual traffic loads the engine")
    scene.check_line(slice(0, demand.steps))
    return scene


def steps(seconds: float) -> int:
    """Steps in so many seconds."""
    return round(seconds * STEPS_PER_S)
