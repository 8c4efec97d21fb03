"""The states of policies over the fleet: sums of the newest report of each RNIC. Reading those of 40,000 RNICs takes seconds."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from time import monotonic
from typing import Any

from sqlalchemy import Row

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database, ReadSession
from wallwatch_backend.policies.reports import repository as telemetry_repository

States = Mapping[str, Row[Any]]

MANY_REPORTS = 20_000
"""From this number on, reports are read in the background; fewer are read with each request."""
EVERY_S = 15.0
SHARE = 0.05
"""Largest share of time that the database may spend on it. Reports come once per minute, so a minute-old sum is nearly as good."""


class Standing:
    """The last sums, read again while the process runs; each replica has its own."""

    def __init__(self, database: Database, many_reports: int = MANY_REPORTS) -> None:
        self._database, self._many = database, many_reports
        self._kept: States | None = None
        self._reading = asyncio.Lock()

    async def states(self, session: ReadSession, at: datetime) -> States:
        """Policy -> (hosts, subjects, unknown, heard_at, reports)."""
        kept = self._kept
        if kept is None:
            async with self._reading:  # just started: wait for the first reading
                kept = self._kept
        if kept is None or sum(row.reports for row in kept.values()) < self._many:
            kept = self._kept = await telemetry_repository.states(session, at)
        return kept

    async def read(self) -> float:
        """Read all reports; return how long that took (s)."""
        async with self._reading, self._database.read() as session:
            begin = monotonic()
            self._kept = await telemetry_repository.states(session, clock.now())
            return monotonic() - begin

    async def run(self) -> None:
        """Read again and again, within `SHARE` of the time."""
        while True:
            took_s = await self.read()
            await asyncio.sleep(max(EVERY_S, took_s / SHARE))
