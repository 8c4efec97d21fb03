"""Profiles that the backend promoted (table `rnic_profile_version`): read by the jobs, which follow changes by asking now and then."""

from __future__ import annotations

import logging
import threading
from typing import Any

import psycopg
from pydantic import ValidationError

from wallwatch.domain.catalogue import promoted
from wallwatch.domain.catalogue.promoted import Promotion
from wallwatch.domain.performance.parameters import Performance

log = logging.getLogger(__name__)

EVERY_S = 15.0
"""A promotion reaches every process after at most so long; the table has a handful of rows."""

_ACTIVE = """
SELECT model, driver, fw_ver, number, performance, limits FROM rnic_profile_version WHERE state = 'active' ORDER BY model, driver, fw_ver
"""


def active(connection: psycopg.Connection[Any]) -> list[Promotion]:
    """The versions in force; one that cannot be read is left out and logged."""
    found = []
    for model, driver, fw_ver, number, performance, limits in connection.execute(_ACTIVE):
        try:
            found.append(Promotion(model, driver, fw_ver, Performance.model_validate(performance), limits, f"version {number}"))
        except ValidationError as problem:
            log.warning("profile %s version %s cannot be read: %s", model, number, problem)
    return found


class Follower:
    """Keeps the promoted profiles of this process up to date. While the database does not answer, what was read last stays."""

    def __init__(self, libpq_url: str, stop: threading.Event, every_s: float = EVERY_S) -> None:
        self._url = libpq_url
        self._stop = stop
        self._every_s = every_s
        self._seen: list[Promotion] | None = None

    def look(self) -> bool:
        """Read once; True when it changed anything."""
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=5, application_name="wallwatch-profiles") as connection:
                found = active(connection)
        except psycopg.Error as problem:
            log.warning("promoted profiles could not be read, what was known stays: %s", str(problem).strip())
            return False
        if found == (self._seen or []):
            return False
        self._seen = found
        for refused in promoted.use(found):
            log.warning("a promoted profile is not used: %s", refused)
        log.info("profiles in force: %s", ", ".join(f"{p.model} {p.source}" for p in found) or "the catalogue's")
        return True

    def run(self) -> None:
        """Follow until the process stops."""
        while True:
            self.look()
            if self._stop.wait(self._every_s):
                return

    def start(self) -> threading.Thread:
        """`run` in a thread that does not keep the process alive; the first look is over when this returns."""
        self.look()
        thread = threading.Thread(target=self.run, name="profiles", daemon=True)
        thread.start()
        return thread
