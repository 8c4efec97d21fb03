"""Which resource binds a function, what contention of it costs, and who causes it (Yala, section 7.5.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite

from wallwatch.domain.contention.composition import Pattern, compose

_NOTHING = 0.005
"""A largest drop below this share of the solo throughput is no contention."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Rates in the unit of the input."""

    bottleneck: str | None
    """The resource whose contention costs most; None when nothing contends."""
    throughput: float
    without: Mapping[str, float]
    """Throughput if this resource alone had no contention."""
    comes_back: float
    """How much of it the bottleneck's contention takes: `without[bottleneck] - throughput`."""
    shares: Mapping[str, float]
    """Of the contention's cost by resource; they add up to 1, or are all 0.

    Pipeline: the binding resource has all. Run to completion: shares of the time added to each packet.
    """


def diagnose(pattern: Pattern, solo: float, contended: Mapping[str, float]) -> Diagnosis:
    """Diagnose from `contended[k]`, the throughput if only resource `k` were contended, each in (0, solo] or above (then no contention).

    >>> found = diagnose(Pattern.PIPELINE, 100.0, {"memory": 80.0, "regex": 60.0})
    >>> found.bottleneck, found.throughput, found.comes_back
    ('regex', 60.0, 20.0)
    """
    drops = {name: max(solo - value, 0.0) for name, value in contended.items()}
    throughput = compose(pattern, solo, list(drops.values()))
    without = {name: compose(pattern, solo, [drop for other, drop in drops.items() if other != name]) for name in drops}
    worst = max(drops, key=lambda name: drops[name], default=None)
    if worst is None or drops[worst] < _NOTHING * solo:
        return Diagnosis(None, throughput, without, 0.0, dict.fromkeys(drops, 0.0))
    if pattern is Pattern.PIPELINE:
        shares = {name: float(name == worst) for name in drops}
    else:
        added = {name: 1.0 / (solo - drop) - 1.0 / solo for name, drop in drops.items()}
        whole = sum(added.values())
        shares = {name: time / whole for name, time in added.items()}
    return Diagnosis(worst, throughput, without, without[worst] - throughput, shares)


def contributions(competitors: Sequence[str], throughput_without: Callable[[int | None], float]) -> dict[str, float]:
    """What each competitor takes: throughput with all but this one, minus that with all. May be 0 for all when two cost the same.

    Parameters
    ----------
    throughput_without
        Predicts without the competitor at this place; None is with all.
    """
    present = throughput_without(None)
    found: dict[str, float] = {}
    for at, name in enumerate(competitors):
        found[name] = found.get(name, 0.0) + max(throughput_without(at) - present, 0.0)
    return found


def shift_at(other_limit: float, competitors_times: float, t0: float, a: float, queues: int = 1) -> float | None:
    """The match-to-byte ratio at which the accelerator becomes the slower of two stages: below it the other resource binds.

    Solves `queues / (queues (t0 + a m) + competitors_times) = other_limit`. None when it binds at every ratio, or at none.

    >>> round(shift_at(1000.0, 0.0, 1e-4, 1e-6), 6)
    900.0
    """
    if a <= 0 or not isfinite(other_limit) or other_limit <= 0:
        return None
    ratio = (1.0 / other_limit - competitors_times / queues - t0) / a
    return ratio if 0 <= ratio < inf else None
