"""Packing of old samples and minutes on the Apache edition of TimescaleDB, by ingest: an hour that is over becomes one row per RNIC.

The Community edition's columnstore does the same by itself: there are no tables for packed hours, and nothing is done.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import psycopg

from wallwatch.settings import Settings
from wallwatch.store import packed
from wallwatch.store.editions import COMPRESS_AFTER

log = logging.getLogger(__name__)

EVERY_S = 120.0
TURN_S = 300.0
"""After this time, what is left waits for the next turn, which begins with the newest samples: after an upgrade there may be a week of
samples and 90 days of minutes to pack."""
LOCK = 7_241_026
"""Advisory lock: of several ingest processes, the one that holds it packs."""

_EXIST = "SELECT to_regclass(format('public.%%I', %s::text)) IS NOT NULL"
_DUE = f"""
SELECT range_start FROM timescaledb_information.chunks
WHERE hypertable_schema = 'public' AND hypertable_name = %s AND range_end < now() - INTERVAL '{COMPRESS_AFTER}'
  AND pg_relation_size(format('%%I.%%I', chunk_schema, chunk_name)::regclass) > 0
"""  # noqa: S608 - a constant


class Packing:
    """Packs the hours that ended some time ago. Calls `touched` with the minutes whose aggregates have to be computed again."""

    def __init__(self, settings: Settings, stop: threading.Event, touched: Callable[[Mapping[str, Iterable[int]]], None]) -> None:
        self._settings = settings
        self._stop = stop
        self._touched = touched
        self._connection: psycopg.Connection[Any] | None = None

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
        """Pack the hours that are due; returns how many were packed. An hour that cannot be packed now stays as it is."""
        count = 0
        groups = [[table for table in tables if self._is_packed(connection, table)] for tables in (packed.PACKED, packed.MINUTES)]
        if not any(groups):
            return 0
        if connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone() != (True,):
            return 0
        begin_s = time.monotonic()
        try:
            for tables in groups:
                due = [(begins, table) for table in tables for (begins,) in connection.execute(_DUE, [table]).fetchall()]
                # The newest first: what came late joins its hour sooner or later, and what has just ended is read most.
                for begins, table in sorted(due, reverse=True):
                    if self._stop.is_set() or time.monotonic() - begin_s > TURN_S:
                        return count
                    count += self._pack_hour(connection, table, begins)
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
        return count

    def _is_packed(self, connection: psycopg.Connection[Any], table: str) -> bool:
        """Whether there is a table for its packed hours: not on the Community edition, nor before the migration that adds it."""
        return bool(connection.execute(_EXIST, [packed.table_name(table)]).fetchone() == (True,))

    def _pack_hour(self, connection: psycopg.Connection[Any], table: str, begins: datetime) -> int:
        try:
            row = connection.execute("SELECT wallwatch_pack_hour(%s, %s)", [table, begins]).fetchone()
        except packed.BUSY as error:
            log.info("%s of %s stays as it is for now: %s", begins, table, error.diag.message_primary)
            return 0
        if row is not None and row[0] and table in packed.PACKED:  # until now, a sample that came again counted twice
            first = int(begins.timestamp()) // 60
            self._touched({table: range(first, first + 60)})
        return 1
