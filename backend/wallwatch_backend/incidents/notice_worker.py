"""Turns notices of bulk changes into webhook events. Notices are written in the transaction of the change, so that none is lost."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from uuid import UUID

from wallwatch_backend.incidents import present, repository
from wallwatch_backend.kit.background_tasks import work_through
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.notify.routing import incident_events
from wallwatch_backend.notify.schemas import EventType

PERIOD_S = 0.5
_BATCH = 100


class NoticeWorker:
    """Runs on one replica at a time. A receiver gets the incident as it is when its notice is processed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self) -> None:
        """Process notices until cancelled."""
        await work_through(self.process_batch, _BATCH, PERIOD_S)

    async def process_batch(self) -> int:
        """Turn one batch of notices into events; return how many notices there were."""
        async with self._database.write() as session:
            notices = await repository.pop_notices(session, _BATCH)
            # Building full incidents takes ten times as long as finding out that no webhook is enabled.
            if notices and await incident_events.any_webhook(session):
                for (event, at), same in groupby(notices, key=lambda notice: (notice[1], notice[2])):
                    await _add_events(session, [incident_id for incident_id, _, _ in same], event, at)
        return len(notices)


async def _add_events(session: WriteSession, incident_ids: Sequence[UUID], event: str, at: datetime) -> None:
    rows = {row.id: row for row in await repository.get_many(session, incident_ids)}
    incidents = await present.full_many(session, [rows[id] for id in incident_ids if id in rows])
    await incident_events.add_many(session, EventType(event), [each.model_dump(mode="json", by_alias=True) for each in incidents], at)
