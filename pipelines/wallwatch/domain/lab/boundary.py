"""Boundaries over several integers: which product or sum of them decides, and at which value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from wallwatch.domain.lab.conditions import Boundary
from wallwatch.domain.lab.device import Config, as_integer
from wallwatch.domain.lab.moving import Direction

WEIGHTS = (1.0, 2.0, 0.5, 4.0, 0.25, 3.0, 8.0, 10.0, 0.1)
POWERS = (1.0, 2.0, 0.5, 3.0)
MOST_EXTREME_POWER = 10.0
BLUR = 0.02
"""The share of a boundary's value by which a device with noise may be on the wrong side of it."""


@dataclass(frozen=True)
class Crossing:
    """Two neighbouring configurations on both sides of the boundary."""

    good: Config
    bad: Config


def fit_boundary(names: Sequence[str], crossings: Sequence[Crossing]) -> Boundary | None:
    """The simplest expression over all the names that separates every good from every bad configuration; None if no known form does.

    Simple first: products of first powers, sums with weights of one, then other powers and weights. The value is the roundest number that
    the crossings allow.
    """
    for exponents, is_sum in _forms(names):
        boundary = _separating(exponents, is_sum, crossings)
        if boundary is not None:
            return boundary
    return _free_sum(names, crossings) or _blurred(names, crossings)


def _blurred(names: Sequence[str], crossings: Sequence[Crossing]) -> Boundary | None:
    """A product or sum of the names as they are that separates the crossings but for a small part of its value."""
    for exponents, is_sum in _forms(names)[: 2 ** len(names)]:
        probe = Boundary(exponents, is_sum, ">=", 0.0)
        good = [probe.expression_value(one.good) for one in crossings]
        bad = [probe.expression_value(one.bad) for one in crossings]
        if not all(map(math.isfinite, (*good, *bad))):
            continue
        middle = median(bad)
        if 0 <= max(good) - min(bad) <= BLUR * abs(middle):
            return Boundary(exponents, is_sum, ">=", float(f"{middle:.3g}"))
    return None


def _forms(names: Sequence[str]) -> list[tuple[tuple[tuple[str, float], ...], bool]]:
    forms = []
    for signs in itertools.product((1.0, -1.0), repeat=len(names) - 1):
        forms.append((tuple(zip(names, (1.0, *signs), strict=True)), False))
        forms.append((tuple(zip(names, (1.0, *signs), strict=True)), True))
    signs_of = list(itertools.product((1.0, -1.0), repeat=len(names) - 1))
    for is_sum, sizes in ((False, POWERS), (True, WEIGHTS)):
        for own in itertools.product(sizes, repeat=len(names)):
            if (own[0] != 1.0 and min(own) != 1.0) or len(set(own)) == 1:
                continue
            for signs in signs_of:
                forms.append((tuple(zip(names, (s * w for s, w in zip((1.0, *signs), own, strict=True)), strict=True)), is_sum))
    return forms


def _separating(exponents: tuple[tuple[str, float], ...], is_sum: bool, crossings: Sequence[Crossing]) -> Boundary | None:
    probe = Boundary(exponents, is_sum, ">=", 0.0)
    good = [probe.expression_value(one.good) for one in crossings]
    bad = [probe.expression_value(one.bad) for one in crossings]
    if not all(map(math.isfinite, (*good, *bad))):
        return None
    if max(good) < min(bad):
        return Boundary(exponents, is_sum, ">=", roundest(max(good), min(bad), ">="))
    if max(bad) < min(good):
        if is_sum or all(power > 0 for _, power in exponents):
            return Boundary(exponents, is_sum, "<=", roundest(max(bad), min(good), "<="))
        turned = tuple(sorted(((name, -power) for name, power in exponents), key=lambda one: -one[1]))
        return _separating(turned, is_sum, crossings)
    return None


def roundest(low: float, high: float, op: Direction) -> float:
    """The number of fewest digits in (low, high] for ">=", in [low, high) for "<="."""
    span = high - low
    for digits in range(16):
        place = 10.0 ** (math.floor(math.log10(max(abs(low), abs(high), 1e-300))) - digits)
        candidate = math.floor(high / place + 1e-12) * place if op == ">=" else math.ceil(low / place - 1e-12) * place
        candidate = round(candidate, 12) if abs(candidate) < 1e6 else float(round(candidate, 6))
        if (low < candidate <= high + 1e-9 * span) if op == ">=" else (low - 1e-9 * span <= candidate < high):
            return candidate
    return high if op == ">=" else low


def _free_sum(names: Sequence[str], crossings: Sequence[Crossing]) -> Boundary | None:
    """A product with powers or a sum with weights out of two crossings each, for pairs of parameters only."""
    if len(names) != 2:
        return None
    first, second = names
    on_lines = [one for one in crossings if sum(one.good[name] != one.bad[name] for name in names) == 1]
    for is_sum in (False, True):
        for one, other in itertools.combinations(on_lines, 2):
            a, b = (_middle(one, name, is_sum) for name in names)
            c, d = (_middle(other, name, is_sum) for name in names)
            if abs(d - b) < 1e-9:
                continue
            weight = (a - c) / (d - b)
            if (not is_sum and not MOST_EXTREME_POWER >= abs(weight) >= 1 / MOST_EXTREME_POWER) or weight == 0:
                continue
            for digits in (1, 2, 3):
                rounded = float(f"{weight:.{digits}g}")
                boundary = _separating(((first, 1.0), (second, rounded)), is_sum, crossings)
                if boundary is not None:
                    return boundary
    return None


def _middle(crossing: Crossing, name: str, is_sum: bool) -> float:
    values = (as_integer(crossing.good[name]), as_integer(crossing.bad[name]))
    if is_sum:
        return sum(values) / 2
    return math.log(max(sum(values) / 2, 1e-12))
