"""Who overloads in an interval: by the true costs, in the part of it in which the queue could not keep up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.isolation_series.play import Played
from tests.isolation_series.scene import EGRESS, Incident, Scene, water_level

BEYOND = (1.02, 1.15)
"""What a VF asks for over its weighted max-min share: up to the first it is within, from the second on surely beyond."""
EXCESS = (0.002, 0.02)
"""What it asks for beyond its share, as a part of the engine: an overload does not end by the return of less."""


def guilty(scene: Scene, played: Played, steps: slice, causes: Sequence[Incident]) -> tuple[set[int], set[int]]:
    """VFs that surely overload, and those that nobody could say it of, in `steps`; `causes` are the incidents that play a part.

    A VF of an ingress incident that still (or again) asks for less than its share, as the others do, is no aggressor.
    """
    if not causes:
        return set(), set()
    if any(one.mechanism == EGRESS for one in causes):
        return {vf for one in causes for vf in one.aggressors}, set()
    over = np.arange(steps.start, steps.stop)[(played.ingress.lost_part[steps] > 0) | (played.ingress.load[steps] > 1)]
    if not len(over):
        over = np.arange(steps.start, steps.stop)
    asked = scene.card.load(played.arrived[over], scene.demand.rx_size[over]).sum(axis=0)
    asked = asked / asked.sum() * float(played.ingress.load[over].mean())
    weights = np.array([one.max_bps for one in scene.tenants])
    share = water_level(asked, weights, min(1.0, float(asked.sum()) * 0.999)) * weights
    ratio, excess = asked / share, asked - share
    sure = {vf for vf in range(len(asked)) if ratio[vf] >= BEYOND[1] and excess[vf] >= EXCESS[1]}
    maybe = {vf for vf in range(len(asked)) if ratio[vf] >= BEYOND[0] and excess[vf] >= EXCESS[0]}
    if not sure:  # hardly an overload: whoever among those that cause it asks for most beyond the share
        sure = {max((vf for one in causes for vf in one.aggressors), key=lambda vf: float(excess[vf]))}
        maybe |= {vf for one in causes for vf in one.aggressors}
    return sure, maybe - sure
