"""Stores when agents were last heard: all agents of a process in one statement, instead of one per heartbeat."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from wallwatch_backend.hosts.agents import repository
from wallwatch_backend.kit.database import Database

log = structlog.get_logger(__name__)

EVERY_S = 5.0
"""How far `last_seen_at` may lag behind."""
_MAX_PER_STATEMENT = 2000

Superseded = Callable[[], object]


class Presence:
    """Collects when agents were heard and stores it. A connection that is no longer its agent's newest is notified."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._heard: dict[tuple[UUID, UUID], tuple[datetime, Superseded]] = {}

    def heard(self, agent_id: UUID, connection_id: UUID, at: datetime, superseded: Superseded) -> None:
        """Note a sign of life. `superseded` is called when the agent was removed or has a newer connection."""
        self._heard[agent_id, connection_id] = (at, superseded)

    def forget(self, agent_id: UUID, connection_id: UUID) -> None:
        self._heard.pop((agent_id, connection_id), None)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self.write()
            except (SQLAlchemyError, OSError) as error:
                log.warning("agents_last_seen_not_stored", error=str(error).splitlines()[0], retry_s=EVERY_S)

    async def write(self) -> None:
        """Store what was heard since the last call."""
        heard, self._heard = self._heard, {}
        keys = list(heard)
        for start in range(0, len(keys), _MAX_PER_STATEMENT):
            chunk = keys[start : start + _MAX_PER_STATEMENT]
            try:
                async with self._database.write() as session:
                    newest = await repository.note_heard(session, [(*key, heard[key][0]) for key in chunk])
            except BaseException:
                self._heard = {**{key: heard[key] for key in keys[start:]}, **self._heard}
                raise
            for key in chunk:
                if key not in newest:
                    heard[key][1]()
