"""One process of several works, the others wait: it holds an advisory lock of PostgreSQL, which ends with its connection."""

from __future__ import annotations

from typing import Any

import psycopg


class OnlyOne:
    """The lock; asked for again and again, as a connection may be lost at any time."""

    def __init__(self, libpq_url: str, lock: int, application: str) -> None:
        self._url = libpq_url
        self._lock = lock
        self._application = application
        self._connection: psycopg.Connection[Any] | None = None
        self._ours = False
        self.anew = False
        """Whether the last `held` took the lock: what was known before may be old, as another process has worked meanwhile."""

    def held(self) -> bool:
        """Whether this process is the one.

        Raises
        ------
        psycopg.OperationalError
            When the database does not answer.
        """
        self.anew = False
        try:
            if self._connection is None:
                self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5, application_name=self._application)
            if self._ours:
                self._connection.execute("SELECT 1")
            else:
                row = self._connection.execute("SELECT pg_try_advisory_lock(%s)", [self._lock]).fetchone()
                self._ours = self.anew = bool(row and row[0])
        except psycopg.OperationalError:
            self.release()
            raise
        return self._ours

    def release(self) -> None:
        """Let another process work."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._ours = None, False
