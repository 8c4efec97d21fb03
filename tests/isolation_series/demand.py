"""What the VFs want to receive and send, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tests.isolation_series.tenants import Tenant

STEPS_PER_S = 20
STEP_S = 1 / STEPS_PER_S


@dataclass(frozen=True)
class Throttle:
    """A VF that wants to send more than its shaper lets through, so that its packets keep the shared descriptors."""

    vf: int
    start: int
    end: int
    """Steps."""
    wants_pps: float
    shaper_pps: float
    counts_own_drops: bool
    backlog: int
    """Packets that the VF itself lets wait; without bound, it fills the descriptors."""
    lifted: bool
    """Whether the shaper goes at the end, and what it held with it."""


@dataclass
class Demand:
    """Arrays of shape (steps, VFs), if not said otherwise."""

    rx_pps: np.ndarray
    rx_size: np.ndarray
    tx_pps: np.ndarray
    tx_size: np.ndarray
    limiter_rx_pps: np.ndarray
    """Packets that the VF's own limiter drops before the engine sees them."""
    limiter_tx_pps: np.ndarray
    own_delay_us: np.ndarray
    """Delay of the guest or the fabric: nothing that VFs share on this RNIC."""
    stray_drops_pps: np.ndarray
    """Shape (steps,): broken frames and the like, dropped at the port while the engine is calm."""
    throttles: list[Throttle] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.rx_pps)


def wander(rng: np.random.Generator, seconds: int, count: int, spread: float) -> np.ndarray:
    """Factors around 1 that wander from second to second, shape (seconds * STEPS_PER_S, count)."""
    memory = 0.9
    shocks = rng.normal(0, spread * np.sqrt(1 - memory**2), (seconds, count))
    level = rng.normal(0, spread, count)
    slow = np.empty((seconds, count))
    for second in range(seconds):
        level = memory * level + shocks[second]
        slow[second] = level
    steps = np.repeat(slow, STEPS_PER_S, axis=0) + rng.normal(0, spread / 2, (seconds * STEPS_PER_S, count))
    return np.clip(np.exp(np.clip(steps, -3 * spread, 3 * spread)), 0.2, 1.6)


def draw_demand(rng: np.random.Generator, tenants: list[Tenant], seconds: int, spread: float | None = None) -> Demand:
    """The VFs' usual traffic over `seconds`, with noise and rhythm, all of it inside the envelopes."""
    count, steps = len(tenants), seconds * STEPS_PER_S
    spread = spread or float(rng.uniform(0.03, 0.15))
    rx = wander(rng, seconds, count, spread)
    tx = wander(rng, seconds, count, spread)
    time_s = np.arange(steps) * STEP_S
    for place, tenant in enumerate(tenants):
        if tenant.rhythm_s:
            works = (time_s / tenant.rhythm_s + rng.random()) % 1 < rng.uniform(0.5, 0.9)
            rx[:, place] *= np.where(works, 1.0, 0.1)
            tx[:, place] *= np.where(works, 1.0, 0.1)
    rx_size = np.array([one.rx_size for one in tenants]) * np.clip(rng.normal(1, 0.02, (steps, count)), 0.9, 1.1)
    tx_size = np.array([one.tx_size for one in tenants]) * np.clip(rng.normal(1, 0.02, (steps, count)), 0.9, 1.1)
    return Demand(
        rx_pps=rx * np.array([one.rx_bps for one in tenants]) / 8 / rx_size,
        rx_size=np.maximum(rx_size, 64.0),
        tx_pps=tx * np.array([one.tx_bps for one in tenants]) / 8 / tx_size,
        tx_size=np.maximum(tx_size, 64.0),
        limiter_rx_pps=np.zeros((steps, count)),
        limiter_tx_pps=np.zeros((steps, count)),
        own_delay_us=np.zeros((steps, count)),
        stray_drops_pps=np.zeros(steps),
    )
