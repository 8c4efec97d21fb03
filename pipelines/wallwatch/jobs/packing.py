"""Packing of old samples and minutes on the Apache edition of TimescaleDB, by ingest: an hour that is over becomes one row per RNIC.

The Community edition's columnstore does the same by itself: there are no tables for packed hours, and nothing is done.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

import psycopg
from psycopg import sql

from wallwatch.settings import Settings
from wallwatch.store import packed
from wallwatch.store.editions import COMPRESS_AFTER

log = logging.getLogger(__name__)

EVERY_S = 120.0
TURN_S = 300.0
"""After this time, what is left waits for the next turn, which begins with the newest samples: after an upgrade there may be a week of
samples and 90 days of minutes to pack, and of an hour that came late for 40,000 RNICs, 400 transactions. What has begun is finished."""
RNICS_AT_ONCE = 100
"""Of an hour that is packed already, or that others write to: one transaction has at most 0.6 million masks of `fleetsim`'s fleet, some
seconds, of which half are unpacked and sorted."""
LOCK = 7_241_026
"""Advisory lock: of several ingest processes, the one that holds it packs."""

_EXIST = "SELECT to_regclass(format('public.%%I', %s::text)) IS NOT NULL"
_DUE = f"""
SELECT range_start FROM timescaledb_information.chunks
WHERE hypertable_schema = 'public' AND hypertable_name = %s AND range_end < now() - INTERVAL '{COMPRESS_AFTER}'
  AND pg_relation_size(format('%%I.%%I', chunk_schema, chunk_name)::regclass) > 0
"""  # noqa: S608 - a constant
_JOIN = "SELECT wallwatch_pack_rnics(%s, %s, %s, %s)"
_CAN_JOIN = "SELECT to_regprocedure('wallwatch_pack_rnics(text, timestamptz, integer, integer)') IS NOT NULL"

Touched = Callable[[str, Iterable[int], Collection[int] | None], None]
"""Takes a table, minutes (counted from 1970) and RNICs; None for all."""


class Packing:
    """Packs the hours that ended some time ago. Calls `touched` with the minutes whose aggregates have to be computed again.

    An hour is packed as a whole. If it has packed samples already, or others write to it, a number of RNICs at a time are: each of these
    transactions is short, and what they have done stays done when the process ends.
    """

    def __init__(self, settings: Settings, stop: threading.Event, touched: Touched) -> None:
        self._settings = settings
        self._stop = stop
        self._touched = touched
        self._connection: psycopg.Connection[Any] | None = None
        self._failures = itertools.count(1)
        self._failed: dict[tuple[datetime, str], int] = {}
        """Hours whose last attempt failed, with the number of the failure: they come last, or turns might never get past them."""
        self._forgot = True
        """Whether a part of an hour may be joined of which nobody knows: after a start, and after a connection that broke."""

    def run(self) -> None:
        """Run until the process stops. Database errors are logged and retried at the next turn."""
        while not self._stop.wait(EVERY_S):
            try:
                with psycopg.connect(
                    self._settings.libpq_url, autocommit=True, connect_timeout=5, application_name="wallwatch-packing"
                ) as connection:
                    self._connection = connection
                    self.pack(connection)
            except psycopg.Error as error:
                if not self._stop.is_set():
                    log.warning("packing failed, trying again at the next turn: %s", str(error).strip())
            finally:
                self._connection = None

    def cancel(self) -> None:
        """Interrupt an hour that is being packed when the process stops: nothing of it has happened then."""
        connection = self._connection
        if connection is not None and not connection.closed:
            with suppress(psycopg.Error):  # then the connection is gone, and the hour with it
                connection.cancel_safe(timeout=5)

    def pack(self, connection: psycopg.Connection[Any]) -> int:
        """Pack the hours that are due; returns how many were packed. An hour that is busy stays as it is, another error ends the turn."""
        count = 0
        groups = [[table for table in tables if self._is_packed(connection, table)] for tables in (packed.PACKED, packed.MINUTES)]
        if not any(groups):
            return 0
        if connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone() != (True,):
            return 0
        begin_s = time.monotonic()
        try:
            # The newest first: what came late joins its hour sooner or later, and what has just ended is read most.
            due = [hour for tables in groups for hour in sorted(self._due(connection, tables), reverse=True)]
            self._failed = {hour: self._failed[hour] for hour in due if hour in self._failed}
            if self._forgot:
                self._touch_begun(connection, due)
                self._forgot = False
            for begins, table in sorted(due, key=lambda hour: self._failed.get(hour, 0)):
                if self._stop.is_set() or time.monotonic() - begin_s > TURN_S:
                    break
                count += self._pack_hour(connection, table, begins, begin_s + TURN_S)
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
        return count

    def _due(self, connection: psycopg.Connection[Any], tables: Iterable[str]) -> list[tuple[datetime, str]]:
        return [(begins, table) for table in tables for (begins,) in connection.execute(_DUE, [table]).fetchall()]

    def _is_packed(self, connection: psycopg.Connection[Any], table: str) -> bool:
        """Whether there is a table for its packed hours: not on the Community edition, nor before the migration that adds it."""
        return bool(connection.execute(_EXIST, [packed.table_name(table)]).fetchone() == (True,))

    def _touch_begun(self, connection: psycopg.Connection[Any], due: Iterable[tuple[datetime, str]]) -> None:
        """Of each of these hours that is joined to packed samples, the minutes of all RNICs are computed again."""
        for begins, table in due:
            if table in packed.PACKED and self._has_packed(connection, table, begins):
                self._touch(table, begins, None)

    def _pack_hour(self, connection: psycopg.Connection[Any], table: str, begins: datetime, until_s: float) -> int:
        """Pack an hour; returns 1 if all of it is packed. By RNICs, it goes on until a time of the monotonic clock, seconds."""
        try:
            joins = (begins, table) in self._failed or self._has_packed(connection, table, begins)
            if joins and not self._join(connection, table, begins, until_s):
                return 0
            row = connection.execute("SELECT wallwatch_pack_hour(%s, %s)", [table, begins]).fetchone()
        except packed.BUSY as error:
            self._failed[begins, table] = next(self._failures)
            log.info("%s of %s stays as it is for now: %s", begins, table, error.diag.message_primary)
            return 0
        except psycopg.Error:
            self._failed[begins, table] = next(self._failures)
            self._forgot = self._forgot or connection.broken
            if not self._stop.is_set():
                log.warning("%s of %s cannot be packed now; the next turn begins with others", begins, table)
            raise
        self._failed.pop((begins, table), None)
        if row is not None and row[0]:
            self._touch(table, begins, None)
        return 1

    def _has_packed(self, connection: psycopg.Connection[Any], table: str, begins: datetime) -> bool:
        """Whether the first hour of the chunk has packed samples.

        Chunks from before an upgrade may have six hours or a day. If only later hours of one are packed, it is packed as a whole once more.
        """
        query = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE hour >= %s AND hour < %s)").format(sql.Identifier(packed.table_name(table)))
        return connection.execute(query, [begins, begins + packed.HOUR]).fetchone() == (True,)

    def _join(self, connection: psycopg.Connection[Any], table: str, begins: datetime, until_s: float) -> bool:
        """Pack the RNICs that have rows, some at a time; what comes meanwhile stays for the rest of the hour.

        Returns whether all were packed; no more than some are once the process stops or the turn ends. The next turn goes on with the rest.
        """
        if connection.execute(_CAN_JOIN).fetchone() != (True,):
            return True
        above = 0
        while not self._stop.is_set():
            row = connection.execute(_JOIN, [table, begins, above, RNICS_AT_ONCE]).fetchone()
            if row is None or not row[0]:
                return True
            self._touch(table, begins, row[0])
            above = max(row[0])
            if time.monotonic() > until_s:
                break
        return False

    def _touch(self, table: str, begins: datetime, rnics: Collection[int] | None) -> None:
        """Minutes of which samples were packed are computed again: until now, a sample that came again counted twice."""
        if table in packed.PACKED:
            first = int(begins.timestamp()) // 60
            self._touched(table, range(first, first + 60), rnics)
