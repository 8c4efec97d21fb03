"""Counts a job's refused messages in the store, in a thread of its own: the job must not wait for the database."""

from __future__ import annotations

import logging
import threading

import psycopg

from wallwatch.store.refusals import Refusal, RefusalCounts

log = logging.getLogger(__name__)

EVERY_S = 1.0
CONNECT_S = 5


class RefusalCounter:
    """Writes counts within a second or so; without a database they wait, and take no more room the longer they do.

    Parameters
    ----------
    libpq_url : str
        Address of the database.
    name : str
        The job, as its connections are named.
    """

    def __init__(self, libpq_url: str, name: str) -> None:
        self._url, self._name = libpq_url, name
        self._lock = threading.Lock()
        self._waiting: list[Refusal] = []
        self._counts = RefusalCounts()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="refusals", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def add(self, refusal: Refusal) -> None:
        """Count a refusal soon."""
        with self._lock:
            self._waiting.append(refusal)
            if len(self._waiting) >= 1000:  # a flood: as sums, it fits in memory
                self._sum()

    def all_written(self) -> bool:
        """Whether the store has everything that was added."""
        with self._lock:
            return not (self._waiting or self._counts.rows)

    def close(self) -> None:
        """Write what is left, once, and end."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(2 * CONNECT_S)

    def _sum(self) -> None:
        self._counts.take(self._waiting)
        self._waiting.clear()

    def _run(self) -> None:
        while not self._ended.wait(EVERY_S):
            self._write()
        self._write()

    def _write(self) -> None:
        with self._lock:
            self._sum()
            if not self._counts.rows:
                return
            counts = RefusalCounts()
            counts.rows = dict(self._counts.rows)  # they wait here until these are committed
        try:
            with psycopg.connect(self._url, connect_timeout=CONNECT_S, application_name=self._name) as connection:
                counts.write(connection)
        except psycopg.Error as error:
            log.warning("refused messages are not counted in the store yet: %s", str(error).strip())
            return
        with self._lock:
            for kind, (written, _, _) in counts.rows.items():
                count, at, detail = self._counts.rows[kind]
                if count == written:
                    del self._counts.rows[kind]
                else:
                    self._counts.rows[kind] = (count - written, at, detail)
