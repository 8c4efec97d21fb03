"""Predicted drops of all residents of a card, from descriptions of functions rather than a trained model for each.

Used for placement: memory contention is a curve of the competitors' load (piecewise linear, as Yala's figure 5), accelerators are the
round-robin model, and both compose by the function's pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wallwatch.domain.contention.composition import Pattern, compose
from wallwatch.domain.contention.placement import Kind
from wallwatch.domain.contention.round_robin import EngineUser, throughput

_LARGEST_DROP = 0.999


@dataclass(frozen=True, slots=True)
class Resident:
    """What contention of a function depends on."""

    kind: Kind
    solo: float
    """kpps."""
    pattern: Pattern = Pattern.PIPELINE
    memory_load: float = 0.0
    """What it adds to the memory subsystem, in the unit of the curves' abscissa (such as accesses per second)."""
    memory_curve: tuple[tuple[float, float], ...] = ()
    """(competitors' load, drop as a share of solo) in ascending order; linear between the points, flat outside."""
    engines: Mapping[str, EngineUser] = field(default_factory=dict)
    """By accelerator; times in 1/kpps, rates in kpps."""


def drops_of(residents: Sequence[Resident]) -> list[float]:
    """Drop of each resident as a share of its solo throughput, in the order given."""
    loads = [resident.memory_load for resident in residents]
    limits = _engine_limits(residents)
    found = []
    for at, resident in enumerate(residents):
        drops = [_memory_drop(resident, sum(loads) - loads[at])]
        for limit in limits[at]:
            drops.append(min(max(1.0 - limit / resident.solo, 0.0), _LARGEST_DROP))
        found.append(1.0 - compose(resident.pattern, 1.0, drops))
    return found


def _memory_drop(resident: Resident, load: float) -> float:
    if not resident.memory_curve:
        return 0.0
    loads, drops = zip(*resident.memory_curve, strict=True)
    return min(float(np.interp(load, loads, drops)), _LARGEST_DROP)


def _engine_limits(residents: Sequence[Resident]) -> list[list[float]]:
    """For each resident, the throughput that each of its accelerators allows."""
    limits: list[list[float]] = [[] for _ in residents]
    for engine in sorted({name for resident in residents for name in resident.engines}):
        users = [(at, resident.engines[engine]) for at, resident in enumerate(residents) if engine in resident.engines]
        for at, user in users:
            # What the function could get if it asked for all it can: the others keep their own demand.
            asked = [EngineUser(user.queues, user.service_time) if other == at else other_user for other, other_user in users]
            place = [other for other, _ in users].index(at)
            limits[at].append(throughput(asked)[place])
    return limits
