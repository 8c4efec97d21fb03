"""Minutes of hours that may be packed and received samples late, on the Apache edition of TimescaleDB (docs/decisions/0042 and 0052)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg import sql

from wallwatch.jobs.packing import LOCK as PACKING
from wallwatch.store import packed
from wallwatch.store.rollups import Rollup, refresh_statement

PACKED_AFTER = timedelta(hours=2)
"""Hours that ended earlier may be packed (`COMPRESS_AFTER`)."""

LATE_MINUTES = 60
"""Of samples that are older, ingest notes the RNICs: early enough for hours that end meanwhile, and live samples are never so late."""

RNICS_AT_ONCE = 200
"""RNICs that one transaction computes: of a packed hour at 10 s it unpacks 72,000 samples of each kind, in 0.6 to 0.9 s (0052)."""

MOST_RNICS = 2_000
"""So many RNICs with late samples are remembered for an hour; with more, all of the hour are computed."""

_CHUNKS = """
SELECT range_start, range_end FROM timescaledb_information.chunks
WHERE hypertable_schema = 'public' AND hypertable_name = %s AND range_start < %s AND range_end > %s
  AND pg_relation_size(format('%%I.%%I', chunk_schema, chunk_name)::regclass) > 0
"""
_OF_HOUR = """
SELECT rnic_id FROM {} WHERE time >= %(start)s AND time < %(end)s
UNION SELECT rnic_id FROM {} WHERE hour > %(start)s - INTERVAL '1 hour' AND hour < %(end)s
"""


def first_of_recent(now: datetime) -> datetime:
    """The time from which minutes are rows for certain."""
    return (now - PACKED_AFTER).replace(minute=0, second=0, microsecond=0)


def late_minute() -> int:
    """The minute (counted from 1970) before which samples are so late that their RNICs are noted."""
    return int(time.time()) // 60 - LATE_MINUTES


def together(one: set[int] | None, other: Iterable[int] | None) -> set[int] | None:
    """RNICs of both; None stands for any RNIC.

    >>> together({1}, [2]), together(None, [2]), together({1}, None)
    ({1, 2}, None, None)
    """
    if one is None or other is None:
        return None
    both = one.union(other)
    return both if len(both) <= MOST_RNICS else None


@dataclass(slots=True)
class _Late:
    """Minutes of an hour that received late samples."""

    hour: int
    minutes: set[int]
    rnics: set[int] | None
    """Those with late samples; None: any."""
    left: list[int] | None = None
    """RNICs that are still to be computed; None before the first were."""


@dataclass(frozen=True, slots=True)
class Computed:
    """What one transaction has computed; `left` are the RNICs that the next ones have to."""

    source: str
    late: _Late
    left: list[int]


class LateMinutes:
    """The minutes (counted from 1970) that have to be computed once more, by source."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[_Late]] = {}

    def note(self, source: str, hour: int, minutes: Iterable[int], rnics: set[int] | None) -> None:
        """Samples of these minutes of an hour came late."""
        waiting = self._waiting.setdefault(source, [])
        for late in waiting:
            if late.hour == hour and late.left is None:
                late.minutes.update(minutes)
                late.rnics = together(late.rnics, rnics)
                return
        waiting.append(_Late(hour, set(minutes), rnics))

    def compute(self, connection: psycopg.Connection[Any], rollup: Rollup, now: datetime) -> Computed | None:
        """Compute the next RNICs of an hour that waits for a roll-up, and join them to the packed hour.

        An hour that was begun is finished first, then the newest follows: one that receives samples all the time does not hold it up.
        All in one transaction of the caller: no minute is seen twice. What it returns is to be given to `forget` once that is stored; None
        when nothing waits, or hours are being packed.
        """
        recent = int(first_of_recent(now).timestamp()) // 3_600
        waiting = [late for late in self._waiting.get(rollup.source, ()) if late.hour < recent]
        if not waiting or connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [PACKING]).fetchone() != (True,):
            return None
        late = max(waiting, key=lambda one: (one.left is not None, one.hour))
        start, end = (datetime.fromtimestamp(minute * 60, UTC) for minute in (min(late.minutes), max(late.minutes) + 1))
        left = late.left
        if left is None:
            left = sorted(self._of_hour(connection, rollup, start, end) if late.rnics is None else late.rnics)
        if left:
            self._compute_rnics(connection, rollup, start, end, left[:RNICS_AT_ONCE])
        return Computed(rollup.source, late, left[RNICS_AT_ONCE:])

    def _of_hour(self, connection: psycopg.Connection[Any], rollup: Rollup, start: datetime, end: datetime) -> list[int]:
        """All RNICs that may have samples."""
        query = sql.SQL(_OF_HOUR).format(sql.Identifier(rollup.source), sql.Identifier(packed.table_name(rollup.source)))
        return [rnic for (rnic,) in connection.execute(query, {"start": start, "end": end})]

    def _compute_rnics(self, connection: psycopg.Connection[Any], rollup: Rollup, start: datetime, end: datetime, rnics: list[int]) -> None:
        statement = refresh_statement(rollup, only_changed=True, of_rnics=True)
        connection.execute(statement.encode(), {"start": start, "end": end, "rnics": rnics})
        is_packed = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE hour >= %s AND hour < %s)").format(
            sql.Identifier(packed.table_name(rollup.table))
        )
        for begins, ends in connection.execute(_CHUNKS, [rollup.table, end, start]).fetchall():
            if connection.execute(is_packed, [begins, ends]).fetchone() == (True,):
                connection.execute("SELECT wallwatch_pack_hour(%s, %s)", [rollup.table, begins])

    def forget(self, computed: Computed) -> None:
        """These have been computed, and are stored."""
        computed.late.left = computed.left
        if not computed.left:
            self._waiting[computed.source].remove(computed.late)
