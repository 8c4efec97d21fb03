"""Turns changes of many incidents into events for webhooks: written as notices in the change's transaction, so that none is lost."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from uuid import UUID

from wallwatch_backend.incidents import present, repository
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.webhooks import outbox
from wallwatch_backend.webhooks.schemas import EventType

PERIOD_S = 0.5
_BATCH = 100


class Notices:
    """Runs on one replica at a time. A receiver gets the incident as it is when its notice is read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self) -> None:
        while True:
            if await self.once() < _BATCH:
                await asyncio.sleep(PERIOD_S)

    async def once(self) -> int:
        """Hand over one batch; return how many there were."""
        async with self._database.write() as session:
            notices = await repository.take_notices(session, _BATCH)
            # To put an incident together takes ten times as long as to forget that nobody wants to hear of it.
            if notices and await outbox.anyone_listens(session):
                for (event, at), same in groupby(notices, key=lambda notice: (notice[1], notice[2])):
                    await _hand_over(session, [incident_id for incident_id, _, _ in same], event, at)
        return len(notices)


async def _hand_over(session: WriteSession, incident_ids: Sequence[UUID], event: str, at: datetime) -> None:
    rows = {row.id: row for row in await repository.some(session, incident_ids)}
    shown = await present.full_many(session, [rows[id] for id in incident_ids if id in rows])
    await outbox.add_many(session, EventType(event), [one.model_dump(mode="json", by_alias=True) for one in shown], at)
