"""What each kind of series plays. Each function draws one scene from a seed; `make` finds one that can happen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from tests.isolation_series.card import DropsAt, draw_card
from tests.isolation_series.demand import STEPS_PER_S, Throttle
from tests.isolation_series.faults import spoil
from tests.isolation_series.noise import background, blips, everybody_stops, fabric_delay, few_drops, own_limiter
from tests.isolation_series.overloads import overloads, place_one
from tests.isolation_series.rows import Delays
from tests.isolation_series.scene import BYTES, PACKETS, Impossible, Scene, make_scene, steps
from tests.isolation_series.series import Plan, Series, played
from tests.isolation_series.tenants import draw_tenants

ATTEMPTS = 300


def shown_delays(rng: np.random.Generator) -> Delays:
    """Delays of all, of active VFs only, or none."""
    return Delays(rng.choice([Delays.ALL, Delays.ALL, Delays.ACTIVE, Delays.MISSING]))


def packet_storm(rng: np.random.Generator) -> Plan:
    """A VF receives small packets, few bits but more packets than the engine can look at (V2)."""
    card = draw_card(rng)
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.55)), heavy=rng.random() < 0.3), 600)
    overloads(scene, int(rng.integers(2, 7)), (2.0, 60.0) if rng.random() < 0.8 else (40.0, 150.0), PACKETS)
    background(scene)
    return Plan(scene, shown=shown_delays(rng))


def bandwidth_burst(rng: np.random.Generator) -> Plan:
    """A VF receives large packets, more bytes than the engine can move (V3)."""
    ports = int(rng.choice([1, 2]))
    card = draw_card(rng, (0.4, 0.75) if ports == 1 else (0.7, 1.0), ports)
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.5)), heavy=rng.random() < 0.3), 600)
    overloads(scene, int(rng.integers(2, 7)), (2.0, 60.0) if rng.random() < 0.8 else (40.0, 150.0), BYTES)
    background(scene)
    return Plan(scene, shown=shown_delays(rng))


def block(scene: Scene, vf: int, stated: str, lengths_s: tuple[float, float]) -> None:
    """Let a VF send against its shaper for a while; what the shaper passes is stated in the promises, or nowhere."""
    rng, demand, tenant = scene.rng, scene.demand, scene.tenants[vf]
    for _ in range(60):
        length = steps(float(rng.uniform(*lengths_s)))
        start = int(rng.integers(steps(20), demand.steps - length))
        if scene.free(start, start + length, steps(15)):
            break
    else:
        raise Impossible("no room")
    size = float(demand.tx_size[start : start + length, vf].mean())
    demand.tx_size[start : start + length, vf] = size
    passed = {"policed": tenant.policed_bps or 0.0, "max": tenant.max_bps, "nowhere": tenant.tx_bps * 0.3}[stated] / 8 / size
    backlog = 2**31 if rng.random() < 0.75 else int(rng.integers(200, 2000))
    wants = passed * float(rng.uniform(1.3, 6))
    scene.throttle(Throttle(vf, start, start + length, wants, passed, bool(rng.random() < 0.4), backlog, stated == "nowhere"))


def egress_blocking(rng: np.random.Generator) -> Plan:
    """A shaped VF keeps the descriptors that all share; nothing is dropped, everybody behind it waits (V1)."""
    card = draw_card(rng)
    tenants = draw_tenants(rng, card, int(rng.integers(4, 13)), float(rng.uniform(0.1, 0.45)), heavy=False)
    vf = int(rng.integers(0, min(3, len(tenants))))
    stated = rng.choice(["policed", "max", "nowhere"], p=[0.4, 0.4, 0.2])
    if stated == "policed":
        tenants[vf] = replace(tenants[vf], policed_bps=float(round(tenants[vf].max_bps * rng.uniform(0.02, 0.5), -4)))
    scene = make_scene(rng, card, tenants, 600)
    for _ in range(int(rng.integers(1, 5))):
        block(scene, vf, str(stated), (5.0, 60.0))
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


def dirty(rng: np.random.Generator) -> Plan:
    """Storms and bursts in a file with every fault that telemetry has."""
    mechanism = str(rng.choice([PACKETS, BYTES]))
    card = draw_card(rng) if mechanism == PACKETS else draw_card(rng, (0.4, 0.75))
    scene = make_scene(rng, card, draw_tenants(rng, card, 8, float(rng.uniform(0.15, 0.5))), 600)
    overloads(scene, int(rng.integers(3, 8)), (3.0, 40.0), mechanism)
    background(scene)
    return Plan(scene, shown=shown_delays(rng), faults=lambda telemetry: spoil(telemetry, rng, card.nic_bps))


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
    scene.harmless = True
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


def mixed_day(rng: np.random.Generator) -> Plan:
    """All mechanisms and all near misses in one file, in whole seconds, with habits that differ from the other kinds.

    Queues so short that delays rise to a small multiple of the promise, delays of few probes, traffic that varies by a third,
    and drops of the aggressors that are counted at the port only.
    """
    ports = 2
    card = replace(draw_card(rng, (0.6, 1.0), ports), tx_cost=0.0)
    tenants = draw_tenants(rng, card, int(rng.integers(6, 13)), float(rng.uniform(0.15, 0.35)), heavy=rng.random() < 0.4)
    card = replace(card, buffer_s=tenants[0].slo_p99_us * 1e-6 * float(rng.uniform(1.5, 4)))
    if rng.random() < 0.5:
        card = replace(card, drops_at=DropsAt.VICTIMS, port_row=True)
    scene = make_scene(rng, card, tenants, 900, spread=float(rng.uniform(0.1, 0.3)))
    scene.probe_noise = float(rng.uniform(0.05, 0.2))
    for _ in range(int(rng.integers(3, 8))):
        second, length = int(rng.integers(15, 850)), int(rng.choice([1, 2, 3, 10, 30, 45]))
        if scene.free(steps(second), steps(second + length), steps(2)):
            mechanism = str(rng.choice([PACKETS, BYTES]))
            with suppress(Impossible):
                guilty = [int(one) for one in rng.choice(np.arange(1, len(tenants)), size=int(rng.choice([1, 1, 1, 2])), replace=False)]
                scene.overload(steps(second), steps(second + length), guilty, float(rng.uniform(1.2, 2.5)), mechanism)
    for _ in range(int(rng.integers(1, 3))):
        block(scene, 1, "max", (5.0, 30.0))
    if len(scene.incidents) < 3:
        raise Impossible("too few incidents")
    background(scene, 150)
    everybody_stops(scene, int(rng.integers(0, 3)))
    return Plan(scene, shown=Delays(rng.choice([Delays.ALL, Delays.ACTIVE])))


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
    "mixed day": mixed_day,
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
