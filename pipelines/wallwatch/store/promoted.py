"""Profiles that the backend promoted (table `rnic_profile_version`); the jobs poll the table to follow changes."""

from __future__ import annotations

import logging
import threading
from typing import Any

import psycopg
from pydantic import ValidationError

from wallwatch.domain.catalogue import promoted
from wallwatch.domain.catalogue.promoted import Promotion
from wallwatch.domain.performance.parameters import Performance
from wallwatch.store.watcher import Watcher

log = logging.getLogger(__name__)

EVERY_S = 15.0
"""The longest time until a promotion reaches every process; polling is cheap, as the table has a handful of rows."""

_ACTIVE = """
SELECT model, driver, fw_ver, number, performance, limits FROM rnic_profile_version WHERE state = 'active' ORDER BY model, driver, fw_ver
"""


def active(connection: psycopg.Connection[Any]) -> list[Promotion]:
    """The active versions; one that cannot be read is skipped and logged."""
    found = []
    for model, driver, fw_ver, number, performance, limits in connection.execute(_ACTIVE):
        try:
            found.append(Promotion(model, driver, fw_ver, Performance.model_validate(performance), limits, f"version {number}"))
        except ValidationError as problem:
            log.warning("profile %s version %s cannot be read: %s", model, number, problem)
    return found


class ProfileWatcher(Watcher):
    """Keeps the promoted profiles of this process up to date."""

    def __init__(self, libpq_url: str, stop: threading.Event, every_s: float = EVERY_S) -> None:
        super().__init__("promoted profiles", libpq_url, stop, every_s)
        self._seen: list[Promotion] | None = None

    def read(self, connection: psycopg.Connection[Any]) -> bool:
        """Read the table once; True when the profiles changed."""
        found = active(connection)
        if found == (self._seen or []):
            return False
        self._seen = found
        for refused in promoted.use(found):
            log.warning("a promoted profile was rejected: %s", refused)
        log.info("active profiles: %s", ", ".join(f"{p.model} {p.source}" for p in found) or "built-in")
        return True
