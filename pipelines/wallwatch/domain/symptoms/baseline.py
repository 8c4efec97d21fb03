"""What is usual for one RNIC, learned from its own past: slow means, least and greatest values. Pure, in the RNIC's part of the state."""

from __future__ import annotations

import math
from typing import Any

TIME_CONSTANT_S = 300.0
"""Chosen: longer than a burst of congestion, shorter than a job, so that a mean is that of the load as it is."""

LEARNED_S = 60.0
"""A mean is used once it covers this much time."""

LEAST_GROWS_PER_S = 1.0 / 3600.0
"""A minimum grows at this rate (doubles in about an hour), so that a single outlier is forgotten."""


def mean(rnic_state: dict[str, Any], name: str, value: float, at_ms: int) -> float | None:
    """The slow mean *before* this value, None while it is not learned; then the value moves it."""
    kept = rnic_state.setdefault("mean", {})
    before = kept.get(name)
    if before is None:
        kept[name] = [at_ms, value, 0.0]
        return None
    then_ms, usual, learned_s = before
    elapsed_s = (at_ms - then_ms) / 1000.0
    if elapsed_s <= 0.0:
        return usual if learned_s >= LEARNED_S else None
    # While little has been learned, each value counts as much as those before it.
    weight = 1.0 - math.exp(-elapsed_s / min(TIME_CONSTANT_S, max(learned_s, elapsed_s)))
    kept[name] = [at_ms, usual + weight * (value - usual), min(learned_s + elapsed_s, TIME_CONSTANT_S)]
    return usual if learned_s >= LEARNED_S else None


def least(rnic_state: dict[str, Any], name: str, value: float, at_ms: int) -> None:
    """Remember the least value, which slowly grows while nothing less is seen."""
    kept = rnic_state.setdefault("least", {})
    before = kept.get(name)
    if before is not None:
        grown = before[1] * (1.0 + max(at_ms - before[0], 0) / 1000.0 * LEAST_GROWS_PER_S)
        value = min(value, grown)
    kept[name] = [at_ms, value]


def least_of(rnic_state: dict[str, Any], name: str) -> float | None:
    """The least value so far."""
    found = rnic_state.get("least", {}).get(name)
    return None if found is None else float(found[1])


def most(rnic_state: dict[str, Any], name: str, value: float) -> float:
    """Update and return the greatest value."""
    kept = rnic_state.setdefault("most", {})
    found = kept[name] = max(kept.get(name, 0.0), value)
    return float(found)
