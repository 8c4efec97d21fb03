"""A threshold that other parameters move: measured at some of their values, and between them by interpolation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Any, Literal

from wallwatch.domain.lab.device import Parameter, Value, as_integer, is_same

Direction = Literal[">=", "<="]
TOLERANCE = 0.02
"""The share of a threshold by which the interpolated one may be off: what the specification allows on a noisy device."""

NOWHERE = 1e-12
"""A squared distance, in shares of the measured spans, that is none."""


@dataclass(frozen=True)
class Support:
    """Where the threshold was measured: values of the parameters that move it, and the first value that fails."""

    at: tuple[Value, ...]
    first_bad: int


@dataclass(frozen=True)
class Moving:
    """An integer reaches a threshold, which depends on the parameters `by`: choices, booleans and integers.

    Values of choices that were not measured together take the threshold of the measured ones that share most of them. Along integers it is
    interpolated on the scale of each parameter, and stays what it is beyond the outermost measurements.
    """

    main: Parameter
    op: Direction
    by: tuple[Parameter, ...]
    supports: tuple[Support, ...]
    usual: int
    """The threshold with the parameters `by` as in the healthy configuration."""

    @property
    def parameter(self) -> str:
        return self.main.name

    @property
    def parameters(self) -> tuple[str, ...]:
        return (self.main.name, *(one.name for one in self.by))

    def threshold(self, config: Mapping[str, Value]) -> int:
        """The first value that fails; one step past the end of the range where none does."""
        at = [config[one.name] for one in self.by]
        near = self._nearest(at)
        points = [[_place(p, value) for p, value in self._integers(one.at)] for one in near]
        places = [self.place(one.first_bad) for one in near]
        return self._value(_interpolated(points, places, [_place(p, value) for p, value in self._integers(at)]))

    def tolerance(self, threshold: int) -> int:
        """How far the threshold may be off, in values: a multiple of the step."""
        return tolerance_of(self.main, threshold)

    def holds(self, config: Mapping[str, Value]) -> bool:
        value, threshold = as_integer(config[self.main.name]), self.threshold(config)
        return value >= threshold if self.op == ">=" else value <= threshold

    def clear(self, config: Mapping[str, Value], is_bad: bool) -> int | None:
        """The value nearest to the threshold that is clear of it by the tolerance, on one side; None where the range ends before."""
        threshold = self.threshold(config)
        off = self.tolerance(threshold) + (0 if is_bad else self.main.step)
        value = threshold + (off if is_bad == (self.op == ">=") else -off)
        return value if self.main.minimum <= value <= self.main.maximum else None

    def end(self, is_bad: bool) -> int:
        """The end of the range on the side that fails, or the other."""
        return self.main.maximum if is_bad == (self.op == ">=") else self.main.minimum

    def with_support(self, support: Support) -> Moving:
        return replace(self, supports=(*self.supports, support))

    @property
    def is_moved(self) -> bool:
        """Whether the measured thresholds differ by more than the tolerance."""
        found = [one.first_bad for one in self.supports]
        return max(found) - min(found) > self.tolerance(min(found))

    def to_json(self) -> list[dict[str, Any]]:
        names = [one.name for one in self.by]
        ordered = sorted(self.supports, key=lambda one: [_rank(p, value) for p, value in zip(self.by, one.at, strict=True)])
        thresholds = [
            {"at": dict(zip(names, one.at, strict=True)), "value": one.first_bad if self.main.contains(one.first_bad) else None}
            for one in ordered
        ]
        return [{"parameter": self.main.name, "op": self.op, "value": self.usual, "moved_by": names, "thresholds": thresholds}]

    def place(self, value: int) -> float:
        """Where a value of the main parameter stands on its scale."""
        return _place(self.main, value)

    def _value(self, place: float) -> int:
        main = self.main
        value = math.exp(place) - 1 if _is_log(main) else place
        index = round((value - main.minimum) / main.step)
        low, high = (0, main.size) if self.op == ">=" else (-1, main.size - 1)
        return main.at(min(max(index, low), high))

    def _nearest(self, at: Sequence[Value]) -> list[Support]:
        """The supports that share most values of choices; all of the same values."""
        shared = [self._shared(one.at, at) for one in self.supports]
        best = self.supports[max(range(len(shared)), key=shared.__getitem__)]
        cell = [value for value, number in zip(best.at, self._is_integer, strict=True) if not number]
        return [one for one in self.supports if [v for v, number in zip(one.at, self._is_integer, strict=True) if not number] == cell]

    def _shared(self, one: Sequence[Value], other: Sequence[Value]) -> int:
        pairs = zip(one, other, self._is_integer, strict=True)
        return sum(not number and is_same(a, b) for a, b, number in pairs)

    @cached_property
    def _is_integer(self) -> tuple[bool, ...]:
        return tuple(one.kind == "integer" for one in self.by)

    def _integers(self, at: Sequence[Value]) -> list[tuple[Parameter, int]]:
        return [(p, as_integer(value)) for p, value in zip(self.by, at, strict=True) if p.kind == "integer"]


def tolerance_of(parameter: Parameter, threshold: int) -> int:
    """How far a threshold may be off where something else moves it, or the device is unsure: a multiple of the step."""
    return max(1, round(TOLERANCE * abs(threshold) / parameter.step)) * parameter.step


def _is_log(parameter: Parameter) -> bool:
    return parameter.logarithmic and parameter.minimum >= 0


def _place(parameter: Parameter, value: int) -> float:
    return math.log(max(value, 0) + 1) if _is_log(parameter) else float(value)


def _rank(parameter: Parameter, value: Value) -> float:
    if parameter.kind == "integer":
        return as_integer(value)
    return next(i for i, one in enumerate(parameter.values) if is_same(one, value))


def _interpolated(points: Sequence[Sequence[float]], places: Sequence[float], at: Sequence[float]) -> float:
    """Between points: along one axis linear, over several the mean weighted by the inverse square of the distance."""
    spans = [max(axis) - min(axis) for axis in zip(*points, strict=True)]
    moving = [i for i, span in enumerate(spans) if span > 0]
    if not moving:
        return median(places)
    if len(moving) == 1:
        axis = moving[0]
        return _linear(sorted(zip((one[axis] for one in points), places, strict=True)), at[axis])
    weights = []
    for point, place in zip(points, places, strict=True):
        distance = sum(((point[i] - at[i]) / spans[i]) ** 2 for i in moving)
        if distance < NOWHERE:
            return place
        weights.append(1 / distance)
    return math.fsum(weight * place for weight, place in zip(weights, places, strict=True)) / math.fsum(weights)


def _linear(points: Sequence[tuple[float, float]], at: float) -> float:
    """On the line through the two nearest points; beyond the outermost, their value."""
    if at <= points[0][0]:
        return points[0][1]
    for (low, first), (high, second) in pairwise(points):
        if at <= high:
            return second if high == low else first + (second - first) * (at - low) / (high - low)
    return points[-1][1]
