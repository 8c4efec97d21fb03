"""Conditions on a configuration and causes made of them, in the form of a lab's report (protocol dut/1)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from wallwatch.domain.lab.device import Scalar, Value, as_integer, as_order, is_among
from wallwatch.domain.lab.moving import Direction, Moving


@dataclass(frozen=True)
class Among:
    """A choice, boolean or sequence member has one of these values. `all_values` tells "!=" from "in"."""

    parameter: str
    values: Collection[Scalar] = field(compare=False)
    all_values: tuple[Scalar, ...]
    _positions: frozenset[int] = field(init=False, repr=False)
    """The places of the values among all: sets of values would hold 1 and True to be equal."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_positions", frozenset(i for i, one in enumerate(self.all_values) if is_among(one, self.values)))
        object.__setattr__(self, "values", tuple(one for i, one in enumerate(self.all_values) if i in self._positions))

    @property
    def parameters(self) -> tuple[str, ...]:
        return (self.parameter,)

    def holds(self, config: Mapping[str, Value]) -> bool:
        return self.accepts(config[self.parameter])

    def accepts(self, value: Value) -> bool:
        return is_among(value, self.values)

    @property
    def others(self) -> tuple[Scalar, ...]:
        """The values that it does not accept."""
        return tuple(one for i, one in enumerate(self.all_values) if i not in self._positions)

    def to_json(self) -> list[dict[str, Any]]:
        values = list(self.values)
        if len(values) == 1:
            return [{"parameter": self.parameter, "op": "==", "value": values[0]}]
        if len(self.others) == 1:
            return [{"parameter": self.parameter, "op": "!=", "value": self.others[0]}]
        return [{"parameter": self.parameter, "op": "in", "value": values}]


@dataclass(frozen=True)
class Range:
    """An integer lies between two values, both inside; None is no bound."""

    parameter: str
    low: int | None
    high: int | None

    @property
    def parameters(self) -> tuple[str, ...]:
        return (self.parameter,)

    def holds(self, config: Mapping[str, Value]) -> bool:
        value = as_integer(config[self.parameter])
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def to_json(self) -> list[dict[str, Any]]:
        found = []
        if self.low is not None:
            found.append({"parameter": self.parameter, "op": ">=", "value": self.low})
        if self.high is not None:
            found.append({"parameter": self.parameter, "op": "<=", "value": self.high})
        return found


@dataclass(frozen=True)
class Before:
    """`first` comes before `second` in a sequence."""

    parameter: str
    first: Scalar
    second: Scalar

    @property
    def parameters(self) -> tuple[str, ...]:
        return (self.parameter,)

    def holds(self, config: Mapping[str, Value]) -> bool:
        order = as_order(config[self.parameter])
        return order.index(self.first) < order.index(self.second)

    def to_json(self) -> list[dict[str, Any]]:
        return [{"parameter": self.parameter, "op": "before", "value": [self.first, self.second]}]


@dataclass(frozen=True)
class Boundary:
    """An expression over several integers reaches a value.

    Either a product of powers (`exponents`, of values as they are) or, with `is_sum`, a weighted sum.
    """

    exponents: tuple[tuple[str, float], ...]
    is_sum: bool
    op: Direction
    value: float

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.exponents)

    def expression_value(self, config: Mapping[str, Value]) -> float:
        if self.is_sum:
            return math.fsum(weight * as_integer(config[name]) for name, weight in self.exponents)
        product = 1.0
        for name, power in self.exponents:
            base = as_integer(config[name])
            if base == 0 and power < 0:
                return math.inf
            try:
                product *= float(base) ** power
            except OverflowError:
                return math.inf
        return product

    def depth(self, config: Mapping[str, Value]) -> float:
        """How far a configuration is beyond the boundary, or, when negative, on this side of it."""
        beyond = self.expression_value(config) - self.value
        return beyond if self.op == ">=" else -beyond

    def holds(self, config: Mapping[str, Value]) -> bool:
        reached = self.expression_value(config)
        slack = 1e-9 * max(abs(self.value), abs(reached), 1e-9) if math.isfinite(reached) else 0.0
        return reached >= self.value - slack if self.op == ">=" else reached <= self.value + slack

    @property
    def expression(self) -> str:
        """As people write it: `a*b`, `a/b`, `a+2*b`."""
        return _sum_text(self.exponents) if self.is_sum else _product_text(self.exponents)

    def to_json(self) -> list[dict[str, Any]]:
        value = int(self.value) if float(self.value).is_integer() else self.value
        return [{"parameter": None, "op": self.op, "expression": self.expression, "value": value}]


Condition = Among | Range | Before | Boundary | Moving


@dataclass(frozen=True)
class Signal:
    """What a test can show: a symptom, or a metric that is worse without one."""

    symptom: str | None
    metric: str | None = None

    def __str__(self) -> str:
        return self.symptom or f"degradation of {self.metric}"


@dataclass(frozen=True)
class Cause:
    """All conditions together make the signal appear."""

    signal: Signal
    conditions: tuple[Condition, ...]

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(name for one in self.conditions for name in one.parameters)

    def holds(self, config: Mapping[str, Value]) -> bool:
        return all(one.holds(config) for one in self.conditions)

    def conditions_json(self) -> list[dict[str, Any]]:
        return [entry for one in self.conditions for entry in one.to_json()]


def _coefficient(value: float) -> str:
    return f"{value:g}"


def _sum_text(weights: tuple[tuple[str, float], ...]) -> str:
    text = ""
    for name, weight in weights:
        sign = "-" if weight < 0 else "+" if text else ""
        text += sign + (name if abs(weight) == 1 else f"{_coefficient(abs(weight))}*{name}")
    return text


def _product_text(powers: tuple[tuple[str, float], ...]) -> str:
    def factor(name: str, power: float) -> str:
        return name if power == 1 else f"{name}**{_coefficient(power)}"

    above = "*".join(factor(name, power) for name, power in powers if power > 0) or "1"
    below = "".join("/" + factor(name, -power) for name, power in powers if power < 0)
    return above + below
