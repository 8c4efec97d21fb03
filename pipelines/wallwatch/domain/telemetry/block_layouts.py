"""Where the tags and fields of a block are: their places in `blocks.yaml`, and what a row's values are by them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import resources
from operator import itemgetter
from typing import Any, NamedTuple

import yaml

from wallwatch.domain.telemetry.decode import Refused
from wallwatch.domain.telemetry.registry import RegistryError, measurements
from wallwatch.domain.telemetry.rows import Form

MOST_FIELDS = 1_000
MOST_SETS_OF_FIELDS = 256


class Layout(NamedTuple):
    """The places of the tags and fields of one measurement."""

    tags: tuple[str, ...]
    fields: tuple[str, ...]


def parse_layouts(raw: Any, source: str = "blocks.yaml") -> dict[str, Layout]:
    """Validate the content of `blocks.yaml`.

    Raises
    ------
    RegistryError
        When a field of the registry has no place, or a name two.
    """
    if not isinstance(raw, dict):
        raise RegistryError(f"{source}: the top level must be a mapping of measurements")
    found = {}
    for name, body in raw.items():
        measurement = measurements().get(name)
        if measurement is None:
            raise RegistryError(f"{source}: {name!r} is no measurement")
        layout = Layout(tuple(body["tags"]), tuple(body["fields"]))
        of_rows = set(measurement.tags) - {"host", "rack"}
        for kind, places, wanted in (("tag", layout.tags, of_rows), ("field", layout.fields, set(measurement.fields))):
            if len(set(places)) < len(places):
                raise RegistryError(f"{source}: {name} has a {kind} twice")
            if missing := sorted(wanted - set(places)):
                raise RegistryError(f"{source}: append the {kind} {', '.join(missing)} to the list of {name}")
        found[name] = layout
    return found


@cache
def layouts() -> dict[str, Layout]:
    """The measurements that are sent in blocks, with their layouts.

    >>> layouts()["rnic_mask"].tags
    ('pci', 'direction', 'mask')
    """
    return parse_layouts(yaml.safe_load(resources.files(__package__).joinpath("blocks.yaml").read_text(encoding="utf-8")))


class Named(NamedTuple):
    """Which fields the values of a row are."""

    names: tuple[str, ...]
    """In the order of a row's values."""
    sorted_names: tuple[str, ...]
    """The same in the order in which single messages have them."""
    pick: Callable[[Sequence[Any]], tuple[Any, ...]]
    """A row's values in that order."""
    form: Form
    """For who asks rows for few of their fields."""


def name_at(names: Sequence[str], place: int) -> str:
    """The name at a place; one that a newer collector has is unknown here, and is named by its number."""
    return names[place] if place < len(names) else f"#{place}"


@lru_cache(maxsize=MOST_SETS_OF_FIELDS)
def names_of(measurement: str, fields: str, more: tuple[str, ...]) -> Named:
    """The names of a row's values, the same sorted, and what sorts the values: hosts with devices of one kind share them."""
    names = (*(name_at(layouts()[measurement].fields, place) for place in places_of(fields)), *more)
    if not names or len(names) > MOST_FIELDS:
        raise Refused("out_of_range", f"a block has from 1 to {MOST_FIELDS} fields, not {len(names)}")
    if len(set(names)) < len(names):
        raise Refused("wrong_type", "a field is in the block twice")
    order = sorted(range(len(names)), key=names.__getitem__)
    return Named(names, tuple(names[i] for i in order), itemgetter(*order) if len(order) > 1 else tuple, Form(names))


def places_of(text: str) -> list[int]:
    """The places that ranges name.

    >>> places_of("0-2,7"), places_of("")
    ([0, 1, 2, 7], [])

    Raises
    ------
    Refused
        When the text has another form, or its places do not ascend.
    """
    found: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        begin, end = _place(first), _place(last or first)
        if (found and begin <= found[-1]) or end < begin:
            raise Refused("wrong_type", f"the places in `fields` must ascend: {text[:60]!r}")
        found.extend(range(begin, end + 1))
    return found


def _place(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_FIELDS)) and int(text) < MOST_FIELDS):
        raise Refused("wrong_type", f"{text[:20]!r} in `fields` is not the place of a field, from 0 to {MOST_FIELDS - 1}")
    return int(text)
