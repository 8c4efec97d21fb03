"""Maintenance on the Apache edition of TimescaleDB, by ingest: aggregates and removal of old chunks.

The Community edition does both itself, so there this thread does nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import create_engine

from wallwatch.settings import Settings
from wallwatch.store.editions import LASTING, Edition, edition_of
from wallwatch.store.rollups import ROLLUPS, Rollup, refresh_statement
from wallwatch.store.tables import HYPERTABLES

log = logging.getLogger(__name__)

ROLLUP_EVERY_S = 20.0
RETENTION_EVERY_S = 3_600.0
LOCK = 7_241_023
"""Advisory lock: of several ingest processes, the one that holds it does this work."""


class Maintenance:
    """Recomputes the minutes that received rows, and drops chunks past their retention."""

    def __init__(self, settings: Settings, stop: threading.Event) -> None:
        self._settings = settings
        self._stop = stop
        self._touched: dict[str, int] = {}
        self._due_s: dict[str, float] = {}
        self._lock = threading.Lock()

    def touched(self, first_minute: Mapping[str, int]) -> None:
        """Note the earliest minute that a batch wrote to, by table."""
        with self._lock:
            for table, minute in first_minute.items():
                self._touched[table] = min(minute, self._touched.get(table, minute))

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
                        return
                    self.roll_up(connection)
                    if time.monotonic() >= next_retention:
                        next_retention = time.monotonic() + RETENTION_EVERY_S
                        drop_old_chunks(connection, self._settings)
            except psycopg.Error as error:
                log.warning("maintenance failed, trying again at the next turn: %s", str(error).strip())

    def _edition(self) -> Edition:
        engine = create_engine(self._settings.database_url)
        with engine.connect() as connection:
            found = edition_of(connection)
        engine.dispose()
        return found

    def roll_up(self, connection: psycopg.Connection[Any]) -> None:
        """Recompute the touched minutes. A minute that is still being written is computed now and again once it is complete."""
        with self._lock:
            touched, self._touched = self._touched, {}
        try:
            with connection.transaction():
                row = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK]).fetchone()
                if row is None or not row[0]:
                    self.touched(touched)
                    return
                for rollup in ROLLUPS:
                    first = touched.get(rollup.source)
                    if first is None:
                        continue
                    if time.monotonic() < self._due_s.get(rollup.view, 0.0):
                        self.touched({rollup.source: first})
                        continue
                    self._due_s[rollup.view] = time.monotonic() + rollup.refresh_every_s
                    self._refresh(connection, rollup, first)
        except psycopg.Error:
            self.touched(touched)
            raise

    def _refresh(self, connection: psycopg.Connection[Any], rollup: Rollup, first_minute: int) -> None:
        start = datetime.fromtimestamp(first_minute * 60 // rollup.width_s * rollup.width_s, UTC)  # a bucket is computed as a whole
        end = datetime.now(UTC) + timedelta(seconds=self._settings.future_tolerance_s + 60)
        connection.execute(refresh_statement(rollup).encode(), {"start": start, "end": end})


def drop_old_chunks(connection: psycopg.Connection[Any], settings: Settings) -> None:
    """Drop chunks past their retention; findings and events have the retention of the aggregates."""
    now = datetime.now(UTC)
    raw, long = now - timedelta(days=settings.retention_days), now - timedelta(days=settings.rollup_retention_days)
    ages = {table: (long if table in LASTING else raw) for table in HYPERTABLES} | {r.table: long for r in ROLLUPS}
    for table, before in ages.items():
        dropped = connection.execute(sql.SQL("SELECT drop_chunks({}, older_than => %s)").format(sql.Literal(table)), [before]).fetchall()
        if dropped:
            log.info("dropped %d chunks of %s older than %s", len(dropped), table, before.date())
