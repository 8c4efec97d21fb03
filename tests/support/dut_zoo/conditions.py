"""What has to hold for a fault: conditions on one parameter, on an order, or on an expression of several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dut_zoo.parameters import Boolean, Choice, Config, Integer, Parameter, Value


@dataclass(frozen=True)
class Condition:
    """`parameter op value`: `==`, `in`, `!=`, `>=`, `<=`, or `before` with the pair (first, later)."""

    parameter: str
    op: str
    value: Value

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that it looks at."""
        return (self.parameter,)

    def holds(self, config: Config) -> bool:
        """Whether a configuration meets it."""
        return self.accepts(config[self.parameter])

    def accepts(self, actual: Value) -> bool:
        """Whether a value of its parameter meets it."""
        match self.op:
            case ">=":
                return bool(actual >= self.value)
            case "<=":
                return bool(actual <= self.value)
            case "==":
                return bool(actual == self.value)
            case "!=":
                return bool(actual != self.value)
            case "in":
                return actual in self.value
            case _:
                first, later = self.value
                return bool(actual.index(first) < actual.index(later))

    def report(self) -> dict[str, Any]:
        """As a lab reports it."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"parameter": self.parameter, "op": self.op, "value": value}


@dataclass(frozen=True)
class Boundary:
    """`expression >= value`: a product, a sum or a ratio of integers."""

    form: str
    """`*`, `+` or `/` (the first over the second)."""
    names: tuple[str, ...]
    value: float

    @property
    def expression(self) -> str:
        """As a lab writes it."""
        return self.form.join(self.names)

    def of(self, config: Config) -> float:
        """The expression's value for a configuration."""
        numbers: list[int] = [config[name] for name in self.names]
        if self.form == "*":
            return math.prod(numbers)
        if self.form == "+":
            return sum(numbers)
        return float(numbers[0] / numbers[1])

    def holds(self, config: Config) -> bool:
        """Whether a configuration meets it."""
        return self.of(config) >= self.value

    def report(self) -> dict[str, Any]:
        """As a lab reports it."""
        return {"parameter": None, "op": ">=", "expression": self.expression, "value": self.value}


Requirement = Condition | Boundary


def share(parameter: Parameter, conditions: list[Condition]) -> float:
    """How often conditions on one parameter hold together, for values drawn evenly or of five levels, whichever finds them more often."""
    if isinstance(parameter, Integer):
        places = [[(place + 0.5) / 100 for place in range(100)], [0.0, 0.25, 0.5, 0.75, 1.0]]
        values = [[parameter.at(place) for place in some] for some in places]
        return max(sum(all(one.accepts(value) for one in conditions) for value in some) / len(some) for some in values)
    if isinstance(parameter, (Choice, Boolean)):
        return sum(all(one.accepts(value) for one in conditions) for value in parameter.values) / parameter.count
    return 0.5 ** len(conditions)
