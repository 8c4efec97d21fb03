"""The capability `com.wallwatch.remedy.v1`: commands to agents; their results, progress and flows back."""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import structlog
from pydantic import ValidationError

from wallwatch_backend.hosts.command_keys.signing import COMMAND_CAPABILITY
from wallwatch_backend.hosts.connections.capabilities import BAD_MESSAGES, AgentLink, CustomMessage
from wallwatch_backend.kit.database import Database
from wallwatch_backend.remedies.delivery import messages
from wallwatch_backend.remedies.delivery.dispatch import CommandDispatcher, OutgoingCommand
from wallwatch_backend.remedies.delivery.result_intake import ResultIntake
from wallwatch_backend.remedies.orders import results
from wallwatch_backend.remedies.plans import agent_uploads

log = structlog.get_logger(__name__)


class RemedyCapability:
    """Implements `hosts.connections.capabilities.Capability`. There is one per process."""

    name = COMMAND_CAPABILITY

    def __init__(self, database: Database) -> None:
        self._database = database
        self._channels: dict[str, RemedyChannel] = {}
        self._results = ResultIntake(database)
        self._dispatcher = CommandDispatcher(database, self)

    def open(self, link: AgentLink) -> "RemedyChannel":
        return RemedyChannel(self, self._database, self._results, link)

    def add(self, channel: "RemedyChannel") -> None:
        """Note that an agent takes commands, and send those that wait."""
        self._channels[channel.host] = channel
        self.wake(channel.host)

    def remove(self, channel: "RemedyChannel") -> None:
        """Note that an agent takes no more commands over this connection."""
        if self._channels.get(channel.host) is channel:
            del self._channels[channel.host]

    def receiver(self, host: str) -> "RemedyChannel | None":
        """Return the connection of a host's agent, if it is connected here and takes commands."""
        return self._channels.get(host)

    def wake(self, host: str) -> None:
        """Send the commands that wait for a host, if its agent is connected here."""
        self._dispatcher.wake(host)

    def wake_all(self) -> None:
        """Send all commands that wait, after notifications may have been lost."""
        for host in list(self._channels):
            self.wake(host)

    def tasks(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return what must run while agents may be connected, by name."""
        return {"commands": self._dispatcher.run, "results": self._results.run}


class RemedyChannel:
    """The capability on one connection. Implements `hosts.connections.capabilities.Channel`."""

    def __init__(self, capability: RemedyCapability, database: Database, intake: ResultIntake, link: AgentLink) -> None:
        self._capability, self._database, self._results, self._link = capability, database, intake, link
        self._sent: set[UUID] = set()
        self._upload = agent_uploads.Upload()

    @property
    def host(self) -> str:
        return self._link.host

    def on_announced(self, supported: bool) -> None:
        if supported:
            self._capability.add(self)
        else:
            self._capability.remove(self)

    def on_closed(self) -> None:
        self._capability.remove(self)

    def unsent(self, command_id: UUID) -> bool:
        """Return whether a command was not sent over this connection yet.

        A new connection gets every command without a result again.
        """
        return command_id not in self._sent

    def send_commands(self, commands: Sequence[OutgoingCommand]) -> None:
        """Send commands in the background, in this order, each after its operations."""
        self._sent.update(command.id for command in commands)
        outgoing: list[CustomMessage] = []
        for command in commands:
            if command.operations is not None:
                outgoing.append(messages.attachment(command.id, "operations", *command.operations))
            outgoing.append(messages.command(command.jws))
        self._link.send_soon(COMMAND_CAPABILITY, outgoing)

    async def on_message(self, message: CustomMessage) -> bool:
        if message.type == "result":
            await self._take_result(message.data)
        elif message.type == "progress":
            await self._take_progress(message.data)
        elif message.type == "attachment":
            await self._take_attachment(message.data)
        else:
            return False
        return True

    async def _take_result(self, data: bytes) -> None:
        try:
            result = results.AgentResult.model_validate_json(data)
        except ValidationError as bad:
            BAD_MESSAGES.labels("result").inc()
            log.warning("agent_bad_result", host=self.host, errors=bad.error_count(), first=bad.errors()[0]["msg"])
            await self._link.report_abuse("malformed_result")
            return
        outcome = await self._results.store(self.host, result)
        # The agent repeats an unacknowledged result, so duplicates and unknown ids are acknowledged too.
        if result.command_id is not None:
            await self._link.send(COMMAND_CAPABILITY, messages.acknowledgement(result.command_id))
        if outcome in results.WRONG:
            # What an agent rejected may come from somebody else; what it reports about an unknown command is its own.
            reason = f"rejected_{result.code}" if outcome == "rejected" else outcome
            kind = result.code if result.code in results.REFUSALS else ""
            code, identity = (result.code or "")[:100], str(result.command_id or "")
            await self._link.report_abuse(reason, kind=f"{result.state} {kind}", state=result.state, code=code, command_id=identity)
        log.info("agent_result", host=self.host, command_id=str(result.command_id), state=result.state, code=result.code, outcome=outcome)

    async def _take_progress(self, data: bytes) -> None:
        if not await agent_uploads.note_progress(self._database, self.host, data):
            BAD_MESSAGES.labels("progress").inc()
            await self._link.report_abuse("unrequested_progress")

    async def _take_attachment(self, data: bytes) -> None:
        try:
            complete = self._upload.add(data)
            expected = complete is None or await agent_uploads.store(self._database, self.host, *complete)
        except agent_uploads.BadAttachment as bad:
            BAD_MESSAGES.labels("attachment").inc()
            log.warning("agent_bad_attachment", host=self.host, reason=str(bad))
            await self._link.report_abuse("malformed_attachment")
            return
        if not expected:
            await self._link.report_abuse("unrequested_attachment")
