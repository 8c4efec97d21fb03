"""Minutes of hours that may be packed and received samples late, on the Apache edition of TimescaleDB (docs/decisions/0042)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import groupby
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
    """The minutes (counted from 1970) that have to be computed once more, by source."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[int]] = {}

    def note(self, minutes: Mapping[str, Iterable[int]]) -> None:
        """Samples of these minutes came late."""
        for source, late in minutes.items():
            self._waiting.setdefault(source, set()).update(late)

    def compute(self, connection: psycopg.Connection[Any], rollup: Rollup, now: datetime) -> bool:
        """Compute what waits for a roll-up and join it to the packed hours, in one transaction of the caller: no minute is seen twice.

        Returns whether it is done. While hours are being packed it is not, and the next turn tries again.
        """
        waiting = self._waiting.get(rollup.source)
        if not waiting:
            return True
        if connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [PACKING]).fetchone() != (True,):
            return False
        recent = first_of_recent(now)
        for start, end in hours_of(waiting):
            if start < recent:
                self._compute_hour(connection, rollup, start, min(end, recent))
        return True

    def _compute_hour(self, connection: psycopg.Connection[Any], rollup: Rollup, start: datetime, end: datetime) -> None:
        connection.execute(refresh_statement(rollup, only_changed=True).encode(), {"start": start, "end": end})
        is_packed = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE hour >= %s AND hour < %s)").format(
            sql.Identifier(packed.table_name(rollup.table))
        )
        for begins, ends in connection.execute(_CHUNKS, [rollup.table, end, start]).fetchall():
            if connection.execute(is_packed, [begins, ends]).fetchone() == (True,):
                connection.execute("SELECT wallwatch_pack_hour(%s, %s)", [rollup.table, begins])

    def forget(self, source: str) -> None:
        """What waited has been computed, and is stored."""
        self._waiting.pop(source, None)


def hours_of(minutes: Iterable[int]) -> list[tuple[datetime, datetime]]:
    """The shortest spans that have these minutes (counted from 1970), at most one for each hour.

    >>> [(str(start.time()), str(end.time())) for start, end in hours_of([5, 61, 3])]
    [('00:03:00', '00:06:00'), ('01:01:00', '01:02:00')]
    """
    return [
        (datetime.fromtimestamp(min(of_hour) * 60, UTC), datetime.fromtimestamp((max(of_hour) + 1) * 60, UTC))
        for of_hour in (list(group) for _, group in groupby(sorted(minutes), lambda minute: minute // 60))
    ]
