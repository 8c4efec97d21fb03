"""What is usual for one RNIC, learned from its own past: slow means and least values. Pure."""

from __future__ import annotations

import math
from typing import Any

TIME_CONSTANT_S = 300.0
"""Chosen: longer than a burst of congestion, shorter than a job, so that a mean is that of the load as it is."""

LEARNED_S = 60.0
"""A mean is used once it covers this much time."""

LEAST_GROWS_PER_S = 1.0 / 3600.0
"""A minimum grows at this rate (doubles in about an hour), so that a single outlier is forgotten."""

Least = dict[str, list[Any]]
"""`{name: [ms, least value]}`."""


NO_TIME = -1
"""Of a mean that has no value yet."""


class Mean:
    """A slow mean, moved by each value that it takes."""

    __slots__ = ("at_ms", "learned_s", "usual")

    def __init__(self, at_ms: int = NO_TIME, usual: float = 0.0, learned_s: float = 0.0) -> None:
        self.at_ms = at_ms
        self.usual = usual
        self.learned_s = learned_s

    def take(self, value: float, at_ms: int) -> float | None:
        """The mean *before* this value, None while it is not learned; then the value moves it."""
        if self.at_ms == NO_TIME:
            self.at_ms, self.usual = at_ms, value
            return None
        before, learned_s = self.usual, self.learned_s
        elapsed_s = (at_ms - self.at_ms) / 1000.0
        if elapsed_s > 0.0:
            # While little has been learned, each value counts as much as those before it.
            weight = 1.0 - math.exp(-elapsed_s / min(TIME_CONSTANT_S, max(learned_s, elapsed_s)))
            self.at_ms = at_ms
            self.usual = before + weight * (value - before)
            self.learned_s = min(learned_s + elapsed_s, TIME_CONSTANT_S)
        return before if learned_s >= LEARNED_S else None

    def plain(self) -> list[Any]:
        """The arguments of a mean like this one."""
        return [self.at_ms, self.usual, self.learned_s]


def least(kept: Least, name: str, value: float, at_ms: int) -> None:
    """Remember the least value, which slowly grows while nothing less is seen."""
    before = kept.get(name)
    if before is not None:
        grown = before[1] * (1.0 + max(at_ms - before[0], 0) / 1000.0 * LEAST_GROWS_PER_S)
        value = min(value, grown)
    kept[name] = [at_ms, value]


def least_of(kept: Least | None, name: str) -> float | None:
    """The least value so far."""
    found = None if kept is None else kept.get(name)
    return None if found is None else float(found[1])
