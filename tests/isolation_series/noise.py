"""What happens on any day and breaks nobody's promise: limiters, guests that pause, few drops, a late fabric, jobs that stop."""

from __future__ import annotations

import numpy as np
from tests.isolation_series.scene import Scene, steps


def background(scene: Scene, most_blips: int = 60) -> None:
    """What happens on any day next to the incidents: guests that pause, few drops, in half of the scenes a late fabric."""
    if scene.rng.random() < 0.8:
        blips(scene, int(scene.rng.integers(0, most_blips + 1)))
    if scene.rng.random() < 0.6:
        few_drops(scene)
    if scene.rng.random() < 0.3:
        fabric_delay(scene, 1)


def own_limiter(scene: Scene, vf: int, limit: float) -> None:
    """Now and then the VF is offered more than its own limiter passes: its rate is flat, the rest is dropped there."""
    rng, demand = scene.rng, scene.demand
    receives = bool(rng.random() < 0.5)
    for _ in range(int(rng.integers(1, 6))):
        length = steps(float(rng.uniform(5, 80)))
        start = int(rng.integers(0, demand.steps - length))
        scene.kept_free.append((start, start + length))
        scene.note(start, start + length, f"the own limiter of {scene.tenants[vf].name} drops")
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


def few_drops(scene: Scene) -> None:
    """Broken frames and microbursts: few drops at the port, at most 0.08% of the packets and 9,000 per second."""
    rng, demand = scene.rng, scene.demand
    packets = demand.rx_pps.sum(axis=1)
    for _ in range(int(rng.integers(5, 60))):
        start = int(rng.integers(0, demand.steps))
        span = slice(start, start + steps(float(rng.uniform(0.05, 2))))
        demand.stray_drops_pps[span] = np.minimum(packets[span] * 0.0008, 9000) * rng.uniform(0.05, 1.0)


def fabric_delay(scene: Scene, count: int) -> None:
    """A spine is congested: all VFs are late for a while, whatever this RNIC does."""
    rng = scene.rng
    for _ in range(count):
        start, length = int(rng.integers(0, scene.demand.steps - steps(15))), steps(float(rng.uniform(1, 15)))
        if not scene.free(start, start + length, steps(3)):
            continue  # next to a limiter at work nobody could say what the delay is
        span = slice(start, start + length)
        scene.note(start, start + length, "the fabric is late for all VFs")
        scene.demand.own_delay_us[span] += float(rng.uniform(0.5, 6)) * scene.tenants[0].slo_p99_us


def everybody_stops(scene: Scene, count: int) -> None:
    """A job that spans VFs waits for something: their rates fall together, and come back."""
    rng, demand = scene.rng, scene.demand
    for _ in range(count):
        start = int(rng.integers(0, demand.steps))
        span = slice(start, start + steps(float(rng.uniform(2, 20))))
        part = float(rng.uniform(0.05, 0.4))
        scene.note(span.start, span.stop, "all VFs slow down by themselves")
        demand.rx_pps[span] *= part
        demand.tx_pps[span] *= part
