"""The VFs: what each was promised, and what it does on a quiet day."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tests.isolation_series.card import Card

IMIX = ((64, 7 / 12), (576, 4 / 12), (1500, 1 / 12))
"""Sizes of the Internet mix and their parts of the packets."""


@dataclass(frozen=True)
class Tenant:
    """A VF: its promise, its usual traffic, and the delay that its own path adds."""

    name: str
    min_bps: float
    max_bps: float
    slo_p50_us: float
    slo_p99_us: float
    slo_loss: float
    rx_bps: float
    tx_bps: float
    rx_size: float
    tx_size: float
    base_p50_us: float
    base_p99_us: float
    elastic: bool
    """Slows down when packets are lost or late, as TCP does."""
    rhythm_s: float
    """Period of its work, on and off; 0: steady."""
    policed_bps: float | None = None

    @property
    def idle(self) -> bool:
        """Whether it has no traffic of its own."""
        return self.rx_bps == 0 and self.tx_bps == 0


def mean_size(rng: np.random.Generator) -> float:
    """Mean packet size of one VF: plain IMIX, or a mix of its own, or jumbo frames."""
    if rng.random() < 0.3:
        return float(sum(size * part for size, part in IMIX))
    if rng.random() < 0.1:
        return float(rng.uniform(2000, 4000))
    parts = rng.dirichlet([1.0, 1.0, 1.5])
    return float(sum(size * part for (size, _), part in zip(IMIX, parts, strict=True)))


def draw_tenants(
    rng: np.random.Generator, card: Card, count: int, busy: float, idle_part: float = 0.15, heavy: bool = False
) -> list[Tenant]:
    """Draw `count` VFs that load the engine with `busy` (1: all it can do) in the mean.

    With `heavy`, the first VF has a right to a large part of the RNIC and uses it.
    The rates stay inside the envelopes: the engine is scaled by the VFs' traffic, never the promise by the detector.
    """
    weights = rng.dirichlet(np.full(count, 3.0))
    if heavy:
        weights *= 0.45
        weights[0] = 0.55
    minima = weights * card.nic_bps * rng.uniform(0.3, 0.9)
    maxima = np.minimum(minima * rng.uniform(1.3, 4.0, count), card.nic_bps)
    if heavy:
        maxima[0] = max(maxima[0], 0.6 * card.nic_bps)
    promise_p99 = float(rng.choice([50.0, 80.0, 100.0, 200.0]))
    loss = float(rng.choice([0.0, 0.0, 1e-5, 1e-4, 1e-3]))
    tenants = []
    for place in range(count):
        idle = rng.random() < idle_part and place > 2
        base_p50 = float(rng.uniform(0.08, 0.16) * promise_p99)
        tenants.append(
            Tenant(
                name=f"vf{place}",
                min_bps=float(round(minima[place], -6)),
                max_bps=float(round(maxima[place], -6)),
                slo_p50_us=round(promise_p99 / 3, 1),
                slo_p99_us=promise_p99,
                slo_loss=loss,
                rx_bps=0.0 if idle else float(maxima[place] * rng.uniform(0.05, 0.4)),
                tx_bps=0.0 if idle else float(maxima[place] * rng.uniform(0.02, 0.4)),
                rx_size=mean_size(rng),
                tx_size=mean_size(rng),
                base_p50_us=base_p50,
                base_p99_us=base_p50 * float(rng.uniform(1.5, 2.8)),
                elastic=bool(rng.random() < 0.5),
                rhythm_s=float(rng.uniform(5, 40)) if rng.random() < 0.25 else 0.0,
            )
        )
    if heavy:
        tenants[0] = replace(tenants[0], rx_bps=0.5 * tenants[0].max_bps, rx_size=float(rng.uniform(700, 1500)), rhythm_s=0.0)
    return scaled(card, tenants, busy)


def scaled(card: Card, tenants: list[Tenant], busy: float) -> list[Tenant]:
    """The same VFs with their traffic scaled so that the engine's load is `busy`, each within 0.6 of its envelope."""
    rx = sum(one.rx_bps / 8 / one.rx_size * card.cost(one.rx_size) for one in tenants)
    tx = sum(one.tx_bps / 8 / one.tx_size * card.cost(one.tx_size) for one in tenants) * card.tx_cost
    factor = busy / (rx + tx)
    tx_total = sum(one.tx_bps for one in tenants)
    tx_factor = min(factor, 0.6 * card.nic_bps / tx_total) if tx_total else factor
    return [
        replace(one, rx_bps=min(one.rx_bps * factor, 0.6 * one.max_bps), tx_bps=min(one.tx_bps * tx_factor, 0.6 * one.max_bps))
        for one in tenants
    ]
