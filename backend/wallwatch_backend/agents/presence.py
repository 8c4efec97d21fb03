"""Notes when agents were heard last: all of a process in one statement, instead of one for each heartbeat."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from wallwatch_backend.agents import repository
from wallwatch_backend.kit.database import Database

log = structlog.get_logger(__name__)

EVERY_S = 5.0
"""How much older `last_seen_at` may be than what was heard."""
_AT_ONCE = 2000

Superseded = Callable[[], object]


class Presence:
    """Keeps what was heard and writes it down; a connection that is not its agent's newest any more is told so."""

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
                log.warning("agents_heard_not_noted", error=str(error).splitlines()[0], retry_s=EVERY_S)

    async def write(self) -> None:
        """Write down what was heard since the last time."""
        heard, self._heard = self._heard, {}
        keys = list(heard)
        for begin in range(0, len(keys), _AT_ONCE):
            part = keys[begin : begin + _AT_ONCE]
            try:
                async with self._database.write() as session:
                    noted = await repository.note_heard(session, [(*key, heard[key][0]) for key in part])
            except BaseException:
                self._heard = {**{key: heard[key] for key in keys[begin:]}, **self._heard}
                raise
            for key in part:
                if key not in noted:
                    heard[key][1]()
