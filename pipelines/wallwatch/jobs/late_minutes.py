"""Minutes of hours that may be packed and received samples late, on the Apache edition of TimescaleDB (docs/decisions/0042)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg import sql

from wallwatch.jobs.packing import LOCK as PACKING
from wallwatch.store import packed
from wallwatch.store.rollups import Rollup, refresh_statement

PACKED_AFTER = timedelta(hours=2)
"""Hours that ended earlier may be packed (`COMPRESS_AFTER`)."""

MOST_HOURS = 12
"""Hours that are computed at once: a host whose samples are spread over all that is kept must not hold up what is new."""

_CHUNKS = """
SELECT range_start, range_end FROM timescaledb_information.chunks
WHERE hypertable_schema = 'public' AND hypertable_name = %s AND range_start < %s AND range_end > %s
  AND pg_relation_size(format('%%I.%%I', chunk_schema, chunk_name)::regclass) > 0
"""


def first_of_recent(now: datetime) -> datetime:
    """The time from which minutes are rows for certain."""
    return (now - PACKED_AFTER).replace(minute=0, second=0, microsecond=0)


class LateMinutes:
    """The minutes (counted from 1970) that have to be computed once more, by source."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[int]] = {}

    def note(self, minutes: Mapping[str, Iterable[int]]) -> None:
        """Samples of these minutes came late."""
        for source, late in minutes.items():
            self._waiting.setdefault(source, set()).update(late)

    def compute(self, connection: psycopg.Connection[Any], rollup: Rollup, now: datetime) -> set[int]:
        """Compute what waits for a roll-up and join it to the packed hours, in one transaction of the caller: no minute is seen twice.

        Returns the minutes that are to be forgotten once that is stored: none while hours are being packed, and the newest hours of many.
        """
        recent = int(first_of_recent(now).timestamp()) // 60
        hours: dict[int, set[int]] = {}
        for minute in self._waiting.get(rollup.source, ()):
            if minute < recent:
                hours.setdefault(minute // 60, set()).add(minute)
        if not hours or connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [PACKING]).fetchone() != (True,):
            return set()
        computed: set[int] = set()
        for hour in sorted(hours, reverse=True)[:MOST_HOURS]:
            first, last = min(hours[hour]), max(hours[hour])
            self._compute_hour(connection, rollup, datetime.fromtimestamp(first * 60, UTC), datetime.fromtimestamp((last + 1) * 60, UTC))
            computed |= hours[hour]
        return computed

    def _compute_hour(self, connection: psycopg.Connection[Any], rollup: Rollup, start: datetime, end: datetime) -> None:
        connection.execute(refresh_statement(rollup, only_changed=True).encode(), {"start": start, "end": end})
        is_packed = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE hour >= %s AND hour < %s)").format(
            sql.Identifier(packed.table_name(rollup.table))
        )
        for begins, ends in connection.execute(_CHUNKS, [rollup.table, end, start]).fetchall():
            if connection.execute(is_packed, [begins, ends]).fetchone() == (True,):
                connection.execute("SELECT wallwatch_pack_hour(%s, %s)", [rollup.table, begins])

    def forget(self, source: str, minutes: Iterable[int]) -> None:
        """These have been computed, and are stored."""
        self._waiting[source].difference_update(minutes)
