"""Causes and loads for drawn scenarios, each from far below to far above the wall that it concerns.

Sizes of the simulated RNICs are those of fleetsim's README and `rnicmodel`; strengths are drawn evenly on a logarithmic scale.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

COUNTER_CACHE = {"CX-4": 4450, "CX-5": 5400, "CX-6": 6400, "CX-7": 9000, "BF-3": 9000, "E810": 9000}
"""Entries at which counters begin to be late; an E810's never are, so the number only sizes its load."""
LINE_GBPS = {"CX-4": 38, "CX-5": 79, "CX-6": 158, "CX-7": 352, "BF-3": 354, "E810": 170}
"""Bandwidth of the model's law without masks to look up (domain page, section 6)."""
CONTEXTS = 10_000
MOST_FLOWS = 30_000
FREE_VFS = 11
"""Of 16, when the usual load has its share."""

JobSpec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    host: str
    pci: str


@dataclass(slots=True)
class Draft:
    """A scenario in the making."""

    rng: random.Random
    firmware: str
    driver: str
    latest_s: int = 240
    """Until when events begin."""
    overrides: list[dict[str, Any]] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def between(self, low: float, high: float) -> float:
        """Even on a logarithmic scale."""
        return math.exp(self.rng.uniform(math.log(low), math.log(high)))

    def often(self, share: float) -> bool:
        return self.rng.random() < share

    def rnic(self, place: Place, model: str, firmware: str, driver: str, workload: list[JobSpec] | None = None) -> None:
        """The RNIC at a place."""
        one: dict[str, Any] = {"host": place.host, "rnic": place.pci, "model": model, "firmware": firmware, "driver": driver}
        self.overrides.append(one | ({"workload": workload} if workload else {}))

    def setting(self, host: str, max_idle_ms: int) -> None:
        """Of a host; the first one stands."""
        if all(one["host"] != host for one in self.settings):
            self.settings.append({"host": host, "other_config": {"hw-offload": "true", "max-idle": str(max_idle_ms)}})

    def job(self, place: Place, at_s: float, for_s: float | None, **spec: Any) -> None:
        """A load; by default, one that ends stops its containers one after another, as a scheduler does."""
        event: dict[str, Any] = {"at": f"{at_s:.0f}s"} | ({} if for_s is None else {"for": f"{for_s:.0f}s"})
        if for_s is not None and self.often(0.9):
            spec.setdefault("drain", f"{8 * spec['containers']}s")
        self.events.append(event | {"host": place.host, "rnic": place.pci, "job": spec})

    def operate(self, place: Place, at_s: float, for_s: float | None, operation: str) -> None:
        event: dict[str, Any] = {"at": f"{at_s:.0f}s"} | ({} if for_s is None else {"for": f"{for_s:.0f}s"})
        where = {"host": place.host} if operation == "reboot" else {"host": place.host, "rnic": place.pci}
        self.events.append(event | where | {"operator": operation})

    def begin_s(self) -> float:
        return self.rng.uniform(60, self.latest_s)

    def duration_s(self) -> float | None:
        """Half of the loads go on to the end."""
        return None if self.often(0.5) else self.rng.uniform(100, 300)

    def usual_load(self) -> list[JobSpec]:
        """What runs on each RNIC from the start."""
        rng = self.rng
        training = {"kind": "training", "containers": rng.randint(1, 2), "flows": rng.randint(10, 120), "gbps": rng.randint(3, 12)}
        services = {
            "kind": "microservices", "containers": rng.randint(1, 3), "flows": rng.randint(20, 300), "gbps": rng.randint(1, 4),
            "flow_lifetime": f"{rng.randint(8, 90)}s", "container_lifetime": f"{rng.randint(2, 30)}m",
        }  # fmt: skip
        return [training, services]


Ingredient = Callable[[Draft, Place, str | None], None]


def model_for(cause: str, rng: random.Random) -> str:
    """An RNIC that the cause can be drawn for; occasionally one without the flaw."""
    searching = ["CX-4", "CX-5", "CX-6", "CX-7", "BF-3"]
    if cause == "table-overflow" and rng.random() < 0.7:
        return rng.choice(["CX-4", "CX-5", "CX-6"])
    return rng.choice(searching) if rng.random() < 0.92 else "E810"


def _flows(number: float) -> int:
    return max(20, min(MOST_FLOWS, int(number)))


def _flaw(draft: Draft, share: float) -> str:
    return "flawed" if draft.often(share) else "fixed"


def late_counters(draft: Draft, place: Place, model: str | None) -> None:
    """C5: more entries than counters can be read in time, while the switch ages flows by them."""
    assert model is not None
    draft.rnic(place, model, _flaw(draft, 0.85), "fixed")
    if draft.often(0.3):
        draft.setting(place.host, draft.rng.randrange(5000, 30_000, 1000))
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="training", name="all-to-all training", containers=draft.rng.randint(2, FREE_VFS),
        flows=_flows(COUNTER_CACHE[model] * draft.between(0.7, 2.2)), gbps=round(LINE_GBPS[model] * draft.between(0.1, 0.7), 1),
        ramp=f"{draft.rng.randint(10, 60)}s",
    )  # fmt: skip


def lost_entries(draft: Draft, place: Place, model: str | None) -> None:
    """C1: firmware that deletes entries in use when its index of them has no place for new ones; it begins near the wall of flows."""
    assert model is not None
    draft.rnic(place, model, "evicting" if draft.often(0.85) else "fixed", "fixed")
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="training", name="all-to-all training", containers=draft.rng.randint(2, FREE_VFS),
        flows=_flows(COUNTER_CACHE[model] * draft.between(0.7, 2.0)), gbps=round(LINE_GBPS[model] * draft.between(0.1, 0.7), 1),
        ramp=f"{draft.rng.randint(10, 60)}s",
    )  # fmt: skip


def patient_switch(draft: Draft, place: Place, model: str | None) -> None:
    """C5 under a max-idle that was raised: the kernel ages connections that the switch would keep."""
    assert model is not None
    draft.rnic(place, model, _flaw(draft, 0.8), "fixed")
    draft.setting(place.host, draft.rng.randrange(60_000, 600_000, 30_000))
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="training", name="all-to-all training", containers=draft.rng.randint(2, FREE_VFS),
        flows=_flows(COUNTER_CACHE[model] * draft.between(1.0, 3.0)), gbps=round(LINE_GBPS[model] * draft.between(0.1, 0.6), 1),
        ramp=f"{draft.rng.randint(20, 60)}s",
    )  # fmt: skip


def insertion_burst(draft: Draft, place: Place, model: str | None) -> None:
    """C2: many new flows per second."""
    assert model is not None
    draft.rnic(place, model, _flaw(draft, 0.1), _flaw(draft, 0.75))
    flows = _flows(draft.between(11_000, 36_000))
    rate = draft.between(700, 6000)
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="training", name="workers connect", containers=draft.rng.randint(4, FREE_VFS),
        flows=flows,
        masks=draft.rng.randint(3, 8), gbps=round(LINE_GBPS[model] * draft.between(0.1, 0.5), 1), ramp=f"{max(2, flows / rate):.0f}s",
    )  # fmt: skip


def table_overflow(draft: Draft, place: Place, model: str | None) -> None:
    """C3: more entries on few masks than the RNIC has memory for."""
    assert model is not None
    draft.rnic(place, model, _flaw(draft, 0.1), _flaw(draft, 0.75))
    flows = _flows(draft.between(12_000, 44_000))
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="training", name="a job that grows", containers=draft.rng.randint(4, FREE_VFS),
        flows=flows,
        masks=draft.rng.randint(1, 4), gbps=round(LINE_GBPS[model] * draft.between(0.1, 0.5), 1),
        ramp=f"{flows / draft.rng.uniform(300, 900):.0f}s",
    )  # fmt: skip


def slow_deletions(draft: Draft, place: Place, model: str | None) -> None:
    """C4: short flows come and go in a table that long ones fill."""
    assert model is not None
    draft.rnic(place, model, _flaw(draft, 0.1), "fixed")
    begin, lasts = draft.begin_s(), draft.duration_s()
    ramp = draft.rng.randint(15, 60)
    draft.job(
        place, begin, lasts, kind="training", name="long flows", containers=draft.rng.randint(2, 5),
        flows=_flows(draft.between(2000, 22_000)),
        gbps=round(LINE_GBPS[model] * draft.between(0.1, 0.4), 1), ramp=f"{ramp}s",
    )  # fmt: skip
    draft.job(
        place, begin + ramp + 10, lasts, kind="microservices", name="short flows", containers=draft.rng.randint(2, 5),
        gbps=draft.rng.randint(2, 8),
        flows=_flows(draft.between(500, 5000)), flow_lifetime=f"{draft.rng.randint(5, 40)}s", ramp="10s",
    )  # fmt: skip


def many_masks(draft: Draft, place: Place, model: str | None) -> None:
    """C6: subnets of many lengths, with more or less of the traffic on the late masks."""
    assert model is not None
    draft.rnic(place, model, _flaw(draft, 0.5), "fixed")
    masks = int(draft.between(25, 220))
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="multi-tenant", name="tenants with own subnets",
        containers=draft.rng.randint(3, FREE_VFS),
        flows=_flows(masks * draft.between(2, 16)), masks=masks, late_share=round(draft.rng.choice([0.05, 0.34, 0.7, 0.85, 0.95]), 2),
        gbps=round(LINE_GBPS[model] * draft.between(0.35, 1.1), 1), ramp=f"{draft.rng.randint(5, 40)}s",
    )  # fmt: skip


def unbinding(draft: Draft, place: Place, model: str | None) -> None:
    """C7: a job ends and its VFs are unbound, together or one by one."""
    assert model is not None
    draft.rnic(place, model, "fixed", "fixed", [{"kind": "training", "containers": 2, "flows": 24, "gbps": 6}])
    containers = draft.rng.randint(2, 14)
    drain = f"{0 if draft.often(0.6) else draft.rng.randint(5, 120)}s"
    draft.job(
        place, draft.begin_s(), draft.rng.uniform(60, 240), kind="training", name="a job that ends", containers=containers,
        flows=_flows(containers * draft.between(20, 450)), gbps=round(LINE_GBPS[model] * draft.between(0.1, 0.5), 1), ramp="15s",
        drain=drain,
    )  # fmt: skip


def contexts(draft: Draft, place: Place, model: str | None) -> None:
    """C8: peers in many networks, each pair with its own encapsulation context."""
    assert model is not None
    draft.rnic(place, model, _flaw(draft, 0.1), _flaw(draft, 0.25))
    flows = _flows(draft.between(14_000, 60_000))  # half of them start here, and only these need contexts
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="multi-tenant", name="tenants with many networks",
        containers=draft.rng.randint(4, FREE_VFS),
        flows=flows, masks=draft.rng.randint(3, 8), networks=int(min(draft.between(60, 3000), 1000)),
        gbps=round(LINE_GBPS[model] * draft.between(0.1, 0.4), 1), ramp=f"{flows / draft.rng.uniform(300, 900):.0f}s",
    )  # fmt: skip


CAUSES: dict[str, Ingredient] = {
    "late-counters": late_counters,
    "lost-entries": lost_entries,
    "insertion-burst": insertion_burst,
    "table-overflow": table_overflow,
    "slow-deletions": slow_deletions,
    "patient-switch": patient_switch,
    "many-masks": many_masks,
    "unbinding": unbinding,
    "contexts": contexts,
}


def short_job(draft: Draft, place: Place, _: str | None) -> None:
    draft.job(
        place, draft.begin_s(), draft.rng.uniform(60, 200), kind="training", name="a short job", containers=draft.rng.randint(2, 6),
        flows=_flows(draft.between(100, 2500)), gbps=draft.rng.randint(5, 20), ramp=f"{draft.rng.randint(5, 20)}s",
    )  # fmt: skip


def churning_service(draft: Draft, place: Place, _: str | None) -> None:
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="microservices", name="a service with short flows",
        containers=draft.rng.randint(2, 6),
        flows=_flows(draft.between(100, 1500)), gbps=draft.rng.randint(1, 4), flow_lifetime=f"{draft.rng.randint(4, 30)}s", ramp="10s",
    )  # fmt: skip


def few_tenants(draft: Draft, place: Place, _: str | None) -> None:
    draft.job(
        place, draft.begin_s(), draft.duration_s(), kind="multi-tenant", name="some tenants", containers=draft.rng.randint(2, 6), flows=160,
        masks=draft.rng.randint(8, 40), late_share=0.05, gbps=draft.rng.randint(1, 6), ramp="10s",
    )  # fmt: skip


def greedy_neighbour(draft: Draft, place: Place, _: str | None) -> None:
    draft.job(
        place, draft.begin_s(), draft.rng.uniform(60, 200), kind="training", name="a job with many queue pairs", containers=2,
        flows=draft.rng.randint(20, 200), gbps=draft.rng.randint(20, 60), queue_pairs=draft.rng.randint(2, 10), ramp="5s",
    )  # fmt: skip


def port_down(draft: Draft, place: Place, _: str | None) -> None:
    draft.operate(place, draft.begin_s(), draft.rng.uniform(20, 200), "port-down")


def reboot(draft: Draft, place: Place, _: str | None) -> None:
    draft.operate(place, draft.begin_s(), None, "reboot")


BENIGN: dict[str, Ingredient] = {
    "short-job": short_job,
    "churning-service": churning_service,
    "few-tenants": few_tenants,
    "greedy-neighbour": greedy_neighbour,
    "port-down": port_down,
    "reboot": reboot,
}


def growing_job(draft: Draft, place: Place, _: str | None) -> None:
    draft.job(
        place, draft.begin_s(), draft.rng.uniform(1200, 5400), kind="training", name="a job that grows slowly",
        containers=draft.rng.randint(2, 6), flows=_flows(draft.between(300, 3000)), gbps=draft.rng.randint(5, 20),
        ramp=f"{draft.rng.randint(300, 1500)}s",
    )  # fmt: skip


def resting_job(draft: Draft, place: Place, _: str | None) -> None:
    """Its flows pause, some for longer than max-idle: they age by right and come back."""
    draft.job(
        place, draft.begin_s(), draft.rng.uniform(600, 3600), kind="training", name="a job that pauses", containers=draft.rng.randint(2, 6),
        flows=_flows(draft.between(100, 1500)), gbps=draft.rng.randint(2, 10), ramp=f"{draft.rng.randint(5, 60)}s",
        burst=f"{draft.rng.randint(5, 30)}s", rest=f"{draft.rng.randint(3, 45)}s",
    )  # fmt: skip


LONG_BENIGN: dict[str, Ingredient] = {**BENIGN, "growing-job": growing_job, "resting-job": resting_job}
"""What a long quiet time is drawn from."""
