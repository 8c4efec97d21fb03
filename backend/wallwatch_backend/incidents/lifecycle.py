"""What happens to incidents without anyone calling: the end of the hold time, the beginning and end of silences, the end of
what inhibits a finding. One replica does it."""

import asyncio
from datetime import timedelta

import structlog
from prometheus_client import Counter

from wallwatch_backend.incidents import events, repository
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.raising import raise_due
from wallwatch_backend.kit import clock, idempotency
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_backend.silences import enforcement
from wallwatch_backend.silences import repository as silences
from wallwatch_backend.webhooks.schemas import EventType

log = structlog.get_logger(__name__)
RESOLVED = Counter("wallwatch_incidents_over", "Incidents that were resolved because their symptoms stayed away for the hold time")

PERIOD_S = 1.0
ANSWERS_KEPT = timedelta(days=1)
_BATCH = 500
_TIDY_EVERY = timedelta(hours=1)


class Lifecycle:
    """Looks every second."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._hold = timedelta(seconds=settings.incident_hold_s)
        self._reopen_within = timedelta(seconds=settings.reopen_within_s)

    async def run(self) -> None:
        tidied = clock.now() - _TIDY_EVERY
        while True:
            while await self.resolve_over() == _BATCH:
                pass
            await self.apply_silences()
            await raise_due(self._database, self._reopen_within)
            if clock.now() - tidied >= _TIDY_EVERY:
                tidied = clock.now()
                async with self._database.write() as session:
                    await idempotency.forget_before(session, tidied - ANSWERS_KEPT)
            await asyncio.sleep(PERIOD_S)

    async def resolve_over(self) -> int:
        """Resolve incidents whose symptoms have stayed away; return how many."""
        at = clock.now()
        async with self._database.write() as session:
            ids = await repository.over_before(session, at - self._hold, _BATCH)
            if not ids:
                return 0
            i = IncidentRow
            # An event time: the moment at which the symptom had stayed away long enough, however late it is noticed.
            resolved_at = i.over_since + self._hold
            text_ = f"The symptom stayed away for {self._hold.total_seconds():.0f} s."
            await repository.note_many(session, ids, at, "resolved", events.SYSTEM, text_)
            values = {"state": "resolved", "resolved_at": resolved_at, "resolved_by": events.SYSTEM}
            await events.publish_many(session, ids, EventType.resolved, at, **values, suppressed_by=None, suppressed_at=None)
        RESOLVED.inc(len(ids))
        return len(ids)

    async def apply_silences(self) -> None:
        """Let silences that have begun or ended since take effect, without any finding."""
        at = clock.now()
        async with self._database.read() as session:
            if not await silences.not_yet_applied(session, at):
                return
        async with self._database.write() as session:
            changed = await enforcement.apply_to_all(session, at)
        log.info("silences_applied", incidents=changed)
