"""Where incidents of the ingress engine are put, and who causes them."""

from __future__ import annotations

import numpy as np
from tests.isolation_series.demand import STEPS_PER_S
from tests.isolation_series.scene import PACKETS, Impossible, Scene, steps


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
    scene: Scene, lengths_s: tuple[float, float], guilty: list[int], mechanism: str, free_before_s: float, apart_s: float = 1.0
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
