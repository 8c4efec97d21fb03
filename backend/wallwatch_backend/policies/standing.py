"""How policies stand over the fleet: the newest report of each RNIC, summed up. With 40,000 RNICs reading all of them takes seconds."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from time import monotonic
from typing import Any

from sqlalchemy import Row

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database, ReadSession
from wallwatch_backend.policies import telemetry_repository

States = Mapping[str, Row[Any]]

MANY_REPORTS = 20_000
"""So many newest reports are read beside requests, fewer at each request."""
EVERY_S = 15.0
SHARE = 0.05
"""Most of the time that the database may spend on it. Reports come once a minute, so that what is a minute old is nearly as good."""


class Standing:
    """What was read last, read again for as long as the process lives; each replica has its own."""

    def __init__(self, database: Database, many_reports: int = MANY_REPORTS) -> None:
        self._database, self._many = database, many_reports
        self._kept: States | None = None
        self._reading = asyncio.Lock()

    async def states(self, session: ReadSession, at: datetime) -> States:
        """Policy -> (hosts, subjects, unknown, heard_at, reports)."""
        kept = self._kept
        if kept is None:
            async with self._reading:  # just started: whoever asks waits for the first reading
                kept = self._kept
        if kept is None or sum(row.reports for row in kept.values()) < self._many:
            kept = self._kept = await telemetry_repository.states(session, at)
        return kept

    async def read(self) -> float:
        """Read; returns how long that took (s)."""
        async with self._reading, self._database.read() as session:
            begin = monotonic()
            self._kept = await telemetry_repository.states(session, clock.now())
            return monotonic() - begin

    async def run(self) -> None:
        """Read now and then."""
        while True:
            took_s = await self.read()
            await asyncio.sleep(max(EVERY_S, took_s / SHARE))
