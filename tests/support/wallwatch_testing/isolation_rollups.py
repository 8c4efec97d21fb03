"""The roll-ups of isolation, computed at once: in operation, `ingest` or the Community edition of TimescaleDB does it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg

from wallwatch.store.rollups import ISOLATION_ROLLUPS, refresh_statement


def roll_up_isolation(connection: psycopg.Connection[Any], start: datetime, end: datetime) -> None:
    """Compute the buckets of minutes, hours and days from `start` to `end`, both included; nothing where views compute on read."""
    row = connection.execute("SELECT to_regclass('vf_hour_rollup')").fetchone()
    if row is None or row[0] is None:
        return
    for rollup in ISOLATION_ROLLUPS:
        first = start.timestamp() // rollup.width_s * rollup.width_s
        last = (end.timestamp() // rollup.width_s + 1) * rollup.width_s
        span = {"start": datetime.fromtimestamp(first, UTC), "end": datetime.fromtimestamp(last, UTC)}
        connection.execute(refresh_statement(rollup).encode(), span)
