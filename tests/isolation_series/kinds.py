"""What each kind of series plays. Each function draws one scene from a seed; `make` finds one that can happen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from tests.isolation_series.card import Card, DropsAt, draw_card
from tests.isolation_series.demand import STEP_S, STEPS_PER_S, Throttle
from tests.isolation_series.faults import Telemetry, clock_back, gap, late, restart, shift_clock, telemetry_of, twice, wrap
from tests.isolation_series.play import play
from tests.isolation_series.rows import PORT, Delays, snapshots
from tests.isolation_series.scene import BYTES, EGRESS, PACKETS, Impossible, Scene, make_scene, steps
from tests.isolation_series.tenants import Tenant, draw_tenants
from tests.isolation_series.truth import card_facts, intervals

ATTEMPTS = 300


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


def shown_delays(rng: np.random.Generator) -> Delays:
    """Delays of all, of active VFs only, or none."""
    return Delays(rng.choice([Delays.ALL, Delays.ALL, Delays.ACTIVE, Delays.MISSING]))


def overloads(scene: Scene, count: int, lengths_s: tuple[float, float], mechanism: str, free_before_s: float = 20.0) -> None:
    """Let `count` incidents of one mechanism happen at random times, each with one VF that is not heavy by right."""
    rng = scene.rng
    least = 1 if any(one.rx_bps > 0.3 * scene.card.nic_bps for one in scene.tenants) else 0
    guilty = int(rng.integers(least, len(scene.tenants)))
    for _ in range(count):
        if rng.random() < 0.3:
            guilty = int(rng.integers(least, len(scene.tenants)))
        place_one(scene, lengths_s, [guilty], mechanism, free_before_s)


def place_one(
    scene: Scene, lengths_s: tuple[float, float], guilty: list[int], mechanism: str, free_before_s: float, apart_s: float = 3.0
) -> None:
    """Put one incident where nothing else happens; raises Impossible when there is no room."""
    rng = scene.rng
    for _ in range(60):
        length = steps(float(np.exp(rng.uniform(*np.log(lengths_s)))))
        start = int(rng.integers(steps(free_before_s), max(scene.demand.steps - length, steps(free_before_s) + 1)))
        if rng.random() < 0.4:
            start -= start % STEPS_PER_S
        if scene.free(start, start + length, steps(apart_s)):
            top = 3.0 if mechanism == PACKETS else 1.6 if scene.card.ports > 1 else 1.4
            scene.overload(start, start + length, guilty, float(rng.uniform(1.05, top)), mechanism)
            if rng.random() < 0.2:
                ramp(scene, start, length, guilty)
            return
    raise Impossible("no room")


def ramp(scene: Scene, start: int, length: int, guilty: list[int]) -> None:
    """Let the first part of an incident grow from little to all of it."""
    rise = min(steps(float(scene.rng.uniform(0.5, 4))), length // 2)
    scene.demand.rx_pps[start : start + rise, guilty] *= np.linspace(0.1, 1, rise)[:, None]


def packet_storm(rng: np.random.Generator) -> Plan:
    """A VF receives small packets, few bits but more packets than the engine can look at (V2)."""
    card = draw_card(rng)
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.55)), heavy=rng.random() < 0.3), 600)
    overloads(scene, int(rng.integers(2, 7)), (2.0, 60.0), PACKETS)
    background(scene)
    return Plan(scene, shown=shown_delays(rng))


def bandwidth_burst(rng: np.random.Generator) -> Plan:
    """A VF receives large packets, more bytes than the engine can move (V3)."""
    ports = int(rng.choice([1, 2]))
    card = draw_card(rng, (0.4, 0.75) if ports == 1 else (0.7, 1.0), ports)
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.5)), heavy=rng.random() < 0.3), 600)
    overloads(scene, int(rng.integers(2, 7)), (2.0, 60.0), BYTES)
    background(scene)
    return Plan(scene, shown=shown_delays(rng))


def egress_blocking(rng: np.random.Generator) -> Plan:
    """A shaped VF keeps the descriptors that all share; nothing is dropped, everybody behind it waits (V1)."""
    card = draw_card(rng)
    tenants = draw_tenants(rng, card, int(rng.integers(4, 13)), float(rng.uniform(0.1, 0.45)), heavy=False)
    vf = int(rng.integers(0, min(3, len(tenants))))
    stated = rng.choice(["policed", "max", "nowhere"], p=[0.4, 0.4, 0.2])
    if stated == "policed":
        tenants[vf] = replace(tenants[vf], policed_bps=float(round(tenants[vf].max_bps * rng.uniform(0.02, 0.5), -4)))
    scene = make_scene(rng, card, tenants, 600)
    counts = bool(rng.random() < 0.4)
    for _ in range(int(rng.integers(1, 5))):
        for _ in range(60):
            length = steps(float(rng.uniform(5, 60)))
            start = int(rng.integers(steps(20), scene.demand.steps - length))
            if scene.free(start, start + length, steps(15)):
                break
        else:
            raise Impossible("no room")
        size = float(scene.demand.tx_size[start : start + length, vf].mean())
        scene.demand.tx_size[start : start + length, vf] = size
        cap = {"policed": tenants[vf].policed_bps or 0.0, "max": tenants[vf].max_bps, "nowhere": tenants[vf].tx_bps * 0.3}[str(stated)]
        shaper = cap / 8 / size
        scene.throttle(Throttle(vf, start, start + length, shaper * float(rng.uniform(1.3, 6)), shaper, counts, stated == "nowhere"))
    if stated == "policed":  # the usual traffic of a policed VF keeps below its limit
        usual = scene.demand.tx_pps[:, vf] * scene.demand.tx_size[:, vf] * 8
        scene.demand.tx_pps[:, vf] *= np.minimum(1.0, 0.8 * (tenants[vf].policed_bps or 0.0) / np.maximum(usual, 1.0))
    background(scene)
    return Plan(scene, shown=Delays(rng.choice([Delays.ALL, Delays.ACTIVE])), notes=[f"limit stated: {stated}"])


def near_miss(rng: np.random.Generator) -> Plan:
    """Much that looks like an incident and is none: nobody who keeps his promise suffers from somebody else."""
    card = draw_card(rng)
    tenants = draw_tenants(rng, card, 8, float(rng.uniform(0.2, 0.65)), heavy=rng.random() < 0.5)
    policed = int(rng.integers(1, 3))
    limit = float(round(tenants[policed].max_bps * rng.uniform(0.1, 0.5), -4))
    tenants[policed] = replace(
        tenants[policed],
        policed_bps=limit,
        rx_bps=min(tenants[policed].rx_bps, limit),
        tx_bps=min(tenants[policed].tx_bps, limit),
        rhythm_s=0,
    )
    scene = make_scene(rng, card, tenants, 600)
    own_limiter(scene, policed, limit)
    blips(scene, int(rng.integers(40, 160)))
    few_drops(scene)
    fabric_delay(scene, int(rng.integers(0, 4)))
    everybody_stops(scene, int(rng.integers(0, 3)))
    return Plan(scene, shown=shown_delays(rng))


def own_limiter(scene: Scene, vf: int, limit: float) -> None:
    """Now and then the VF is offered more than its own limiter passes: its rate is flat, the rest is dropped there."""
    rng, demand = scene.rng, scene.demand
    receives = bool(rng.random() < 0.5)
    for _ in range(int(rng.integers(1, 6))):
        length = steps(float(rng.uniform(5, 80)))
        start = int(rng.integers(0, demand.steps - length))
        span = slice(start, start + length)
        pps, size, dropped = (
            (demand.rx_pps, demand.rx_size, demand.limiter_rx_pps) if receives else (demand.tx_pps, demand.tx_size, demand.limiter_tx_pps)
        )
        size[span, vf] = size[span, vf].mean()
        pps[span, vf] = limit / 8 / size[span, vf]
        dropped[span, vf] = pps[span, vf] * float(rng.uniform(0.05, 2.0))
        if rng.random() < 0.7:
            demand.own_delay_us[span, vf] = scene.tenants[vf].slo_p99_us * float(rng.uniform(0.5, 10))


def blips(scene: Scene, count: int) -> None:
    """Guests that do not run for a while: one VF is late for a second or three."""
    rng = scene.rng
    for _ in range(count):
        vf = int(rng.integers(len(scene.tenants)))
        start = int(rng.integers(0, scene.demand.steps))
        span = slice(start, start + steps(float(rng.uniform(0.2, 3))))
        scene.demand.own_delay_us[span, vf] = scene.tenants[vf].slo_p99_us * float(np.exp(rng.uniform(np.log(1.2), np.log(30))))


def background(scene: Scene, most_blips: int = 60) -> None:
    """What happens on any day next to the incidents: guests that pause, few drops, in half of the scenes a late fabric."""
    if scene.rng.random() < 0.8:
        blips(scene, int(scene.rng.integers(0, most_blips + 1)))
    if scene.rng.random() < 0.6:
        few_drops(scene)
    if scene.rng.random() < 0.3:
        fabric_delay(scene, 1)


def few_drops(scene: Scene) -> None:
    """Broken frames and microbursts: few drops at the port, at most 0.03% of the packets and 5,000 per second."""
    rng, demand = scene.rng, scene.demand
    packets = demand.rx_pps.sum(axis=1)
    for _ in range(int(rng.integers(5, 60))):
        start = int(rng.integers(0, demand.steps))
        span = slice(start, start + steps(float(rng.uniform(0.05, 2))))
        demand.stray_drops_pps[span] = np.minimum(packets[span] * 0.0003, 5000) * rng.uniform(0.05, 1.0)


def fabric_delay(scene: Scene, count: int) -> None:
    """A spine is congested: all VFs are late for a while, whatever this RNIC does."""
    rng = scene.rng
    for _ in range(count):
        start = int(rng.integers(0, scene.demand.steps))
        span = slice(start, start + steps(float(rng.uniform(1, 15))))
        scene.demand.own_delay_us[span] += float(rng.uniform(0.5, 6)) * scene.tenants[0].slo_p99_us


def everybody_stops(scene: Scene, count: int) -> None:
    """A job that spans VFs waits for something: their rates fall together, and come back."""
    rng, demand = scene.rng, scene.demand
    for _ in range(count):
        start = int(rng.integers(0, demand.steps))
        span = slice(start, start + steps(float(rng.uniform(2, 20))))
        part = float(rng.uniform(0.05, 0.4))
        demand.rx_pps[span] *= part
        demand.tx_pps[span] *= part


def dirty(rng: np.random.Generator) -> Plan:
    """Storms and bursts in a file with every fault that telemetry has."""
    mechanism = str(rng.choice([PACKETS, BYTES]))
    card = draw_card(rng) if mechanism == PACKETS else draw_card(rng, (0.4, 0.75))
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.5))), 600)
    overloads(scene, int(rng.integers(3, 8)), (3.0, 40.0), mechanism)
    background(scene)
    return Plan(scene, shown=shown_delays(rng), faults=lambda telemetry: spoil(telemetry, rng, card))


def spoil(telemetry: Telemetry, rng: np.random.Generator, card: Card) -> None:
    """Put faults on top, most of them in most files."""
    if rng.random() < 0.7:
        bits = int(rng.choice([32, 64]))
        wrap(telemetry, rng, bits, bits == 64 or card.nic_bps <= 25e9)
    entities = [row.entity for row in telemetry.entries[0].reading.rows]

    def somewhere(margin: int) -> int:
        return int(rng.integers(5, len(telemetry.entries) - margin))

    if rng.random() < 0.7:
        restart(
            telemetry, somewhere(5), set(entities) if rng.random() < 0.5 else {str(rng.choice([one for one in entities if one != PORT]))}
        )
    if rng.random() < 0.7:
        clock_back(telemetry, int(rng.integers(30, len(telemetry.entries) - 5)), float(rng.integers(1, 12)))
    for _ in range(int(rng.integers(1, 4))):
        length = int(rng.integers(1, 30))
        gap(telemetry, somewhere(length + 5), length)
    for _ in range(int(rng.integers(2, 12))):
        twice(telemetry, somewhere(10), int(rng.choice([0, 0, 0, 1, 4])))
    for _ in range(int(rng.integers(1, 5))):
        place = somewhere(10)
        if all(entry.interval is not None and not entry.interval.marginal for entry in telemetry.entries[place : place + 4]):
            late(telemetry, place, int(rng.choice([1, 1, 2])))


def many_vfs(rng: np.random.Generator) -> Plan:
    """Many VFs, many short incidents by one or two VFs, next to one that is heavy by right."""
    card = draw_card(rng, (0.6, 1.0), ports=2)
    count = int(rng.choice([16, 24, 32, 48, 64]))
    scene = make_scene(rng, card, draw_tenants(rng, card, count, float(rng.uniform(0.4, 0.6)), heavy=True), 600)
    for _ in range(int(rng.integers(15, 35))):
        with suppress(Impossible):
            guilty = [int(one) for one in rng.choice(np.arange(1, count), size=int(rng.choice([1, 1, 2])), replace=False)]
            place_one(scene, (1.0, 10.0), guilty, str(rng.choice([PACKETS, PACKETS, BYTES])), 15.0)
    blips(scene, int(rng.integers(300, 700)))
    few_drops(scene)
    if len(scene.incidents) < 8:
        raise Impossible("too few incidents")
    return Plan(scene, shown=shown_delays(rng))


def beyond_envelope(rng: np.random.Generator) -> Plan:
    """The engine is overloaded, but only VFs that are beyond their own envelope are there to suffer."""
    card = draw_card(rng, ports=2)
    tenants = draw_tenants(rng, card, 6, float(rng.uniform(0.1, 0.4)))
    tenants = [replace(one, max_bps=float(round(one.max_bps * 0.35, -6)), min_bps=float(round(one.min_bps * 0.3, -6))) for one in tenants]
    tenants = [replace(one, rx_bps=one.rx_bps * 0.35, tx_bps=one.tx_bps * 0.35, rhythm_s=0.0) for one in tenants]
    scene = make_scene(rng, card, tenants, 400)
    for _ in range(int(rng.integers(2, 6))):
        length = steps(int(rng.integers(2, 30)))
        start = steps(int(rng.integers(20, scene.seconds - 30)))
        if not scene.free(start, start + length, steps(3)):
            continue
        span = slice(start, start + length)
        loud = [int(one) for one in rng.choice(len(tenants), size=int(rng.integers(1, 4)), replace=False)]
        scene.demand.rx_pps[span] = 0
        scene.demand.tx_pps[span] = 0
        for vf in loud:
            size = float(rng.uniform(900, 1500))
            scene.demand.rx_size[span, vf] = size
            pps = float(rng.uniform(1.2, 2.0)) / len(loud) / card.cost(size)
            if pps * size * 8 < 1.15 * tenants[vf].max_bps:
                raise Impossible("within its envelope")
            scene.demand.rx_pps[span, vf] = pps * np.clip(rng.normal(1, 0.02, length), 0.95, 1.05)
        scene.check_line(span)
    return Plan(scene, shown=Delays(rng.choice([Delays.ACTIVE, Delays.MISSING])))


def single_seconds(rng: np.random.Generator) -> Plan:
    """Incidents of one second and less, each within one interval."""
    mechanism = str(rng.choice([PACKETS, BYTES]))
    card = draw_card(rng) if mechanism == PACKETS else draw_card(rng, (0.4, 0.75))
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.5)), heavy=rng.random() < 0.3), 600)
    least = 1 if scene.tenants[0].rx_bps > 0.25 * card.nic_bps else 0
    for _ in range(int(rng.integers(5, 20))):
        second = int(rng.integers(10, 599))
        length = int(rng.integers(8, STEPS_PER_S + 1))
        start = second * STEPS_PER_S + int(rng.integers(0, STEPS_PER_S - length + 1))
        if scene.free(start, start + length, steps(3)):
            top = 3.0 if mechanism == PACKETS else 1.4
            scene.overload(start, start + length, [int(rng.integers(least, 8))], float(rng.uniform(1.3, top)), mechanism)
    background(scene)
    return Plan(scene, shown=shown_delays(rng))


def early(rng: np.random.Generator) -> Plan:
    """The first incident is under way, or begins, when the file does."""
    mechanism = str(rng.choice([PACKETS, BYTES]))
    card = draw_card(rng) if mechanism == PACKETS else draw_card(rng, (0.4, 0.75))
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.5)), heavy=rng.random() < 0.3), 120)
    least = 1 if scene.tenants[0].rx_bps > 0.25 * card.nic_bps else 0
    start = steps(float(rng.choice([0.0, 1.0, 2.0, 4.0])))
    length = steps(float(rng.uniform(3, 20)))
    scene.free(start, start + length, 0)
    top = 3.0 if mechanism == PACKETS else 1.4
    scene.overload(start, start + length, [int(rng.integers(least, 8))], float(rng.uniform(1.2, top)), mechanism)
    overloads(scene, int(rng.integers(1, 4)), (2.0, 15.0), mechanism)
    background(scene, 15)
    return Plan(scene, shown=shown_delays(rng))


def ten_second(rng: np.random.Generator) -> Plan:
    """A reading every 10 s: an interval is broken when one of its seconds is."""
    mechanism = str(rng.choice([PACKETS, BYTES]))
    card = draw_card(rng) if mechanism == PACKETS else draw_card(rng, (0.4, 0.75))
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.5)), heavy=rng.random() < 0.3), 3600)
    overloads(scene, int(rng.integers(3, 12)), (5.0, 120.0), mechanism, 200.0)
    background(scene, 100)
    return Plan(scene, steps_per_interval=10 * STEPS_PER_S, shown=shown_delays(rng))


KINDS: dict[str, Callable[[np.random.Generator], Plan]] = {
    "packet storm": packet_storm,
    "bandwidth burst": bandwidth_burst,
    "egress blocking": egress_blocking,
    "near miss": near_miss,
    "dirty": dirty,
    "many VFs": many_vfs,
    "beyond its envelope": beyond_envelope,
    "single seconds": single_seconds,
    "early": early,
    "ten seconds": ten_second,
}


def make(kind: str, seed: int) -> Series:
    """The series of a kind and a seed: always the same."""
    for attempt in range(ATTEMPTS):
        rng = np.random.default_rng([list(KINDS).index(kind), seed, attempt])
        try:
            return played(kind, seed, KINDS[kind](rng), rng)
        except Impossible:
            continue
    raise RuntimeError(f"isolation_series: no {kind} of seed {seed} can happen in {ATTEMPTS} attempts")


def played(kind: str, seed: int, plan: Plan, rng: np.random.Generator) -> Series:
    """Play a plan, read its counters, and put its faults on top."""
    scene = plan.scene
    stubborn = np.zeros((scene.demand.steps, len(scene.tenants)), dtype=bool)
    for incident in scene.incidents:
        stubborn[incident.start : incident.end, list(incident.aggressors)] = True
    result = play(scene.card, scene.tenants, scene.demand, stubborn, rng)
    truth = intervals(scene, result, plan.steps_per_interval, plan.shown != Delays.MISSING)
    telemetry = telemetry_of(snapshots(scene, result, plan.steps_per_interval, plan.shown), truth)
    shift_clock(telemetry, float(rng.choice([0.0, 0.0, 1.0, 1000.0, 1_790_000_000.0])))
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
    facts["faults"] = telemetry.scripted
    return Series(
        kind=kind,
        seed=seed,
        interval_s=plan.steps_per_interval * STEP_S,
        card=scene.card,
        tenants=scene.tenants,
        telemetry=telemetry,
        empty=str(rng.choice(["", "nan", "NaN"])),
        t_format=str(rng.choice(["g", ".0f", ".1f", ".3f"])) if telemetry.entries[0].reading.t < 1e6 else ".3f",
        facts=facts,
    )


__all__ = ["EGRESS", "KINDS", "DropsAt", "Series", "make"]
