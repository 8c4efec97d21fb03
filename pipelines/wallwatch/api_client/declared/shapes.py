"""Checks of the file's items before anything is sent: unknown fields, missing ones, and names that are there twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from wallwatch.api_client.declared.steps import Item
from wallwatch.api_client.errors import WrongUsage


def items_of(section: str, items: Any) -> list[Item]:
    """Return the items of a section, which must be a list of mappings."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise WrongUsage(f"{section} must be a list of entries")
    return [plain(item) for item in items]


def plain(value: Any) -> Any:
    """As JSON has it: YAML reads a time that is not in quotes as a time.

    >>> plain({"at": datetime(2026, 1, 1, tzinfo=UTC)})
    {'at': '2026-01-01T00:00:00+00:00'}
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, date):
        raise WrongUsage(f"{value} is a day; a time needs its hour and zone, such as {value}T00:00:00Z")
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def complete(where: str, item: Item, required: Iterable[str], defaults: Mapping[str, Any]) -> Item:
    """Return an item with every field; refuse unknown fields, and the absence of required ones."""
    needed = list(required)
    missing = [name for name in needed if item.get(name) is None]
    if missing:
        raise WrongUsage(f"{where}: {', '.join(missing)} is required")
    unknown = sorted(set(item) - {*needed, *defaults})
    if unknown:
        raise WrongUsage(f"{where}: unknown field {', '.join(unknown)}; there are {', '.join([*needed, *defaults])}")
    return {**{name: item[name] for name in needed}, **{name: item.get(name, default) for name, default in defaults.items()}}


def unique(section: str, items: Iterable[Item], key: Callable[[Item], Any]) -> None:
    """Refuse two items with the same identity."""
    seen = set()
    for item in items:
        name = key(item)
        if name in seen:
            raise WrongUsage(f"{section}: {name} is there twice")
        seen.add(name)


def matchers(where: str, value: Any) -> list[Item]:
    """Return matchers with their operators."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise WrongUsage(f"{where}: matchers must be a list of name, op and value")
    return [complete(f"{where}: a matcher", each, ("name", "value"), {"op": "="}) for each in value]


def matcher_text(item: Item) -> str:
    """The matchers of an item in a line, in any order the same.

    >>> matcher_text({"matchers": [{"name": "rack", "op": "=", "value": "r3"}, {"name": "host", "op": "=~", "value": "a.*"}]})
    'host=~a.* rack=r3'
    """
    return " ".join(sorted(f"{each['name']}{each['op']}{each['value']}" for each in item["matchers"]))


def moment(where: str, value: Any) -> str:
    """Return a time in UTC, in one form, so that times can be compared."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise WrongUsage(f"{where}: {value!a} is not a time with its zone, such as 2026-01-31T08:00:00Z")
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
