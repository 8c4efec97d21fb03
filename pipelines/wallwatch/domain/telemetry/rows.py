"""The samples of a block's rows, without a dictionary for each: which fields there are is known of all rows of a form. Pure.

`classify` asks a sample for some thirty of its hundred fields, and each for the same ones. So a row stays a list of values, and names that
are asked for together (`Group`) are looked up once for each form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wallwatch.domain.telemetry.decode import EARLIEST_NS, Message


class Group:
    """Fields that are asked for together. To be made once, as a constant."""

    __slots__ = ("names",)

    def __init__(self, *names: str) -> None:
        self.names = names


class Form:
    """Which fields the values of a row are."""

    __slots__ = ("_groups", "places")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.places: dict[str, int] = {name: place for place, name in enumerate(names)}
        self._groups: dict[Group, list[int]] = {}

    def places_of(self, group: Group) -> list[int]:
        """The places of a group's names, -1 for those that are not there."""
        found = self._groups.get(group)
        if found is None:
            found = self._groups[group] = [self.places.get(name, -1) for name in group.names]
        return found


class Row(Mapping[str, Any]):
    """The fields of one row. As a mapping it is what a dictionary of the same fields would be."""

    __slots__ = ("_form", "_values")

    def __init__(self, form: Form, values: list[Any]) -> None:
        self._form = form
        self._values = values

    def several(self, group: Group) -> list[Any]:
        """The values of a group's names, None for those that are not there."""
        values = self._values
        return [values[place] if place >= 0 else None for place in self._form.places_of(group)]

    def get(self, key: str, default: Any = None) -> Any:
        place = self._form.places.get(key)
        return default if place is None else self._values[place]

    def __getitem__(self, key: str) -> Any:
        return self._values[self._form.places[key]]

    def __contains__(self, key: object) -> bool:
        return key in self._form.places

    def __iter__(self) -> Iterator[str]:
        return iter(self._form.places)

    def __len__(self) -> int:
        return len(self._values)


def several(fields: Mapping[str, Any], group: Group) -> list[Any]:
    """The values of a group's names, None for those that are not there.

    >>> two = Group("a", "b")
    >>> several({"b": 2, "c": 3}, two), several(Row(Form(("c", "b")), [3, 2]), two)
    ([None, 2], [None, 2])
    """
    if isinstance(fields, Row):
        return fields.several(group)
    return [fields.get(name) for name in group.names]


def plain_rows(
    measurement: str, rows: list[Any], tags_of: dict[tuple[Any, ...], dict[str, str]], form: Form, latest_ns: int
) -> list[Message] | None:
    """The samples of a block's rows, None unless all are plain: of the right form and time, and of an origin that was checked before."""
    found: list[Message] = []
    count = len(form.places)
    for row in rows:
        if type(row) is not list or len(row) != 3:
            return None
        at_ns, own, values = row
        if type(at_ns) is not int or at_ns < EARLIEST_NS or at_ns > latest_ns:
            return None
        if type(own) is not list or type(values) is not list or len(values) != count:
            return None
        tags = tags_of.get(tuple(own))
        if tags is None:
            return None
        found.append(Message(measurement, tags, at_ns, Row(form, values)))
    return found
