"""From throughput under contention of each resource to that of the function, by execution pattern (Yala, section 4.2).

Notation: `solo` is the throughput alone, `drops[k]` what contention of resource `k` alone takes from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Pattern(StrEnum):
    """How packets meet the resources."""

    PIPELINE = "pipeline"
    """Stages work on different packets at the same time: the slowest decides."""
    RUN_TO_COMPLETION = "run_to_completion"
    """One core takes a packet through all resources: their times add up."""


UNDECIDED_WITHIN = 0.10
"""Patterns whose errors differ by less than this share of the larger one are not distinguished."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A co-run that contends all resources at once, with the drops that each of them alone would cause."""

    solo: float
    drops: tuple[float, ...]
    throughput: float


@dataclass(frozen=True, slots=True)
class Detected:
    """`pattern` is None while undecided. Errors are mean absolute shares of the measured throughput."""

    pattern: Pattern | None
    errors: Mapping[Pattern, float]
    margin: float
    """1 - smaller error / larger error."""


def pipeline(solo: float, drops: Sequence[float]) -> float:
    """
    >>> pipeline(100.0, [20.0, 30.0])
    70.0
    """
    _check(solo, drops)
    return solo - max(drops, default=0.0)


def run_to_completion(solo: float, drops: Sequence[float]) -> float:
    """
    >>> round(run_to_completion(100.0, [50.0, 50.0]), 6)
    33.333333
    """
    _check(solo, drops)
    return 1.0 / (sum(1.0 / (solo - drop) for drop in drops) - (len(drops) - 1) / solo) if drops else solo


def summed(solo: float, drops: Sequence[float]) -> float:
    """Baseline of the paper's table 4: all drops together."""
    return max(solo - sum(drops), 0.0)


FORMULAS: Mapping[Pattern, Callable[[float, Sequence[float]], float]] = {
    Pattern.PIPELINE: pipeline,
    Pattern.RUN_TO_COMPLETION: run_to_completion,
}


def compose(pattern: Pattern, solo: float, drops: Sequence[float]) -> float:
    """Throughput under contention of all resources."""
    return FORMULAS[pattern](solo, drops)


def mixed(solo: float, stages: Sequence[tuple[Pattern, float]]) -> float:
    """Throughput of a chain of stages, each `(pattern, drop)`.

    Neighbouring run-to-completion stages share a core and merge into one; so do the last and the first, because packets go round. The
    slowest of what remains decides.
    """
    groups: list[tuple[Pattern, list[float]]] = []
    for pattern, drop in stages:
        if groups and pattern is Pattern.RUN_TO_COMPLETION and groups[-1][0] is pattern:
            groups[-1][1].append(drop)
        else:
            groups.append((pattern, [drop]))
    if len(groups) > 1 and groups[0][0] is groups[-1][0] is Pattern.RUN_TO_COMPLETION:
        groups[0][1].extend(groups.pop()[1])
    return min((compose(pattern, solo, drops) for pattern, drops in groups), default=solo)


def detect(observations: Sequence[Observation]) -> Detected:
    """The pattern whose formula is closer to the observations.

    Observations in which fewer than two resources contend fit both formulas and are useless here.
    """
    errors = {
        pattern: sum(abs(formula(seen.solo, seen.drops) - seen.throughput) / seen.throughput for seen in observations)
        / max(len(observations), 1)
        for pattern, formula in FORMULAS.items()
    }
    low, high = min(errors.values()), max(errors.values())
    margin = 1.0 - low / high if high > 0 else 0.0
    closer = min(errors, key=lambda pattern: errors[pattern])
    return Detected(closer if margin >= UNDECIDED_WITHIN else None, errors, margin)


def _check(solo: float, drops: Sequence[float]) -> None:
    if not solo > 0:
        raise ValueError(f"solo throughput must be positive, not {solo}")
    for drop in drops:
        if not 0 <= drop < solo:
            raise ValueError(f"a drop must be at least 0 and below the solo throughput {solo:g}, not {drop:g}")
