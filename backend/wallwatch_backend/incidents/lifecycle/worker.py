"""What happens to incidents without a request: the hold time ends, silences start and end, inhibited findings outlast their remedy.

One replica does it.
"""

import asyncio
from datetime import timedelta

import structlog
from prometheus_client import Counter

from wallwatch_backend.incidents import events, repository
from wallwatch_backend.incidents.findings.raising import raise_due
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.silences import enforcement
from wallwatch_backend.incidents.silences import repository as silences
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit import clock, idempotency
from wallwatch_backend.kit.database import Database
from wallwatch_backend.notify.schemas import EventType
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
RESOLVED = Counter("wallwatch_incidents_cleared", "Incidents resolved because their symptoms did not recur during the hold time")

PERIOD_S = 1.0
ANSWERS_KEPT = timedelta(days=1)
_BATCH = 500
_TIDY_EVERY = timedelta(hours=1)


class IncidentWorker:
    """Checks every second."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._hold = timedelta(seconds=settings.incident_hold_s)
        self._reopen_within = timedelta(seconds=settings.reopen_within_s)

    async def run(self) -> None:
        """Work until cancelled."""
        tidied = clock.now() - _TIDY_EVERY
        while True:
            while await self.resolve_cleared() == _BATCH:
                pass
            await self.apply_silences()
            await raise_due(self._database, self._reopen_within)
            if clock.now() - tidied >= _TIDY_EVERY:
                tidied = clock.now()
                async with self._database.write() as session:
                    await idempotency.forget_before(session, tidied - ANSWERS_KEPT)
            await asyncio.sleep(PERIOD_S)

    async def resolve_cleared(self) -> int:
        """Resolve a batch of incidents whose symptoms did not recur during the hold time; return how many."""
        at = clock.now()
        async with self._database.write() as session:
            ids = await repository.lock_cleared_before(session, at - self._hold, _BATCH)
            if not ids:
                return 0
            i = IncidentRow
            # An event time: when the hold time ended, however late it is noticed.
            resolved_at = i.cleared_at + self._hold
            text = f"No recurrence for {self._hold.total_seconds():.0f} s; resolved automatically."
            await repository.add_timeline_many(session, ids, at, "resolved", events.SYSTEM, text)
            values = {"state": IncidentState.resolved, "resolved_at": resolved_at, "resolved_by": events.SYSTEM}
            await events.publish_many(session, ids, EventType.resolved, at, **values, suppressed_by=None, suppressed_at=None)
        RESOLVED.inc(len(ids))
        return len(ids)

    async def apply_silences(self) -> None:
        """Apply silences that started or ended since the last call."""
        at = clock.now()
        async with self._database.read() as session:
            if not await silences.not_yet_applied(session, at):
                return
        async with self._database.write() as session:
            changed = await enforcement.apply_to_all(session, at)
        log.info("silences_applied", incidents=changed)
