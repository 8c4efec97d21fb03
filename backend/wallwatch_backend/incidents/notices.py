"""Turns changes of many incidents into events for webhooks: written as notices in the change's transaction, so that none is lost."""

import asyncio

from wallwatch_backend.incidents import present, repository
from wallwatch_backend.kit.database import Database
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
            for incident_id, event, at in notices:
                row = await repository.one(session, incident_id)
                if row is not None:
                    shown = await present.full(session, row)
                    await outbox.add(session, EventType(event), shown.model_dump(mode="json", by_alias=True), at)
        return len(notices)
