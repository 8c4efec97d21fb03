"""What can be set on a device: choices, booleans, integers and orders, as `dut/1` describes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

Value = Any
"""A JSON scalar; of a sequence a list of them."""
Config = dict[str, Value]
"""A value for every parameter of a device."""

LEVELS = 5
"""Levels per parameter of the brute force that the lab is compared with."""


@dataclass(frozen=True)
class Choice:
    """One of a few values: names, or numbers without an order of their own."""

    name: str
    component: str
    values: tuple[str | int, ...]

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.values)

    def contains(self, value: Value) -> bool:
        """Whether a value is in the domain."""
        return type(value) in (str, int) and value in self.values

    def draw(self, rng: Random) -> Value:
        """Any value."""
        return rng.choice(self.values)

    def position(self, value: Value) -> float:
        """Where a value lies, 0 to 1."""
        return self.values.index(value) / (len(self.values) - 1)

    def describe(self) -> dict[str, Any]:
        """As in `describe`."""
        return {"name": self.name, "kind": "choice", "component": self.component, "values": list(self.values)}


@dataclass(frozen=True)
class Boolean:
    """On or off."""

    name: str
    component: str

    @property
    def values(self) -> tuple[bool, ...]:
        """Both."""
        return (False, True)

    @property
    def count(self) -> int:
        """How many values there are."""
        return 2

    def contains(self, value: Value) -> bool:
        """Whether a value is in the domain."""
        return isinstance(value, bool)

    def draw(self, rng: Random) -> Value:
        """Any value."""
        return rng.random() < 0.5

    def position(self, value: Value) -> float:
        """Where a value lies, 0 or 1."""
        return float(value)

    def describe(self) -> dict[str, Any]:
        """As in `describe`."""
        return {"name": self.name, "kind": "boolean", "component": self.component}


@dataclass(frozen=True)
class Integer:
    """`low`, `low + step`, ... up to `high`."""

    name: str
    component: str
    low: int
    high: int
    step: int = 1
    log: bool = False
    unit: str = ""

    @property
    def count(self) -> int:
        """How many values there are."""
        return (self.high - self.low) // self.step + 1

    def contains(self, value: Value) -> bool:
        """Whether a value is in the domain; `True` is not the integer 1."""
        return type(value) is int and self.low <= value <= self.high and (value - self.low) % self.step == 0

    def at(self, position: float) -> int:
        """The value at a position from 0 (`low`) to 1 (`high`), on the parameter's scale."""
        wanted = self.low * (self.high / self.low) ** position if self.log else self.low + (self.high - self.low) * position
        return self.nearest(wanted)

    def nearest(self, wanted: float) -> int:
        """The value of the domain next to a number."""
        steps = min(max(round((wanted - self.low) / self.step), 0), self.count - 1)
        return self.low + steps * self.step

    def position(self, value: Value) -> float:
        """Where a value lies, 0 to 1, on the parameter's scale."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return float((value - self.low) / (self.high - self.low))

    def draw(self, rng: Random) -> Value:
        """Any value, evenly on the parameter's scale."""
        return self.at(rng.random())

    def describe(self) -> dict[str, Any]:
        """As in `describe`."""
        entry: dict[str, Any] = {"name": self.name, "kind": "integer", "component": self.component}
        entry |= {"min": self.low, "max": self.high, "step": self.step}
        return entry | ({"scale": "log"} if self.log else {}) | ({"unit": self.unit} if self.unit else {})


@dataclass(frozen=True)
class Order:
    """A permutation of some events."""

    name: str
    component: str
    values: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many orders there are."""
        return math.factorial(len(self.values))

    def contains(self, value: Value) -> bool:
        """Whether a value is in the domain."""
        return isinstance(value, list) and all(isinstance(event, str) for event in value) and sorted(value) == sorted(self.values)

    def draw(self, rng: Random) -> Value:
        """Any order."""
        return rng.sample(self.values, len(self.values))

    def position(self, value: Value) -> float:
        """An order has no place on an axis: whether it starts with the first event."""
        return float(value[0] != self.values[0])

    def describe(self) -> dict[str, Any]:
        """As in `describe`."""
        return {"name": self.name, "kind": "sequence", "component": self.component, "values": list(self.values)}


Parameter = Choice | Boolean | Integer | Order


def brute_force(parameters: tuple[Parameter, ...]) -> int:
    """Tests that trying every combination of at most five levels per parameter takes."""
    return math.prod(min(LEVELS, one.count) for one in parameters)
