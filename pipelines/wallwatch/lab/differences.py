"""Where two descriptions of a device, or the options of two campaigns, differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wallwatch.lab.faults import shown

MOST_LISTED = 3


def differences(before: Any, now: Any) -> str:
    """The first differences as text.

    >>> differences({"name": "a", "min": 1}, {"name": "b", "min": 1})
    "name was 'a' and is 'b'"
    """
    found = list(_differences("", before, now))
    more = f" and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
    return "; ".join(found[:MOST_LISTED]) + more


def _differences(place: str, before: Any, now: Any) -> Iterator[str]:
    if before == now:
        return
    if isinstance(before, dict) and isinstance(now, dict):
        for key in before | now:
            inside = f"{place}.{key}" if place else str(key)
            if key not in now:
                yield f"{inside} is missing"
            elif key not in before:
                yield f"{inside} is new"
            else:
                yield from _differences(inside, before[key], now[key])
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for i, (one, other) in enumerate(zip(before, now, strict=True)):
            name = one.get("name", i) if isinstance(one, dict) else i
            yield from _differences(f"{place}[{name}]", one, other)
    else:
        yield f"{place or 'it'} was {shown(before)} and is {shown(now)}"
