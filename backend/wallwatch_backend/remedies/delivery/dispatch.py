"""Sends commands to the agents that are connected here: one loop serves all hosts for which a command waits.

A command is marked as dispatched before it is sent, in one transaction for many, so an emergency stop withdraws exactly
the commands that will not be sent. A process that is killed between the two has sent too little, never too much: the
agent connects again and gets every command without a result, and it runs no command id twice.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

import structlog
from prometheus_client import Histogram
from sqlalchemy.exc import SQLAlchemyError

from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import notifications
from wallwatch_backend.remedies.orders import repository as remedies
from wallwatch_backend.remedies.orders.action_hooks import hooks_of
from wallwatch_backend.remedies.states import CommandState, RemedyState

log = structlog.get_logger(__name__)
BATCH = Histogram("wallwatch_command_dispatch_batch", "Commands sent per round of the dispatcher", buckets=(1, 3, 10, 30, 100, 300))

_MAX_HOSTS = 200
_RETRY_S = 1.0
_GATHER_S = 0.01
"""Pause after each round: a command may leave this much later, and more commands share a transaction."""


class OutgoingCommand(NamedTuple):
    """A signed command, and what must arrive before it: SHA-256 and compressed operations of a mask plan."""

    id: UUID
    jws: str
    operations: tuple[str, bytes] | None


class Receiver(Protocol):
    """The connection of an agent that takes commands."""

    def unsent(self, command_id: UUID) -> bool:
        """Return whether a command was not sent over this connection yet."""

    def send_commands(self, commands: Sequence[OutgoingCommand]) -> None:
        """Send commands in the background, in this order, each after its operations."""


class Receivers(Protocol):
    """The agents that are connected to this process."""

    def receiver(self, host: str) -> Receiver | None:
        """Return the connection of a host's agent, if it is connected here and takes commands."""


class CommandDispatcher:
    """`wake` notes that a command may wait for a host; `run` sends it."""

    def __init__(self, database: Database, receivers: Receivers) -> None:
        self._database, self._receivers = database, receivers
        self._hosts: dict[str, None] = {}  # in the order in which they were woken
        self._woken = asyncio.Event()

    def wake(self, host: str) -> None:
        if self._receivers.receiver(host) is not None:
            self._hosts[host] = None
            self._woken.set()

    async def run(self) -> None:
        """Send until cancelled. While the database is unreachable, all hosts stay woken."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._hosts:
                hosts = [host for host, _ in zip(self._hosts, range(_MAX_HOSTS), strict=False)]
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
        """Send the commands that wait for these hosts."""
        async with self._database.read() as reading:
            waiting = await remedies.undelivered(reading, hosts, clock.now())
            operations = {row.id: await hooks_of(row.action).attachment(reading, row.id) for row in waiting if row.operation != "undo"}
        to_send = [row for row in waiting if (to := self._receivers.receiver(row.host)) is not None and to.unsent(row.id)]
        pending = [row.id for row in to_send if row.state == CommandState.queued]
        if pending:
            claimed = await self._claim(pending)
            to_send = [row for row in to_send if row.state == CommandState.sent or row.id in claimed]
        by_host: Mapping[str, list[OutgoingCommand]] = defaultdict(list)
        for row in to_send:
            by_host[row.host].append(OutgoingCommand(row.id, row.jws, operations.get(row.id)))
        for host, commands in by_host.items():
            receiver = self._receivers.receiver(host)
            if receiver is not None:  # else the agent gets them when it connects again
                receiver.send_commands(commands)
        if to_send:
            BATCH.observe(len(to_send))

    async def _claim(self, command_ids: Sequence[UUID]) -> set[UUID]:
        async with self._database.write() as session:
            claimed = await remedies.claim(session, command_ids, clock.now())
            for remedy, _ in claimed:
                await _note_dispatched(session, remedy)
        return {command_id for _, command_id in claimed}


async def _note_dispatched(session: WriteSession, row: RemedyRow) -> None:
    if row.state == RemedyState.approved:  # an undo leaves the remedy's own state as it is
        row.state, row.updated_at = RemedyState.running, clock.now()
        await notifications.notify(session, row)
    await changes.announce(session, "remedy", row.id, row.state)
