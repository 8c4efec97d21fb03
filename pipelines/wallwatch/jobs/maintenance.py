"""Maintenance on the Apache edition of TimescaleDB, by ingest: aggregates and removal of old chunks.

The Community edition does both itself, so there this thread does nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import create_engine

from wallwatch.jobs.late_minutes import Computed, LateMinutes, first_of_recent
from wallwatch.jobs.pending_buckets import PendingBuckets
from wallwatch.jobs.touched_minutes import TouchedMinutes
from wallwatch.settings import Settings
from wallwatch.store import packed
from wallwatch.store.editions import LASTING, Edition, edition_of
from wallwatch.store.encode import LateRnics
from wallwatch.store.rollups import ISOLATION_ROLLUPS, ROLLUPS, Rollup, refresh_statement
from wallwatch.store.tables import HYPERTABLES

log = logging.getLogger(__name__)

ROLLUP_EVERY_S = 20.0
RETENTION_EVERY_S = 3_600.0
OPEN_SHARE = 0.01
"""Part of the time for which minutes that have not ended may be computed. Of a large fleet, most are computed once, when they have."""

LATE_TURN_S = 10.0
"""Longest time that a turn spends on the late minutes of one roll-up, seconds. A transaction that has begun is finished."""

LOCK = 7_241_023
"""Advisory lock: of several ingest processes, the one that holds it does this work."""

LOST_S = 600
"""A process that ends forgets which buckets wait: after a start, the newest ones of the last minutes are computed again."""

_OLDEST_CHUNK = "SELECT extract(epoch FROM min(range_start))::bigint FROM timescaledb_information.chunks WHERE hypertable_name = %s"


_SOURCES = frozenset(rollup.source for rollup in ROLLUPS if rollup.table in packed.MINUTES)
"""Tables whose minutes are computed here; those of isolation are noted on their own."""


class _Busy(Exception):
    """Another process does this work now."""


class Maintenance:
    """Recomputes the buckets that received rows, and drops chunks past their retention."""

    def __init__(self, settings: Settings, stop: threading.Event, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._stop = stop
        self._clock = clock
        self._open_due_s = float("-inf")
        self._touched = TouchedMinutes()
        self._isolation = PendingBuckets(ISOLATION_ROLLUPS, clock)
        self._late = LateMinutes()
        self._caught_up = False
        self._not_needed = False
        self._lock = threading.Lock()

    def touched(self, minutes: Mapping[str, Iterable[int]], late: Mapping[str, LateRnics] | None = None) -> None:
        """Note the minutes (counted from 1970) that a batch wrote to, by table.

        Minutes of which samples are not kept stay as they are: what a host with a wrong clock sends would replace them.

        Parameters
        ----------
        late
            By table, the RNICs that it wrote to late; without it, any.
        """
        oldest = int(time.time() - self._settings.retention_days * 86_400) // 60
        with self._lock:
            for table, of_table in minutes.items():
                if table in _SOURCES and not self._not_needed:
                    self._touched.add(table, (minute for minute in of_table if minute > oldest), (late or {}).get(table))

    def _note_again(self, touched: TouchedMinutes) -> None:
        """These could not be computed."""
        with self._lock:
            self._touched.merge(touched)

    def joined(self, table: str, minutes: Iterable[int], rnics: Collection[int] | None) -> None:
        """Note that late samples of some RNICs (None: any) were packed: from now on, one that came again counts once."""
        noted = set(minutes)
        if rnics is None or not noted:
            self.touched({table: noted})
        else:
            of_hour = {hour: set(rnics) for hour in {minute // 60 for minute in noted}}
            self.touched({table: noted}, {table: LateRnics(max(noted) + 1, of_hour)})

    def minutes_touched(self, minutes: Iterable[int]) -> None:
        """Note the minutes (counted from 1970) of `vf_minute` that a batch wrote to."""
        self._isolation.note("vf_minute", (minute * 60 for minute in minutes))

    def run(self) -> None:
        """Run until the process stops. Database errors are logged and retried at the next turn."""
        next_retention = 0.0
        edition: Edition | None = None
        while not self._stop.wait(ROLLUP_EVERY_S):
            try:
                with psycopg.connect(
                    self._settings.libpq_url, autocommit=True, connect_timeout=5, application_name="wallwatch-upkeep"
                ) as connection:
                    edition = edition or self._edition()
                    if edition is Edition.COMMUNITY:
                        self._end()
                        return
                    self.roll_up(connection)
                    if time.monotonic() >= next_retention:
                        next_retention = time.monotonic() + RETENTION_EVERY_S
                        drop_old_chunks(connection, self._settings)
            except psycopg.Error as error:
                log.warning("maintenance failed, trying again at the next turn: %s", str(error).strip())

    def _end(self) -> None:
        """The database does this work itself."""
        with self._lock:
            self._not_needed = True
            self._touched = TouchedMinutes()

    def _edition(self) -> Edition:
        engine = create_engine(self._settings.database_url)
        with engine.connect() as connection:
            found = edition_of(connection)
        engine.dispose()
        return found

    def roll_up(self, connection: psycopg.Connection[Any]) -> None:
        """Recompute the touched minutes. One that has not ended is computed again then; before, only while that takes little time."""
        with self._lock:
            touched, self._touched = self._touched, TouchedMinutes()
        started = datetime.now(UTC)
        recent, unended = int(first_of_recent(started).timestamp()) // 60, int(started.timestamp()) // 60
        waiting: dict[str, set[int]] = {}
        if self._clock() < self._open_due_s:
            waiting = {table: {minute for minute in minutes if minute >= unended} for table, minutes in touched.minutes.items()}
        try:
            with connection.transaction():
                self._take_lock(connection)
                open_s = 0.0
                for rollup in ROLLUPS:
                    minutes = touched.minutes.get(rollup.source, set()) - waiting.get(rollup.source, set())
                    for first, end in spans_of(minute for minute in minutes if minute >= recent):
                        begin_s = self._clock()
                        self._refresh(connection, rollup, datetime.fromtimestamp(first * 60, UTC), datetime.fromtimestamp(end * 60, UTC))
                        open_s += (self._clock() - begin_s) * max(end - max(first, unended), 0) / (end - first)
                if open_s:
                    self._open_due_s = self._clock() + open_s / OPEN_SHARE
            self.touched(waiting)
            for (table, hour), (minutes, rnics) in touched.hours_before(recent).items():
                self._late.note(table, hour, minutes, rnics)
            touched = TouchedMinutes()
            if not self._caught_up:
                self._catch_up(connection)
                self._caught_up = True
            now = time.time()
            self._isolation.compute(now, now - self._settings.retention_days * 86_400, partial(self._one_bucket, connection))
            for rollup in ROLLUPS:
                if rollup.table in packed.MINUTES:
                    self._compute_late(connection, rollup, started)
        except _Busy:
            self._note_again(touched)
        except psycopg.Error:
            self._note_again(touched)
            raise

    def _take_lock(self, connection: psycopg.Connection[Any]) -> None:
        row = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK]).fetchone()
        if row is None or not row[0]:
            raise _Busy

    def _compute_late(self, connection: psycopg.Connection[Any], rollup: Rollup, now: datetime) -> None:
        """Compute late minutes, some RNICs at a time. What is left after some time waits for the next turn: new minutes come first."""
        begin_s = self._clock()
        try:
            computed: Computed | None = None
            while computed is None or self._clock() - begin_s < LATE_TURN_S:
                with connection.transaction():
                    self._take_lock(connection)
                    computed = self._late.compute(connection, rollup, now)
                if computed is None:
                    return
                self._late.forget(computed)
        except packed.BUSY as error:
            log.info("late minutes of %s wait: %s", rollup.view, error.diag.message_primary)

    def _one_bucket(self, connection: psycopg.Connection[Any], rollup: Rollup, begin_s: int) -> None:
        begin = datetime.fromtimestamp(begin_s, UTC)
        with connection.transaction():
            self._take_lock(connection)
            self._refresh(connection, rollup, begin, begin + timedelta(seconds=rollup.width_s))

    def _catch_up(self, connection: psycopg.Connection[Any]) -> None:
        """Note what no process remembers: the newest buckets, and all buckets of a roll-up that is new or was behind for long."""
        now = time.time()
        tables = {rollup.view: rollup.table for rollup in ISOLATION_ROLLUPS}
        for rollup in ISOLATION_ROLLUPS:
            source = tables.get(rollup.source, rollup.source)
            oldest_s = connection.execute(_OLDEST_CHUNK, [source]).fetchone()
            if oldest_s is None or oldest_s[0] is None:
                continue
            newest = sql.SQL("SELECT extract(epoch FROM max(bucket))::bigint FROM {}").format(sql.Identifier(rollup.table))
            newest_s = connection.execute(newest).fetchone()
            known_s = 0 if newest_s is None or newest_s[0] is None else newest_s[0] - LOST_S
            first = max(known_s, oldest_s[0]) // rollup.width_s * rollup.width_s
            self._isolation.note(rollup.source, range(first, int(now) + 1, rollup.width_s))
        for rollup in ROLLUPS:
            if rollup.table in packed.MINUTES:
                self.touched({rollup.source: self._minutes_lost(connection, rollup, int(now))})

    def _minutes_lost(self, connection: psycopg.Connection[Any], rollup: Rollup, now_s: int) -> range:
        """The minutes that a process may have written to and not computed, because they had not ended or it was between two turns."""
        newest = sql.SQL(
            "SELECT extract(epoch FROM max(bucket))::bigint FROM {} WHERE bucket > to_timestamp(%s) AND bucket <= to_timestamp(%s)"
        )
        row = connection.execute(newest.format(sql.Identifier(rollup.table)), [now_s - 86_400, now_s]).fetchone()
        if row is None or row[0] is None:
            return range((now_s - LOST_S) // 60, now_s // 60 + 1)
        return range((row[0] - LOST_S // 5) // 60, min(row[0] + LOST_S, now_s) // 60 + 1)

    def _refresh(self, connection: psycopg.Connection[Any], rollup: Rollup, start: datetime, end: datetime) -> None:
        connection.execute(refresh_statement(rollup).encode(), {"start": start, "end": end})


def spans_of(minutes: Iterable[int]) -> list[tuple[int, int]]:
    """Begin and end of each run of minutes: a host whose clock is behind has its own minutes computed, not those since.

    >>> spans_of([7, 3, 4, 5]), spans_of([])
    ([(3, 6), (7, 8)], [])
    """
    runs = [[minute for _, minute in run] for _, run in groupby(enumerate(sorted(minutes)), lambda one: one[1] - one[0])]
    return [(run[0], run[-1] + 1) for run in runs]


def drop_old_chunks(connection: psycopg.Connection[Any], settings: Settings) -> None:
    """Drop chunks past their retention. Findings and events are kept as long as aggregates, short-lived aggregates as long as samples."""
    now = datetime.now(UTC)
    raw, long = now - timedelta(days=settings.retention_days), now - timedelta(days=settings.rollup_retention_days)
    ages = {table: (long if table in LASTING else raw) for table in HYPERTABLES} | {
        r.table: raw if r.short_lived else long for r in ROLLUPS
    }
    ages |= {packed.table_name(table): raw for table in packed.PACKED}
    ages |= {packed.table_name(table): long for table in packed.MINUTES} | {packed.MINUTES_OF_HOURS: long}
    for table, before in ages.items():
        dropped = connection.execute("SELECT wallwatch_drop_old_chunks(%s, %s)", [table, before]).fetchall()
        if dropped:
            log.info("dropped %d chunks of %s older than %s", len(dropped), table, before.date())
