"""Events from the store, in order of their times."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import psycopg

BATCH = 10_000
"""Rows in memory at a time."""

_EVENTS = """
SELECT e.time, h.host, e.pci, e.kind, coalesce(e.other, '{}'::jsonb) FROM event e JOIN host h USING (host_id)
WHERE e.time >= %(from)s AND e.time < %(to)s AND (%(kinds)s::text[] IS NULL OR e.kind = ANY(%(kinds)s))
ORDER BY e.time, e.host_id
"""


class StoredEvent(NamedTuple):
    """One row. `fields` are those that have no column."""

    at_us: int
    host: str
    pci: str
    kind: str
    fields: dict[str, Any]


def stored_events(
    connection: psycopg.Connection[Any], from_: datetime, to: datetime, kinds: Collection[str] | None = None
) -> Iterator[StoredEvent]:
    """Yield the events of a time range and of these kinds (None: all); rows are fetched lazily, inside one transaction."""
    values = {"from": from_, "to": to, "kinds": None if kinds is None else sorted(kinds)}
    with connection.transaction(), connection.cursor("stored_events") as cursor:
        cursor.itersize = BATCH
        cursor.execute(_EVENTS, values)
        for at, host, pci, kind, fields in cursor:
            yield StoredEvent(round(at.timestamp() * 1e6), host, pci, kind, fields)
