"""What is true in each interval: from what the queue did to each VF's packets, not from what the counters show."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tests.isolation_series.card import Card, DropsAt
from tests.isolation_series.demand import STEP_S
from tests.isolation_series.play import Played
from tests.isolation_series.scene import EGRESS, Impossible, Scene

LOST = (0.0003, 0.003)
"""Part of all packets that the engine lost: up to the first nobody suffers, from the second on surely; between, nobody would judge."""
LATE = (0.85, 1.3)
"""Shared p99 over the promised one: the same."""
EDGE = (0.97, 1.03)
"""Offered rate over the envelope: the same."""
FEW_PACKETS = 20
"""A VF that should have lost fewer is no proof."""


@dataclass
class Interval:
    """One interval and what is right to say of it; `t` is its end."""

    t: float
    broken: bool = False
    victims: list[str] = field(default_factory=list)
    aggressors: list[str] = field(default_factory=list)
    mechanism: str | None = None
    marginal: str = ""
    """Why an expert would not judge it; empty: it is judged."""
    gap: bool = False
    """Its row is missing: it can only be unknown."""
    busy: float = 0.0
    """Part of the interval in which what is shared was overloaded."""
    load: float = 0.0
    lost: int = 0


def shared_p99_us(played: Played, steps_per_interval: int) -> np.ndarray:
    """The p99 of what packets wait in what VFs share, shape (intervals,)."""
    wait = played.ingress.wait_p99_us + played.egress.wait_us
    return np.asarray(np.quantile(wait.reshape(-1, steps_per_interval), 0.99, axis=1, method="higher"))


def shared_p50_us(played: Played, steps_per_interval: int) -> np.ndarray:
    """The median of the same."""
    wait = 0.7 * played.ingress.wait_mean_us + played.egress.wait_us
    return np.asarray(np.quantile(wait.reshape(-1, steps_per_interval), 0.5, axis=1, method="higher"))


def intervals(scene: Scene, played: Played, steps_per_interval: int, delays_shown: bool) -> list[Interval]:
    """The truth of each interval; `t` counts from 0, the first interval ends at its own length."""
    length_s = steps_per_interval * STEP_S
    count = scene.demand.steps // steps_per_interval
    by_interval = (count, steps_per_interval, len(scene.tenants))
    arrived = played.arrived.reshape(by_interval).sum(axis=1)
    lost = played.lost.reshape(by_interval).sum(axis=1)
    sent = played.sent.reshape(by_interval).sum(axis=1)
    rx_bps = played.offered_rx_bytes.reshape(by_interval).sum(axis=1) * 8 / length_s
    tx_bps = (played.wanted_tx * scene.demand.tx_size).reshape(by_interval).sum(axis=1) * 8 / length_s
    received_bps = played.rx_bytes.reshape(by_interval).sum(axis=1) * 8 / length_s
    wait = shared_p99_us(played, steps_per_interval)
    load = played.ingress.load.reshape(count, steps_per_interval).mean(axis=1)
    overloaded = (played.ingress.lost_part > 0) | (played.egress.wait_us > 0)
    busy = overloaded.reshape(count, steps_per_interval).mean(axis=1)
    found = []
    for place in range(count):
        interval = Interval(
            t=(place + 1) * length_s, busy=round(float(busy[place]), 3), load=round(float(load[place]), 3), lost=int(lost[place].sum())
        )
        causes = [
            one
            for one in scene.incidents
            if one.start < (place + 1) * steps_per_interval
            and (
                one.end > place * steps_per_interval or (one.mechanism == EGRESS and played.egress.wait_us[place * steps_per_interval] > 0)
            )
        ]
        guilty = {vf for one in causes for vf in one.aggressors}
        total_part = float(lost[place].sum() / max(arrived[place].sum(), 1.0))
        unsure = False
        for vf, tenant in enumerate(scene.tenants):
            if vf in guilty or arrived[place, vf] + sent[place, vf] == 0:
                continue
            over = max(rx_bps[place, vf], tx_bps[place, vf]) / tenant.max_bps
            suffers, doubtful = suffering(
                total_part, float(arrived[place, vf]), (float(wait[place]) + tenant.base_p99_us) / tenant.slo_p99_us, delays_shown
            )
            if not (suffers or doubtful):
                continue
            if over >= EDGE[1]:
                hidden = scene.card.drops_at == DropsAt.PORT and received_bps[place, vf] < EDGE[1] * tenant.max_bps
                unsure = unsure or hidden
                continue
            if suffers and over <= EDGE[0]:
                interval.victims.append(tenant.name)
            else:
                unsure = True
        if interval.victims and scene.harmless:
            raise Impossible("somebody within his envelope suffers")
        if interval.victims and causes:
            interval.broken = True
            interval.aggressors = [scene.tenants[vf].name for vf in sorted(guilty)]
            interval.mechanism = causes[-1].mechanism
        elif unsure:
            interval.marginal = "too little of it, or not to be seen"
        if (interval.victims or unsure) and not causes and not scene.harmless:
            raise Impossible("VFs suffer where nobody overloads")
        if len({one.mechanism for one in causes}) > 1 or len({one.aggressors for one in causes}) > 1:
            interval.marginal = "two incidents"
        found.append(interval)
    return found


def suffering(lost_part: float, arrived: float, lateness: float, delays_shown: bool) -> tuple[bool, bool]:
    """Whether a VF surely suffers, and whether it may."""
    sure = lost_part > LOST[1] and arrived * lost_part >= FEW_PACKETS
    maybe = lost_part > LOST[0] and arrived * lost_part >= 1
    late, maybe_late = lateness > LATE[1], lateness > LATE[0]
    if not delays_shown:
        late, maybe_late = False, late or maybe_late
    return sure or late, maybe or maybe_late


def card_facts(card: Card) -> dict[str, float]:
    """What the CSV hides, for whoever looks at a disagreement."""
    return {
        "packets_per_s_at_most": round(1 / card.packet_s),
        "bits_per_s_at_most": round(8 / card.byte_s),
        "crossover_bytes": round(card.crossover_bytes),
        "queue_us": round(card.buffer_s * 1e6),
        "tx_cost": card.tx_cost,
        "descriptors": card.descriptors,
    }
