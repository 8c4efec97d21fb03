"""A lock that lets one of several processes work while the others wait: a PostgreSQL advisory lock, which ends with its connection."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg

from wallwatch.database_liveness import NOTICE_DEAD_CLIENT


class SingletonLock:
    """The lock. Call `held` in every turn, because the connection may be lost at any time."""

    def __init__(self, libpq_url: str, lock: int, application: str) -> None:
        self._url = libpq_url
        self._lock = lock
        self._application = application
        self._connection: psycopg.Connection[Any] | None = None
        self._ours = False
        self.newly_acquired = False
        """Whether the last `held` acquired the lock: state in memory may be stale, because another process worked meanwhile."""

    def held(self) -> bool:
        """Whether this process holds the lock; acquires it if it is free.

        Raises
        ------
        psycopg.OperationalError
            When the database does not answer.
        """
        self.newly_acquired = False
        try:
            if self._connection is None:
                self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5, application_name=self._application)
                self._connection.execute(NOTICE_DEAD_CLIENT)
            if self._ours:
                self._connection.execute("SELECT 1")
            else:
                row = self._connection.execute("SELECT pg_try_advisory_lock(%s)", [self._lock]).fetchone()
                self._ours = self.newly_acquired = bool(row and row[0])
        except psycopg.OperationalError:
            self.release()
            raise
        return self._ours

    def release(self) -> None:
        """Release the lock, so that another process can work."""
        if self._connection is not None:
            if self._ours:
                # Closing ends the session on the server a moment later; another process may ask within that moment.
                with suppress(psycopg.Error):
                    self._connection.execute("SELECT pg_advisory_unlock(%s)", [self._lock])
            self._connection.close()
        self._connection, self._ours = None, False
