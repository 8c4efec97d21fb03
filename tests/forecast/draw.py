"""Random fleets for forecasts: loads that grow, oscillate, repeat, stay constant, or start suddenly. The same seed gives the same fleet.

In the first fleets most peers are outside; in the others all are inside, so the chains of receivers (`Q_r`) matter as much as those of
senders. From `VARIED` on, those of training end their growth in many ways: after any time, at any size, or cut off in the middle.

Held-out fleets differ from those of training in more than their seeds: other lengths and ends of growth, other shares of traffic on late
masks, another rhythm, and four workloads (`two_tenants`, `pause`, `stairs`, `handover`) that no fleet of training has.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml
from tests.evaluation.draw import PCI, Drawn

HELD_OUT = 200
"""Seeds above this are for the figures; those below are for training and for looking at."""
OUTSIDE = 10
"""Up to this seed, most peers are outside of the fleet."""
VARIED = 14
"""Above this seed, fleets of training vary more."""
LENGTH_S = 3 * 3600
INTERVAL_S = 60
GBPS = {"CX-4": 38.0, "CX-5": 79.0, "CX-6": 158.0, "CX-7": 352.0, "BF-3": 354.0, "E810": 170.0}
"""Bandwidth of an RNIC for packets at the head of its chains, to scale loads with it."""


@dataclass
class Place:
    """One RNIC and what happens to it. `held_out` and `varied` widen what may be drawn."""

    rng: random.Random
    host: str
    pci: str
    model: str
    held_out: bool
    varied: bool
    events: list[dict[str, Any]] = field(default_factory=list)

    def add(self, at_min: float, lasts_min: float | None = None, **job: Any) -> None:
        event: dict[str, Any] = {"at": f"{max(round(at_min * 60), 1)}s", "host": self.host, "rnic": self.pci}
        if lasts_min is not None:
            event["for"] = f"{round(lasts_min * 60)}s"
        self.events.append({**event, "job": {"kind": "multi-tenant", **job}})

    def share(self, low: float, high: float) -> float:
        """Gbit/s, as a share of the RNIC's best bandwidth."""
        return round(self.rng.uniform(low, high) * GBPS[self.model], 1)

    def ramp_min(self) -> float:
        if self.varied:
            return self.rng.uniform(15, 210)
        return self.rng.uniform(40, 170) if self.held_out else self.rng.choice([30, 45, 60, 90, 120, 150])

    def late_share(self) -> float:
        if self.varied:
            return self.rng.uniform(0.3, 0.9)
        return self.rng.uniform(0.4, 0.8) if self.held_out else self.rng.choice([0.5, 0.7])

    def grow(self, at_min: float, lasts_min: float | None = None) -> None:
        """A tenant whose subnets, and therefore masks, arrive one after another."""
        masks = self.rng.randint(10 if self.varied else 20, 120 if self.varied else 100)
        job: dict[str, Any] = {"containers": self.rng.randint(1, 5), "masks": masks, "flows": 2 * masks * self.rng.randint(1, 3)}
        if self.rng.random() < 0.3:
            job["late_share"] = round(self.late_share(), 2)
        self.add(at_min, lasts_min, **job, gbps=self.share(0.2, 0.6), ramp=f"{round(self.ramp_min() * 60)}s")


def steady(p: Place) -> None:
    if p.rng.random() < 0.5:
        masks = p.rng.randint(5, 40)
        p.add(0, masks=masks, flows=4 * masks, containers=3, gbps=p.share(0.1, 0.5), container_lifetime=f"{p.rng.randint(10, 40)}m")


def growth(p: Place) -> None:
    p.grow(p.rng.uniform(5, 80))


def growth_of_flows(p: Place) -> None:
    flows = p.rng.randint(3000, 9000)
    ramp_s = round(p.ramp_min() * 60)
    p.add(p.rng.uniform(5, 60), flows=flows, containers=6, masks=p.rng.randint(4, 12), gbps=p.share(0.2, 0.4), ramp=f"{ramp_s}s")


def wave(p: Place) -> None:
    at = p.rng.uniform(5, 40)
    while at < 150:
        p.grow(at, lasts_min=p.rng.uniform(40, 70))
        at += p.rng.uniform(60, 100)


def rhythm(p: Place) -> None:
    """A job that starts at the same minute of each hour."""
    minute, lasts = p.rng.uniform(5, 50), p.rng.uniform(15, 30)
    masks = p.rng.randint(15, 50)
    job = {"masks": masks, "flows": 2 * masks, "containers": 2, "gbps": p.share(0.2, 0.5), "ramp": "300s"}
    for hour in range(3):
        p.add(60 * hour + minute, lasts, **job)


def at_once(p: Place) -> None:
    """Unpredictable events."""
    masks = p.rng.randint(10, 60)
    p.add(p.rng.uniform(20, 160), p.rng.uniform(20, 60), masks=masks, flows=2 * masks, containers=3, gbps=p.share(0.2, 0.5))


def churn(p: Place) -> None:
    p.add(
        p.rng.uniform(0, 60), kind="microservices", flows=p.rng.randint(200, 1200), containers=6, gbps=p.share(0.05, 0.2),
        flow_lifetime=f"{p.rng.randint(20, 90)}s", container_lifetime=f"{p.rng.randint(5, 20)}m", ramp=f"{round(p.ramp_min() * 60)}s",
    )  # fmt: skip


def cut_off(p: Place) -> None:
    """Growth that is cut off in the middle and sometimes starts again."""
    p.grow(p.rng.uniform(2, 60), lasts_min=p.rng.uniform(15, 90))
    if p.rng.random() < 0.5:
        p.grow(p.rng.uniform(120, 160))


def arrivals(p: Place) -> None:
    """Jobs of any size, start and duration."""
    at = p.rng.expovariate(1 / 20)
    while at < 170:
        masks = p.rng.randint(3, 50)
        job = {"masks": masks, "flows": masks * p.rng.randint(2, 6), "containers": p.rng.randint(1, 4), "gbps": p.share(0.05, 0.3)}
        p.add(at, p.rng.uniform(10, 120), **job, ramp=f"{p.rng.randint(60, 2400)}s")
        at += p.rng.expovariate(1 / 40) + 3


def two_tenants(p: Place) -> None:
    p.grow(p.rng.uniform(5, 30))
    p.grow(p.rng.uniform(50, 100))


def pause(p: Place) -> None:
    """Growth that pauses for a while and continues."""
    masks = p.rng.randint(15, 30)
    for part, at in ((1, p.rng.uniform(10, 30)), (2, p.rng.uniform(90, 110))):
        p.add(at, masks=part * masks, flows=2 * part * masks, containers=2, gbps=p.share(0.15, 0.3), ramp=f"{p.rng.randint(40, 60)}m")


def stairs(p: Place) -> None:
    """A tenant that comes in parts, each at once and small."""
    masks, at, apart = p.rng.randint(5, 10), p.rng.uniform(5, 30), p.rng.uniform(14, 20)
    for step in range(1, p.rng.randint(5, 8)):
        job = {"masks": step * masks, "flows": 2 * step * masks, "containers": 1, "gbps": p.share(0.03, 0.1)}
        p.add(at + step * apart, **job, ramp="300s")


def handover(p: Place) -> None:
    """One tenant leaves while another arrives."""
    at = p.rng.uniform(60, 90)
    p.grow(p.rng.uniform(2, 15), lasts_min=at)
    p.grow(at)


COMMON: tuple[Callable[[Place], None], ...] = (
    steady, growth, growth, growth, growth_of_flows, wave, rhythm, at_once, churn, steady,
)  # fmt: skip
MORE: tuple[Callable[[Place], None], ...] = (
    steady, growth, growth, cut_off, growth_of_flows, wave, rhythm, at_once, churn, arrivals,
)  # fmt: skip
ELSEWHERE: tuple[Callable[[Place], None], ...] = (
    steady, growth, stairs, two_tenants, growth_of_flows, wave, pause, at_once, handover, rhythm,
)  # fmt: skip


def draw(seed: int) -> Drawn:
    """The fleet of a seed: ten RNICs on five hosts, three hours with one sample per minute."""
    rng = random.Random(f"wallwatch forecasts {seed}")
    held_out = seed > HELD_OUT
    varied = VARIED < seed <= HELD_OUT
    hosts, rnics = 5, 2
    plans = list(ELSEWHERE if held_out else MORE if varied else COMMON)
    rng.shuffle(plans)
    events: list[dict[str, Any]] = []
    overrides = []
    models = list(GBPS)
    notes = []
    for i, plan in enumerate(plans):
        model = rng.choice(models)
        place = Place(rng, f"host{1 + i // rnics:02d}", PCI[i % rnics], model, held_out, varied)
        plan(place)
        events.extend(place.events)
        notes.append(f"{plan.__name__} on {place.host} {place.pci} ({model})")
        base = {"kind": "training", "containers": 2, "flows": rng.choice([16, 32, 64]), "gbps": place.share(0.1, 0.35)}
        overrides.append({"host": place.host, "rnic": place.pci, "model": model, "workload": [base]})
    scenario = {
        "name": f"forecast-{seed:03d}",
        "seed": seed,
        "topology": {
            "racks": 2, "hosts": hosts, "rnics_per_host": rnics, "models": models, "firmware": "fixed", "driver": "fixed",
            "externals": 240 if seed <= OUTSIDE else 0, "vfs": 16,
        },
        "workload": [{"kind": "training", "containers": 2, "flows": 16, "gbps": 5}],
        "overrides": overrides,
        "events": sorted(events, key=lambda e: int(e["at"][:-1])),
    }  # fmt: skip
    text = "".join(f"# {note}\n" for note in notes) + yaml.safe_dump(scenario, sort_keys=False)
    return Drawn(scenario["name"], text, LENGTH_S, INTERVAL_S)
