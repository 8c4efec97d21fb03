"""The writing half of ingest: one transaction per batch, then the offsets. It waits for an unreachable database and drops nothing."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from tenacity import Retrying, retry_if_exception_type, stop_when_event_set, wait_exponential_jitter

from wallwatch.jobs import ingest_forecasts, ingest_isolation
from wallwatch.jobs.dead_letter import DeadLetters
from wallwatch.jobs.ingest_batch import Batch
from wallwatch.jobs.metrics import DATABASE_UP, FLUSH_SECONDS, ROWS, ROWS_REPEATED
from wallwatch.store import copy
from wallwatch.store.refusals import Refusal, RefusalCounts
from wallwatch.store.state import StateKeeper

log = logging.getLogger(__name__)

NOTIFY_EVERY_S = 0.25

_LZ4 = """
SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings
WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)
"""
"""Compress long values, such as forecasts, with lz4: it takes PostgreSQL a quarter less time than pglz, its default."""

_FINDING = """
INSERT INTO finding (time, rnic_id, host_id, finding_id, symptom, state, started_at, severity, blast_radius, rule, title, summary,
  explanation, model, driver, fw_ver, evidence, hypotheses, remedies)
VALUES (%(at)s, %(rnic_id)s, %(host_id)s, %(finding_id)s, %(symptom)s, %(state)s, %(started_at)s, %(severity)s, %(blast_radius)s, %(rule)s,
  %(title)s, %(summary)s, %(explanation)s, %(model)s, %(driver)s, %(fw_ver)s, %(evidence)s, %(hypotheses)s, %(remedies)s)
ON CONFLICT DO NOTHING
"""


class Stopped(Exception):
    """The process was asked to stop while it waited for the database."""


class Database:
    """A connection that reconnects. `run` repeats a function until it is committed."""

    def __init__(self, url: str, stop: threading.Event) -> None:
        self._url = url
        self._stop = stop
        self._connection: psycopg.Connection[Any] | None = None

    def run(self, work: Callable[[psycopg.Connection[Any]], None]) -> None:
        """Run `work` in its own transaction, again after each lost connection, with growing pauses up to 5 s.

        Raises
        ------
        Stopped
            When the process stops before the transaction is committed; the database then has nothing of it.
        """
        for attempt in Retrying(
            retry=retry_if_exception_type((psycopg.OperationalError, psycopg.InterfaceError)),
            wait=wait_exponential_jitter(multiplier=0.1, max=5.0, jitter=0.5),
            stop=stop_when_event_set(self._stop),
            sleep=self._pause,
            before_sleep=lambda state: self._lost(state.outcome.exception() if state.outcome else None, state.attempt_number),
            retry_error_cls=lambda _: Stopped("stopped while waiting for the database"),  # type: ignore[arg-type]  # tenacity calls it, whatever its annotation says
        ):
            with attempt:
                connection = self._connected()
                with connection.transaction():
                    work(connection)
        DATABASE_UP.set(1)

    def _pause(self, seconds: float) -> None:
        self._stop.wait(seconds)

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5, application_name="wallwatch-ingest")
            self._connection.execute(_LZ4)
        return self._connection

    def _lost(self, error: BaseException | None, attempt: int) -> None:
        DATABASE_UP.set(0)
        if attempt in (1, 5) or attempt % 20 == 0:
            log.warning("the database does not answer (attempt %d), waiting: %s", attempt, str(error).strip())
        self.close()
        if attempt % 20 == 0:
            gc.collect()  # a connection that fails leaves a cycle, and the thread that looks for those (`garbage`) waits for this one

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Writer:
    """Writes batches one after another in its own thread: libpq waits without the interpreter's lock, so decoding continues meanwhile."""

    def __init__(
        self,
        database: Database,
        keeper: StateKeeper,
        letters: DeadLetters,
        commit: Callable[[Batch], None],
        forecast_keep_s: Callable[[], float],
    ) -> None:
        self._database = database
        self._keeper = keeper
        self._letters = letters
        self._commit = commit
        self._forecast_keep_s = forecast_keep_s
        self._last_state_s = 0.0
        self._repeats = False
        """Whether rows of the last batch existed already, so that those of the next one may, too."""

    def write(self, batch: Batch) -> None:
        """Write dead letters, then the transaction, then the offsets: after any crash the batch is read again and adds nothing twice."""
        for letter in batch.rejected:
            self._letters.send(letter)
        if batch.rejected:
            while not self._letters.flush():
                log.warning("dead letters wait for the broker")
        now = time.monotonic()
        self._keeper.take(batch.news, now)
        due = self._due(now)
        added: dict[str, int] = {}
        isolation: dict[str, int] = {}

        def transaction(connection: psycopg.Connection[Any]) -> None:
            added.clear()
            write = copy.write_new if self._repeats else copy.write
            for table in batch.tables.values():
                added[table.table] = write(connection, table)
            self._write_findings(connection, batch)
            ingest_forecasts.write(connection, batch.forecasts, self._forecast_keep_s())
            isolation.update(ingest_isolation.write(connection, batch.isolation))
            _count_dead_letters(connection, batch)
            self._keeper.write(connection, due, batch.findings)

        started = time.perf_counter()
        try:
            self._database.run(transaction)
        except copy.RowsExist:
            self._repeats = True
            self._database.run(transaction)
        self._repeats = any(added[table.table] < table.row_count for table in batch.tables.values())
        FLUSH_SECONDS.observe(time.perf_counter() - started)
        self._state_written(due, now)
        for table in batch.tables.values():
            ROWS.labels(table.table).inc(added[table.table])
            ROWS_REPEATED.labels(table.table).inc(table.row_count - added[table.table])
        for name, count in isolation.items():
            ROWS.labels(name).inc(count)
        self._commit(batch)

    @property
    def owes_states(self) -> bool:
        """Whether rows of `rnic_state` wait for the next notification."""
        return self._keeper.waiting

    def idle(self) -> None:
        """Write the rows of `rnic_state` that are still due while no batch arrives."""
        now = time.monotonic()
        due = self._due(now)
        if due:

            def transaction(connection: psycopg.Connection[Any]) -> None:
                self._keeper.write(connection, due, ())

            self._database.run(transaction)
            self._state_written(due, now)

    def _due(self, now: float) -> list[int]:
        """At most four notifications per second: readers cannot use more."""
        return self._keeper.due(now) if now - self._last_state_s >= NOTIFY_EVERY_S else []

    def _state_written(self, due: list[int], now: float) -> None:
        if due:
            self._last_state_s = now
            self._keeper.written(due, now)

    @staticmethod
    def _write_findings(connection: psycopg.Connection[Any], batch: Batch) -> None:
        with connection.cursor() as cursor:
            for rnic_id, host_id, _, finding in batch.findings:
                values = {
                    **finding,
                    "rnic_id": rnic_id,
                    "host_id": host_id,
                    **{n: Jsonb(finding[n]) for n in ("evidence", "hypotheses", "remedies")},
                }
                cursor.execute(_FINDING, values)


def _count_dead_letters(connection: psycopg.Connection[Any], batch: Batch) -> None:
    counts = RefusalCounts()
    counts.take(Refusal(letter.topic, letter.reason, letter.detail) for letter in batch.rejected)
    counts.write(connection)
