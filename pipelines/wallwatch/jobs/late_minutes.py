"""Minutes of hours that may be packed and received samples late, on the Apache edition of TimescaleDB (docs/decisions/0042)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg import sql

from wallwatch.jobs.packing import LOCK as PACKING
from wallwatch.store import packed
from wallwatch.store.rollups import Rollup, refresh_statement

PACKED_AFTER = timedelta(hours=2)
"""Hours that ended earlier may be packed (`COMPRESS_AFTER`)."""

_CHUNKS = """
SELECT range_start, range_end FROM timescaledb_information.chunks
WHERE hypertable_schema = 'public' AND hypertable_name = %s AND range_start < %s AND range_end > %s
  AND pg_relation_size(format('%%I.%%I', chunk_schema, chunk_name)::regclass) > 0
"""


def first_of_recent(now: datetime) -> datetime:
    """The time from which minutes are rows for certain."""
    return (now - PACKED_AFTER).replace(minute=0, second=0, microsecond=0)


class LateMinutes:
    """The first minute (counted from 1970) from which late ones have to be computed, by source."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def note(self, first_minute: Mapping[str, int]) -> None:
        """Samples came late, from these minutes on."""
        for source, minute in first_minute.items():
            self._first[source] = min(minute, self._first.get(source, minute))

    def compute(self, connection: psycopg.Connection[Any], rollup: Rollup, now: datetime, oldest: datetime) -> bool:
        """Compute what waits for a roll-up and join it to the packed hours, in one transaction of the caller: no minute is seen twice.

        Minutes before `oldest`, of which samples are not kept, stay as they are: what a host with a wrong clock sends would replace them.

        Returns whether it is done. While hours are being packed it is not, and the next turn tries again.
        """
        first = self._first.get(rollup.source)
        if first is None:
            return True
        if connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [PACKING]).fetchone() != (True,):
            return False
        start, end = max(datetime.fromtimestamp(first * 60, UTC), oldest), first_of_recent(now)
        connection.execute(refresh_statement(rollup, only_changed=True).encode(), {"start": start, "end": end})
        is_packed = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE hour >= %s AND hour < %s)").format(
            sql.Identifier(packed.table_name(rollup.table))
        )
        for begins, ends in connection.execute(_CHUNKS, [rollup.table, end, start]).fetchall():
            if connection.execute(is_packed, [begins, ends]).fetchone() == (True,):
                connection.execute("SELECT wallwatch_pack_hour(%s, %s)", [rollup.table, begins])
        return True

    def forget(self, source: str) -> None:
        """What waited has been computed, and is stored."""
        self._first.pop(source, None)
