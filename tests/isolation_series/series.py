"""A series: one file, its promises, and what is right; made from a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from tests.isolation_series.card import Card
from tests.isolation_series.demand import STEP_S, STEPS_PER_S
from tests.isolation_series.faults import Telemetry, shift_clock, telemetry_of, unsteady_clock
from tests.isolation_series.play import play
from tests.isolation_series.rows import Delays, snapshots
from tests.isolation_series.scene import Scene
from tests.isolation_series.tenants import Tenant
from tests.isolation_series.truth import card_facts, intervals


@dataclass(frozen=True)
class Series:
    """One file, its promises, and what is right."""

    kind: str
    seed: int
    interval_s: float
    card: Card
    tenants: list[Tenant]
    telemetry: Telemetry
    empty: str
    t_format: str
    facts: dict[str, object]


@dataclass
class Plan:
    """How a scene is read: its interval, its delays, and the faults put on top."""

    scene: Scene
    steps_per_interval: int = STEPS_PER_S
    shown: Delays = Delays.ALL
    faults: Callable[[Telemetry], None] | None = None
    notes: list[str] = field(default_factory=list)


def played(kind: str, seed: int, plan: Plan, rng: np.random.Generator) -> Series:
    """Play a plan, read its counters, and put its faults on top."""
    scene = plan.scene
    result = play(scene.card, scene.tenants, scene.demand, scene.overloading(), rng)
    truth = intervals(scene, result, plan.steps_per_interval, plan.shown != Delays.MISSING)
    telemetry = telemetry_of(snapshots(scene, result, plan.steps_per_interval, plan.shown), truth)
    shift_clock(telemetry, float(rng.choice([0.0, 0.0, 1.0, 1000.0, 1_790_000_000.0])))
    unsteady = plan.faults is None and bool(rng.random() < 0.15)
    if unsteady:
        unsteady_clock(telemetry, rng)
    if plan.faults:
        plan.faults(telemetry)
    told = [
        {
            "from_s": round(one.start * STEP_S, 2),
            "to_s": round(one.end * STEP_S, 2),
            "by": [scene.tenants[vf].name for vf in one.aggressors],
            "mechanism": one.mechanism,
        }
        for one in scene.incidents
    ]
    facts = {**card_facts(scene.card), "drops_at": scene.card.drops_at, "delays": plan.shown, "incidents": told, "notes": plan.notes}
    facts |= {"faults": telemetry.scripted, "background": scene.background}
    return Series(
        kind=kind,
        seed=seed,
        interval_s=plan.steps_per_interval * STEP_S,
        card=scene.card,
        tenants=scene.tenants,
        telemetry=telemetry,
        empty=str(rng.choice(["", "nan", "NaN"])),
        t_format=str(rng.choice(["g", ".0f", ".1f", ".3f"])) if telemetry.entries[0].reading.t < 1e6 and not unsteady else ".3f",
        facts=facts,
    )
