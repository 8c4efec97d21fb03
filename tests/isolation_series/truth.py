"""What is true in each interval: from what the queue did to each VF's packets, not from what the counters show."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tests.isolation_series.card import Card, DropsAt
from tests.isolation_series.demand import STEP_S
from tests.isolation_series.guilt import guilty
from tests.isolation_series.play import Played
from tests.isolation_series.scene import EGRESS, Impossible, Incident, Scene

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
    doubtful: list[str] = field(default_factory=list)
    """VFs that may be aggressors as well: whether they are named or not is not judged."""
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


@dataclass(frozen=True)
class Sums:
    """Sums per interval and VF, shape (intervals, VFs)."""

    arrived: np.ndarray
    lost: np.ndarray
    sent: np.ndarray
    beyond: np.ndarray
    """The larger of the offered rates over the envelope."""
    seen_beyond: np.ndarray
    """The same of what was received and sent."""


def sums(scene: Scene, played: Played, steps_per_interval: int) -> Sums:
    """Add up the steps of each interval."""
    length_s = steps_per_interval * STEP_S

    def per_interval(values: np.ndarray) -> np.ndarray:
        return np.asarray(values.reshape(-1, steps_per_interval, len(scene.tenants)).sum(axis=1))

    envelope = np.array([one.max_bps for one in scene.tenants]) * length_s / 8
    return Sums(
        arrived=per_interval(played.arrived),
        lost=per_interval(played.lost),
        sent=per_interval(played.sent),
        beyond=np.maximum(per_interval(played.offered_rx_bytes), per_interval(played.wanted_tx * scene.demand.tx_size)) / envelope,
        seen_beyond=np.maximum(per_interval(played.rx_bytes), per_interval(played.tx_bytes)) / envelope,
    )


def intervals(scene: Scene, played: Played, steps_per_interval: int, delays_shown: bool) -> list[Interval]:
    """The truth of each interval; `t` counts from 0, the first interval ends at its own length."""
    count = scene.demand.steps // steps_per_interval
    summed = sums(scene, played, steps_per_interval)
    wait = shared_p99_us(played, steps_per_interval)
    load = played.ingress.load.reshape(count, steps_per_interval).mean(axis=1)
    overloaded = (played.ingress.lost_part > 0) | (played.ingress.load > 1) | (played.egress.wait_us > 0)
    busy = overloaded.reshape(count, steps_per_interval).mean(axis=1)
    found = []
    for place in range(count):
        steps = slice(place * steps_per_interval, (place + 1) * steps_per_interval)
        interval = Interval(
            t=(place + 1) * steps_per_interval * STEP_S,
            busy=round(float(busy[place]), 3),
            load=round(float(load[place]), 3),
            lost=int(summed.lost[place].sum()),
        )
        causes = [one for one in scene.incidents if plays_a_part(one, played, steps)]
        sure, doubtful = guilty(scene, played, steps, causes)
        victims, unsure = victims_of(scene, summed, place, float(wait[place]), sure, delays_shown)
        if (victims and (scene.harmless or not causes)) or (unsure and not causes and not scene.harmless):
            raise Impossible("VFs suffer where nobody overloads")
        if victims:
            interval.broken = True
            interval.victims = [scene.tenants[vf].name for vf in victims]
            interval.aggressors = [scene.tenants[vf].name for vf in sorted(sure)]
            interval.doubtful = [scene.tenants[vf].name for vf in sorted(doubtful)]
            interval.mechanism = causes[-1].mechanism
        elif unsure:
            interval.marginal = "too little of it, or not to be seen"
        if len({(one.mechanism, one.aggressors) for one in causes}) > 1:
            interval.marginal = "two incidents"
        found.append(interval)
    return found


def plays_a_part(incident: Incident, played: Played, steps: slice) -> bool:
    """Whether an incident touches these steps, or what it left in the descriptors does."""
    if incident.start >= steps.stop:
        return False
    return incident.end > steps.start or (incident.mechanism == EGRESS and bool(played.egress.wait_us[steps.start] > 0))


def victims_of(scene: Scene, summed: Sums, place: int, wait_us: float, guilty: set[int], delays_shown: bool) -> tuple[list[int], bool]:
    """The VFs that surely suffer though they keep within their envelopes, and whether some may suffer of whom it is not sure."""
    lost_part = float(summed.lost[place].sum() / max(summed.arrived[place].sum(), 1.0))
    victims, unsure = [], False
    for vf, tenant in enumerate(scene.tenants):
        if vf in guilty or summed.arrived[place, vf] + summed.sent[place, vf] == 0:
            continue
        lateness = (wait_us + tenant.base_p99_us) / tenant.slo_p99_us
        suffers, may_suffer = suffering(lost_part, float(summed.arrived[place, vf]), lateness, delays_shown)
        if not may_suffer:
            continue
        if summed.beyond[place, vf] >= EDGE[1]:
            unsure = unsure or (scene.card.drops_at == DropsAt.PORT and bool(summed.seen_beyond[place, vf] < EDGE[1]))
        elif suffers and summed.beyond[place, vf] <= EDGE[0]:
            victims.append(vf)
        else:
            unsure = True
    return victims, unsure


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
