"""What to measure next before a placement is carried out: the loads at which its functions may break their SLAs, or may not.

A measurement far from an SLA changes no decision. So the next ones go to those functions and competitors' loads that a daring placement
would use and for which the outcome is least certain: whether they can be used is what has to be known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wallwatch.domain.contention.placement import Kind, in_order
from wallwatch.domain.contention.sharing import Batch, Resident

DARING = 0.05
"""The risk of the placement whose cards are worth measuring: a careful one avoids what is uncertain, and would learn nothing of it."""
ALONE = 0.4
"""Share of the measurements of a function that it gets alone: a drop compares with them."""
_LEAST_DOUBT = 1e-3
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """Measure the function so often at this load of its competitors (0 is alone)."""

    function: str
    memory_load: float
    repeats: int


def next_measurements(cards: Iterable[Sequence[Kind]], residents: Mapping[Kind, Resident], count: int) -> list[Wanted]:
    """At most `count` measurements, by function and load; empty where all outcomes are certain or no curve states its errors."""
    doubts: dict[Kind, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    for card in cards:
        key = in_order(card)
        if len(key) < 2:
            continue
        here = [residents[kind] for kind in key]
        whole = sum(resident.memory_load for resident in here)
        chances = Batch(here).chances(np.arange(len(key)).reshape(1, -1))[0]
        for kind, resident, chance in zip(key, here, chances, strict=True):
            doubt = min(float(chance), 1.0 - float(chance))
            if resident.memory_errors and doubt > _LEAST_DOUBT:
                load = whole - resident.memory_load
                doubts[kind][float(f"{load:.{_DIGITS}g}")] += doubt
    kinds = in_order(doubts)
    shares = _whole([sum(doubts[kind].values()) for kind in kinds], count)
    found: list[Wanted] = []
    for kind, share in zip(kinds, shares, strict=True):
        loads = sorted(doubts[kind])
        alone = max(1, round(ALONE * share)) if share > 1 else 0
        repeats = _whole([doubts[kind][load] for load in loads], share - alone)
        found += [Wanted(kind.name, load, number) for load, number in zip([0.0, *loads], [alone, *repeats], strict=True) if number]
    return found


def _whole(weights: Sequence[float], total: int) -> list[int]:
    """Divide a number by weights, in whole numbers that add up to it (largest remainder).

    >>> _whole([1.0, 1.0, 2.0], 5)
    [1, 1, 3]
    """
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    exact = [total * weight / whole for weight in weights]
    found = [int(value) for value in exact]
    by_rest = sorted(range(len(exact)), key=lambda at: (found[at] - exact[at], -at))
    for at in by_rest[: total - sum(found)]:
        found[at] += 1
    return found
