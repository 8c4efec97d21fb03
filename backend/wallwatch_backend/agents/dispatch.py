"""Sends commands to the agents that are connected here: one loop takes all hosts for which something waits.

A command is marked as sent before it is sent, in one transaction for many, so an emergency stop takes back what will not leave, and nothing
else. A process that is killed between the two has sent too little, never too much: the agent connects again and gets all that has no
result, and it runs no id twice.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

import structlog
from prometheus_client import Histogram
from sqlalchemy.exc import SQLAlchemyError

from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.plans import repository as plans
from wallwatch_backend.remedies import repository as remedies
from wallwatch_backend.remedies import telling
from wallwatch_backend.remedies.models import RemedyRow

log = structlog.get_logger(__name__)
TOGETHER = Histogram(
    "wallwatch_commands_together", "Commands that were sent by one round of the dispatcher", buckets=(1, 3, 10, 30, 100, 300)
)

_MOST_HOSTS = 200
_RETRY_S = 1.0
_GATHER_S = 0.01
"""After each round: so much later a command may leave, and so many more share a transaction."""

Beside = tuple[str, bytes] | None


class Receiver(Protocol):
    """A connection that takes commands."""

    def unsent(self, command_id: UUID) -> bool:
        """Say whether a command was not given to this connection yet."""

    def give(self, commands: Sequence[tuple[UUID, str, Beside]]) -> None:
        """Send commands soon, in this order, each after what goes beside it."""


class Receivers(Protocol):
    """The connections of this process."""

    def receiver(self, host: str) -> Receiver | None:
        """The connection of a host, if its agent is connected here and takes commands."""


class Dispatch:
    """`wake` says that a command may wait for a host; `run` sends it."""

    def __init__(self, database: Database, receivers: Receivers) -> None:
        self._database, self._receivers = database, receivers
        self._hosts: dict[str, None] = {}  # in the order in which they were woken
        self._woken = asyncio.Event()

    def wake(self, host: str) -> None:
        if self._receivers.receiver(host) is not None:
            self._hosts[host] = None
            self._woken.set()

    async def run(self) -> None:
        """Send until cancelled. While the database is away, all stay woken."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._hosts:
                hosts = [host for host, _ in zip(self._hosts, range(_MOST_HOSTS), strict=False)]
                for host in hosts:
                    del self._hosts[host]
                try:
                    await self.send(hosts)
                except (SQLAlchemyError, OSError) as error:
                    log.error("commands_not_sent", hosts=len(hosts), error=str(error).splitlines()[0], retry_s=_RETRY_S)
                    self._hosts = {**dict.fromkeys(hosts), **self._hosts}
                    await asyncio.sleep(_RETRY_S)
                await asyncio.sleep(_GATHER_S)

    async def send(self, hosts: Sequence[str]) -> None:
        """Send what waits for these hosts."""
        async with self._database.read() as reading:
            waiting = await remedies.undelivered(reading, hosts, clock.now())
            beside = {
                row.id: await plans.operations_for(reading, row.id)
                for row in waiting
                if row.action == plans.APPLY and row.operation != "undo"
            }
        to_send = [row for row in waiting if (to := self._receivers.receiver(row.host)) is not None and to.unsent(row.id)]
        pending = [row.id for row in to_send if row.state == "pending"]
        if pending:
            claimed = await self._claim(pending)
            to_send = [row for row in to_send if row.state == "dispatched" or row.id in claimed]
        by_host: Mapping[str, list[tuple[UUID, str, Beside]]] = defaultdict(list)
        for row in to_send:
            by_host[row.host].append((row.id, row.jws, beside.get(row.id)))
        for host, commands in by_host.items():
            receiver = self._receivers.receiver(host)
            if receiver is not None:  # else it gets them when it is back
                receiver.give(commands)
        if to_send:
            TOGETHER.observe(len(to_send))

    async def _claim(self, command_ids: Sequence[UUID]) -> set[UUID]:
        async with self._database.write() as session:
            claimed = await remedies.claim(session, command_ids, clock.now())
            for remedy, _ in claimed:
                await _tell(session, remedy)
        return {command_id for _, command_id in claimed}


async def _tell(session: WriteSession, row: RemedyRow) -> None:
    if row.state == "pending":  # an undo leaves the remedy's own state as it is
        row.state, row.updated_at = "dispatched", clock.now()
        await telling.tell(session, row)
    await changes.announce(session, "remedy", row.id, row.state)
