"""What a device under test says of itself: parameters, metrics, symptoms, topology (protocol dut/1, docs/lab.md)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

PROTOCOL = "dut/1"
Scalar = bool | int | float | str | None
Value = Scalar | tuple[Scalar, ...]
"""A parameter's value; a sequence's is a tuple."""
Config = dict[str, Value]
Kind = Literal["choice", "boolean", "integer", "sequence"]
KINDS: tuple[Kind, ...] = ("choice", "boolean", "integer", "sequence")
NUMBER_OF_LEVELS = 5
"""Levels of an integer that brute force would try."""
LONGEST_TEST_S = 1e9
"""A device that says that a test takes longer says nothing of use."""


class DescriptionError(ValueError):
    """A description that cannot be used; `problems` says all that is wrong with it."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("the device's description cannot be used: " + "; ".join(problems))


@dataclass(frozen=True)
class Parameter:
    """One setting of the device.

    `values` are those of a choice or boolean, or the members of a sequence; an integer has `minimum`, `maximum` and `step`.
    """

    name: str
    kind: Kind
    component: str = ""
    values: tuple[Scalar, ...] = ()
    minimum: int = 0
    maximum: int = 0
    step: int = 1
    logarithmic: bool = False
    unit: str = ""

    @cached_property
    def size(self) -> int:
        """The number of values."""
        if self.kind == "integer":
            return (self.maximum - self.minimum) // self.step + 1
        return math.factorial(len(self.values)) if self.kind == "sequence" else len(self.values)

    def at(self, index: int) -> int:
        """The integer value number `index`, from 0."""
        return self.minimum + index * self.step

    def index(self, value: int) -> int:
        return (value - self.minimum) // self.step

    def contains(self, value: object) -> bool:
        if self.kind == "integer":
            return type(value) is int and self.minimum <= value <= self.maximum and (value - self.minimum) % self.step == 0
        if self.kind == "sequence":
            return isinstance(value, tuple) and sorted(map(repr, value)) == sorted(map(repr, self.values))  # a member may be unhashable
        return any(value == one and type(value) is type(one) for one in self.values)  # any object, not only a value

    def between(self, low: int, high: int, share: float) -> int:
        """The value at a share (0..1) of the way between two, on the parameter's scale."""
        if self.logarithmic and low >= 0:
            value = math.exp(math.log(low + 1) + share * (math.log(high + 1) - math.log(low + 1))) - 1
        else:
            value = low + share * (high - low)
        return self.at(min(max(round((value - self.minimum) / self.step), 0), self.size - 1))

    def levels(self, low: int, high: int) -> tuple[int, ...]:
        """Up to five values of an integer between two of its values: both ends and the quarters."""
        if (high - low) // self.step < NUMBER_OF_LEVELS:
            return tuple(range(low, high + 1, self.step))
        return tuple(sorted({self.between(low, high, i / (NUMBER_OF_LEVELS - 1)) for i in range(NUMBER_OF_LEVELS)}))

    @property
    def brute_force_levels(self) -> int:
        """How many values brute force would try of it."""
        return len(self.levels(self.minimum, self.maximum)) if self.kind == "integer" else self.size


def brute_force_tests(parameters: Iterable[Parameter]) -> int:
    """The number of combinations of the levels of these parameters; 1 for none, which is the default alone."""
    return math.prod(one.brute_force_levels for one in parameters)


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str = ""
    better: Literal["higher", "lower"] = "higher"


@dataclass(frozen=True)
class Edge:
    """A way from one node to another, open when every parameter in `when` has that value."""

    source: str
    target: str
    when: Mapping[str, Value]


@dataclass(frozen=True)
class Topology:
    entries: tuple[str, ...]
    exits: frozenset[str]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Device:
    """A device under test. `default` holds a value of every parameter."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    metrics: tuple[Metric, ...]
    symptoms: tuple[str, ...]
    default: Config
    topology: Topology | None = None
    sequential: bool = False
    seconds_per_test: float | None = None

    @cached_property
    def by_name(self) -> dict[str, Parameter]:
        return {one.name: one for one in self.parameters}

    @cached_property
    def metric(self) -> dict[str, Metric]:
        return {one.name: one for one in self.metrics}

    @property
    def brute_force(self) -> int:
        """The number of tests of all combinations of five levels of each integer and all values of the others."""
        return brute_force_tests(self.parameters)

    def varied(self, only: Sequence[str]) -> tuple[Parameter, ...]:
        """Parameters that a search varies: those named, or without names all; never one that has a single value."""
        return tuple(one for one in self.parameters if (not only or one.name in only) and one.brute_force_levels > 1)

    def key(self, config: Mapping[str, Value]) -> tuple[Value, ...]:
        """A configuration as a hashable value, which `config_of` reads."""
        values = tuple(config[one.name] for one in self.parameters)
        return (*values, *(type(config[name]).__name__ for name in self._ambiguous)) if self._ambiguous else values

    def config_of(self, key: tuple[Value, ...]) -> Config:
        """The configuration of a key."""
        return dict(zip(self.by_name, key, strict=False))

    @cached_property
    def _ambiguous(self) -> tuple[str, ...]:
        """Choices with values that only their type tells apart, such as 1 and true: keys hold the type too."""
        return tuple(one.name for one in self.parameters if one.kind == "choice" and len(set(one.values)) < len(one.values))


def is_same(a: Value, b: Value) -> bool:
    """Whether two values are one: in JSON, 1 and true are not."""
    return type(a) is type(b) and a == b


def is_among(value: Value, several: Iterable[Value]) -> bool:
    """Whether a value is one of several."""
    return any(is_same(value, one) for one in several)


def as_integer(value: Value) -> int:
    """The value of an integer parameter."""
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no integer")
    return value


def as_order(value: Value) -> tuple[Scalar, ...]:
    """The value of a sequence."""
    if not isinstance(value, tuple):
        raise TypeError(f"{value!r} is no sequence")
    return value


def as_scalar(value: Value) -> Scalar:
    """The value of a choice or boolean."""
    if isinstance(value, tuple):
        raise TypeError(f"{value!r} is a sequence")
    return value


def to_json(config: Mapping[str, Value]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in config.items()}


def from_json(device: Device, raw: Mapping[str, Any]) -> Config:
    """A configuration of the device; parameters left out take their default.

    Raises
    ------
    DescriptionError
        a name or value that the device does not have
    """
    config, problems = dict(device.default), []
    for name, value in raw.items():
        converted = tuple(value) if isinstance(value, list) else value
        parameter = device.by_name.get(name)
        if parameter is None:
            problems.append(f"it has no parameter {name!r}")
        elif not parameter.contains(converted):
            problems.append(f"{name} cannot be {value!r}")
        else:
            config[name] = converted
    if problems:
        raise DescriptionError(problems)
    return config


def parse_device(raw: object) -> Device:
    """Read the answer to `describe`.

    Raises
    ------
    DescriptionError
        naming everything that is wrong
    """
    return _Reader().device(raw)


class _Reader:
    """Reads a description and collects what is wrong with it."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def device(self, raw: object) -> Device:
        if not isinstance(raw, dict):
            raise DescriptionError([f"it must be a JSON object, not {type(raw).__name__}"])
        if raw.get("protocol") != PROTOCOL:
            self.problems.append(f"protocol is {raw.get('protocol')!r}; it must be {PROTOCOL!r}")
        parameters = [self.parameter(i, one) for i, one in enumerate(self.objects(raw, "parameters"))]
        kept = tuple(one for one in parameters if one is not None)
        self.unique("parameter", [one.name for one in kept])
        if not raw.get("parameters"):
            self.problems.append("it has no parameters")
        metrics = tuple(self.metric(one) for one in self.objects(raw, "metrics"))
        self.unique("metric", [one.name for one in metrics])
        symptoms = tuple(str(one) for one in self.list(raw, "symptoms"))
        default = self.default(raw.get("default"), kept)
        topology = self.topology(raw.get("topology"), {one.name: one for one in kept})
        seconds = raw.get("seconds_per_test")
        if self.problems:
            raise DescriptionError(self.problems)
        return Device(
            name=str(raw.get("name") or "device"),
            description=str(raw.get("description") or ""),
            parameters=kept,
            metrics=metrics,
            symptoms=symptoms,
            default=default,
            topology=topology,
            sequential=raw.get("sequential") is True,
            seconds_per_test=float(seconds) if isinstance(seconds, int | float) and 0 < seconds < LONGEST_TEST_S else None,
        )

    def list(self, raw: Mapping[str, Any], name: str) -> list[Any]:
        value = raw.get(name)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        self.problems.append(f"{name} must be a list")
        return []

    def objects(self, raw: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
        for one in self.list(raw, name):
            if isinstance(one, dict):
                yield one
            else:
                self.problems.append(f"{name} holds {one!r}, which is no object")

    def unique(self, what: str, names: Sequence[str]) -> None:
        for name in sorted({one for one in names if names.count(one) > 1}):
            self.problems.append(f"two {what}s are named {name!r}")

    def parameter(self, number: int, raw: Mapping[str, Any]) -> Parameter | None:
        name, kind = raw.get("name"), raw.get("kind")
        if not isinstance(name, str) or not name:
            self.problems.append(f"parameter {number + 1} has no name")
            return None
        common: dict[str, Any] = {"name": name, "component": str(raw.get("component") or ""), "unit": str(raw.get("unit") or "")}
        if kind == "boolean":
            return Parameter(kind="boolean", values=(False, True), **common)
        if kind == "integer":
            return self.integer(raw, common)
        if kind in ("choice", "sequence"):
            values = raw.get("values")
            if not isinstance(values, list) or not values or any(isinstance(one, list | dict) for one in values):
                self.problems.append(f"{name}: values must be a list of one scalar or more")
                return None
            if len(set(map(repr, values))) < len(values):
                self.problems.append(f"{name}: a value occurs twice")
            return Parameter(kind=kind, values=tuple(values), **common)
        self.problems.append(f"{name}: kind is {kind!r}; it must be one of {', '.join(KINDS)}")
        return None

    def integer(self, raw: Mapping[str, Any], common: dict[str, Any]) -> Parameter | None:
        name = common["name"]
        low, high, step = raw.get("min"), raw.get("max"), raw.get("step", 1)
        if type(low) is not int or type(high) is not int or type(step) is not int or low > high or step < 1:
            self.problems.append(f"{name}: min, max and step must be integers, min at most max, step at least 1")
            return None
        high -= (high - low) % step
        return Parameter(kind="integer", minimum=low, maximum=high, step=step, logarithmic=raw.get("scale") == "log", **common)

    def metric(self, raw: Mapping[str, Any]) -> Metric:
        better = raw.get("better", "higher")
        if not isinstance(raw.get("name"), str) or better not in ("higher", "lower"):
            self.problems.append(f"metric {raw.get('name')!r}: it needs a name, and better must be higher or lower")
            better = "higher"
        return Metric(str(raw.get("name")), str(raw.get("unit") or ""), better)

    def default(self, raw: object, parameters: Sequence[Parameter]) -> Config:
        config: Config = {}
        if not isinstance(raw, dict):
            self.problems.append("default must be an object with a value of every parameter")
            return config
        for one in parameters:
            value = raw.get(one.name)
            converted = tuple(value) if isinstance(value, list) else value
            if one.name not in raw:
                self.problems.append(f"default has no value of {one.name}")
            elif not one.contains(converted):
                self.problems.append(f"default: {one.name} cannot be {value!r}")
            config[one.name] = converted
        return config

    def topology(self, raw: object, parameters: Mapping[str, Parameter]) -> Topology | None:
        if raw is None:
            return None
        if not isinstance(raw, dict):
            self.problems.append("topology must be an object or null")
            return None
        edges = []
        for one in self.objects(raw, "edges"):
            when = one.get("when") or {}
            if not isinstance(when, dict) or not isinstance(one.get("from"), str) or not isinstance(one.get("to"), str):
                self.problems.append(f"topology: edge {one!r} needs from, to and, if it depends on parameters, an object when")
                continue
            for name in when.keys() - parameters.keys():
                self.problems.append(f"topology: an edge depends on {name!r}, which is no parameter")
            edges.append(Edge(one["from"], one["to"], {k: tuple(v) if isinstance(v, list) else v for k, v in when.items()}))
        entries, exits = self.list(raw, "entries"), self.list(raw, "exits")
        if not entries or not exits:
            self.problems.append("topology: entries and exits must name a node or more")
        return Topology(tuple(map(str, entries)), frozenset(map(str, exits)), tuple(edges))


def all_level_combinations(device: Device) -> Iterator[Config]:
    """What brute force would test, in a fixed order, invalid ones included; sequences in all orders."""
    axes: list[Sequence[Value]] = []
    for one in device.parameters:
        if one.kind == "integer":
            axes.append(one.levels(one.minimum, one.maximum))
        elif one.kind == "sequence":
            axes.append(list(itertools.permutations(one.values)))
        else:
            axes.append(one.values)
    for values in itertools.product(*axes):
        yield dict(zip(device.by_name, values, strict=True))
