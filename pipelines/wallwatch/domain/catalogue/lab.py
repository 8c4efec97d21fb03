"""What the lab varies: dimensions, their safe ranges, and which cause shows in which (`lab.yaml`), typed and checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml
from pydantic import Field, model_validator

from wallwatch.domain.catalogue.load import causes, known_signals, parse_entries, walls
from wallwatch.domain.catalogue.models import Entry
from wallwatch.domain.telemetry.registry import RegistryError

FILE = "lab.yaml"
SIDES = ("egress", "ingress")

Adaptor = Literal["sim", "ovs", "perftest"]


class SafeRange(Entry):
    """What may be set on a cordoned RNIC without danger to the host, both ends included, in the dimension's unit."""

    low: int = Field(alias="from", ge=0)
    high: int = Field(alias="to")

    @model_validator(mode="after")
    def _is_a_range(self) -> SafeRange:
        if self.low >= self.high:
            raise ValueError(f"from must be below to, not {self.low} and {self.high}")
        return self


class Dimension(Entry):
    """One thing that the lab varies."""

    id: str
    label: str = Field(min_length=1)
    component: str = Field(min_length=1)
    unit: str
    kind: Literal["integer", "choice", "boolean", "sequence"]
    safe: SafeRange | None = None
    scale: Literal["linear", "log"] = "linear"
    wall: str | None = None
    signal: str | None = None
    events: dict[str, str] = Field(default_factory=dict)
    between: str | None = None
    adaptors: tuple[Adaptor, ...] = Field(min_length=1)
    names: tuple[str, ...] = Field(min_length=1)
    why: str = Field(min_length=1)

    @model_validator(mode="after")
    def _an_integer_has_a_range(self) -> Dimension:
        if (self.kind == "integer") != (self.safe is not None):
            raise ValueError("safe: from and to are required for an integer, and invalid for anything else")
        return self

    @model_validator(mode="after")
    def _events_are_of_its_kind(self) -> Dimension:
        if self.events and self.kind != "sequence":
            raise ValueError("events: only a sequence has steps")
        if self.between is not None and (self.kind, self.unit) != ("integer", "ms"):
            raise ValueError("between: only an integer in ms is a time between events")
        return self

    @model_validator(mode="after")
    def _one_measure(self) -> Dimension:
        if self.wall is not None and self.signal is not None:
            raise ValueError("signal: the wall has one")
        return self

    def signals_of(self, parameter: str) -> tuple[str, ...]:
        """The signals that show the value of this parameter on an RNIC of the fleet; several are alternatives.

        >>> dimensions()["masks"].signals_of("egress_masks"), dimensions()["flow_churn"].signals_of("churn")
        (('masks_egress',), ('flow_deletions_per_s',))
        """
        if self.signal is not None:
            return (self.signal,)
        return tuple(walls()[wall].signal for wall in self.walls_of(parameter))

    def walls_of(self, parameter: str) -> tuple[str, ...]:
        """The walls that a threshold of this parameter measures.

        >>> dimensions()["masks"].walls_of("egress_masks"), dimensions()["verb"].walls_of("verb")
        (('egress_masks',), ())
        """
        if self.wall is None:
            return ()
        if "{side}" not in self.wall:
            return (self.wall,)
        words = _words(parameter)
        named = [side for side in SIDES if side in words]
        return tuple(self.wall.format(side=side) for side in (named or SIDES))


class CauseDimensions(Entry):
    """The dimensions that a cause shows in."""

    id: str
    all: tuple[str, ...] = Field(min_length=1)
    any: tuple[str, ...] = Field(min_length=1)


def parse_dimensions(raw: Mapping[str, Any]) -> dict[str, Dimension]:
    """Validate the file's `dimensions`.

    Raises
    ------
    RegistryError
        When an entry is invalid, names a wall that does not exist, or has a name that another one has.
    """
    found = parse_entries(FILE, raw.get("dimensions"), Dimension)
    owner: dict[str, str] = {}
    for dimension in found.values():
        for wall in dimension.walls_of(""):
            if wall not in walls():
                raise RegistryError(f"{FILE}, entry {dimension.id}: wall {wall!r} is not in walls.yaml")
        if dimension.signal is not None and dimension.signal not in known_signals():
            raise RegistryError(
                f"{FILE}, entry {dimension.id}: signal {dimension.signal!r} is neither a field of rnic_offload or rnic nor in signals.yaml"
            )
        for name in dimension.names:
            if owner.setdefault(name, dimension.id) != dimension.id:
                raise RegistryError(f"{FILE}, entry {dimension.id}: the name {name!r} belongs to {owner[name]} already")
    return found


def parse_causes(raw: Mapping[str, Any], known: Mapping[str, Dimension]) -> dict[str, CauseDimensions]:
    """Validate the file's `causes`.

    Raises
    ------
    RegistryError
        When a cause is not in causes.yaml, or a dimension is not in `known`.
    """
    found = parse_entries(FILE, raw.get("causes"), CauseDimensions)
    for entry in found.values():
        if entry.id not in causes():
            raise RegistryError(f"{FILE}: cause {entry.id!r} is not in causes.yaml")
        for name in (*entry.all, *entry.any):
            if name not in known:
                raise RegistryError(f"{FILE}, cause {entry.id}: dimension {name!r} is not in the file")
        if not set(entry.any) <= set(entry.all):
            raise RegistryError(f"{FILE}, cause {entry.id}: any must be part of all")
    return found


@cache
def _raw() -> dict[str, Any]:
    raw = yaml.safe_load(resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    if not isinstance(raw, dict):
        raise RegistryError(f"{FILE}: the top level must be a mapping")
    return raw


@cache
def dimensions() -> dict[str, Dimension]:
    """Dimension's id -> dimension.

    >>> dimensions()["contexts"].component
    'Encapsulation buffer'
    """
    return parse_dimensions(_raw())


@cache
def cause_dimensions() -> dict[str, CauseDimensions]:
    """Cause -> the dimensions that it shows in; causes without one are left out.

    >>> cause_dimensions()["C8"].all
    ('contexts', 'tunnel')
    """
    return parse_causes(_raw(), dimensions())


@cache
def anywhere() -> frozenset[str]:
    """Dimensions that bound any cause and say nothing of which one it is.

    >>> "firmware" in anywhere()
    True
    """
    return parse_anywhere(_raw(), dimensions())


def parse_anywhere(raw: Mapping[str, Any], known: Mapping[str, Dimension]) -> frozenset[str]:
    """Validate the file's `anywhere`.

    Raises
    ------
    RegistryError
        When a dimension is not in `known`.
    """
    found = frozenset(raw.get("anywhere") or ())
    unknown = sorted(found - set(known))
    if unknown:
        raise RegistryError(f"{FILE}: anywhere: dimension {unknown[0]!r} is not in the file")
    return found


def dimension_of(parameter: str) -> str | None:
    """The dimension that a device's parameter belongs to; None for one that the catalogue does not know.

    >>> [dimension_of(name) for name in ("egress_masks", "mask-order", "VXLAN contexts", "colour")]
    ['masks', 'mask_order', 'contexts', None]
    """
    words = _words(parameter)
    best: tuple[int, int, str] | None = None
    for dimension in dimensions().values():
        for name in dimension.names:
            wanted = _words(name)
            if _holds(words, wanted) and (best is None or (len(wanted), len(name)) > best[:2]):
                best = len(wanted), len(name), dimension.id
    return None if best is None else best[2]


def parameters_for(cause: str, parameters: Iterable[str]) -> list[str]:
    """Those parameters of a device in which a cause shows, in the device's order; none for a cause without dimensions.

    >>> parameters_for("C6", ["egress_masks", "contexts", "mask_order"])
    ['egress_masks', 'mask_order']
    """
    entry = cause_dimensions().get(cause)
    return [] if entry is None else [name for name in parameters if dimension_of(name) in entry.all]


def recognised(symptom: str | None, parameters: Iterable[str]) -> str | None:
    """The catalogue's cause that a found cause is: the parameters of its conditions, and its symptom where it has one.

    Of several that fit, the one that explains the symptom best, then the one with the fewest other dimensions; None when none fits.

    >>> recognised("S6", ["egress_masks", "firmware"]), recognised(None, ["contexts"]), recognised("S6", ["masks", "colour"])
    ('C6', 'C8', None)
    """
    found = {dimension_of(name) for name in parameters} - anywhere()
    if not found or None in found:
        return None
    fitting = []
    for entry in cause_dimensions().values():
        explains = causes()[entry.id].explains
        if found <= set(entry.all) and found & set(entry.any) and (symptom is None or symptom in explains):
            strength = max(explains.values(), default=0.0) if symptom is None else explains[symptom]
            fitting.append((-strength, len(set(entry.all) - found), entry.id))
    return min(fitting)[2] if fitting else None


def _words(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+", name.lower()))


def _holds(words: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1))
