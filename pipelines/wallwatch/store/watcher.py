"""Polls tables in a thread, so that a job follows what the backend or ingest writes.

While the database is unreachable, what was read last stays.
"""

from __future__ import annotations

import abc
import logging
import threading
from typing import Any

import psycopg

log = logging.getLogger(__name__)


class Watcher(abc.ABC):
    """Reads the database every few seconds. Subclasses implement `read`; `what` names in the log what is read.

    `refresh` reads once, `start` polls in a thread, `wait` blocks until the first read succeeded.
    """

    def __init__(self, what: str, libpq_url: str, stop: threading.Event, every_s: float) -> None:
        self._what = what
        self._url = libpq_url
        self._stop = stop
        self._every_s = every_s
        self._problem = ""
        self.ready = threading.Event()
        """Set once a read has succeeded."""

    @abc.abstractmethod
    def read(self, connection: psycopg.Connection[Any]) -> bool:
        """Read once; True when something changed. Called in the watcher's thread."""

    def refresh(self) -> bool:
        """Read once; True when something changed. A failure is logged when it begins, and changes nothing."""
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=5, application_name=f"wallwatch-{self._name}") as connection:
                changed = self.read(connection)
        except psycopg.Error as problem:
            text = str(problem).strip()
            if text != self._problem:
                log.warning("%s could not be read, the last ones stay active: %s", self._what, text)
            self._problem = text
            return False
        if self._problem:
            log.info("%s can be read again", self._what)
        self._problem = ""
        self.ready.set()
        return changed

    @property
    def _name(self) -> str:
        return self._what.replace(" ", "-")

    def run(self) -> None:
        """Poll until the process stops."""
        while True:
            self.refresh()
            if self._stop.wait(self._every_s):
                return

    def start(self) -> threading.Thread:
        """Run in a thread that does not keep the process alive; the first read has been tried when this returns."""
        self.refresh()
        thread = threading.Thread(target=self.run, name=self._name, daemon=True)
        thread.start()
        return thread

    def wait(self) -> bool:
        """Wait until the first read succeeded, saying in the log why it does not; False when the process stops first."""
        waited = False
        while not self._stop.is_set():
            if self.ready.wait(0.2):
                return True
            if not waited:
                log.warning("waiting for %s: %s", self._what, self._problem or "the database has not answered yet")
            waited = True
        return False
