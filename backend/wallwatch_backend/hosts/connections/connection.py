"""One agent's OpAMP connection: takes its reports and carries the messages of capabilities."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from uuid import UUID, uuid4

import structlog
from opentelemetry._opamp.proto import opamp_pb2
from starlette.websockets import WebSocketDisconnect

from wallwatch_backend.hosts.agents import repository
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.certificates.service import PresentedCertificate
from wallwatch_backend.hosts.command_keys.signing import COMMAND_CAPABILITY
from wallwatch_backend.hosts.connections import framing
from wallwatch_backend.hosts.connections.abuse import MessagePace
from wallwatch_backend.hosts.connections.capabilities import BAD_MESSAGES, Channel, CustomMessage
from wallwatch_backend.hosts.connections.certificate_renewal import CERTIFICATE_CAPABILITY, CertificateRenewal
from wallwatch_backend.hosts.connections.configuration import AgentConfiguration
from wallwatch_backend.hosts.connections.key_introduction import KeyIntroduction
from wallwatch_backend.hosts.connections.shared import Shared
from wallwatch_backend.hosts.connections.telemetry_key import TELEMETRY_CAPABILITY, TelemetryKeyDelivery
from wallwatch_backend.kit import changes, clock

log = structlog.get_logger(__name__)


class Socket(Protocol):
    """The part of a WebSocket that a connection needs."""

    async def receive_bytes(self) -> bytes: ...
    async def send_bytes(self, data: bytes) -> None: ...


class ConnectionEnded(Exception):
    """The connection must end: the agent was removed, has a newer connection, or may no longer act for its host."""


class AgentConnection:
    """Lives as long as the WebSocket. `presented` is the agent's certificate, None if it sent a secret."""

    def __init__(self, shared: Shared, socket: Socket, agent: AgentRow, presented: PresentedCertificate | None) -> None:
        self.agent_id, self._host, self.connection_id = agent.id, agent.host, uuid4()
        self.enrolled_at = agent.enrolled_at  # says which enrolment its credentials are from
        self._database, self._presence, self._abuse, self._socket = shared.database, shared.presence, shared.abuse, socket
        self.end: Callable[[], object] = lambda: None  # set by the registry: ends this connection from outside
        self._instance_uid = b""
        self._next_sequence: int | None = None
        self._announced: frozenset[str] = frozenset()  # capabilities of the agent
        self._pace = MessagePace()
        self._sending = asyncio.Lock()
        self._background: set[asyncio.Task[None]] = set()
        self._configuration = AgentConfiguration(shared.configuration, agent.host)
        self._keys = KeyIntroduction(shared.database, self)
        self._renewal = CertificateRenewal(shared.database, shared.cipher, shared.settings, self, agent.id, presented)
        self._telemetry_key = TelemetryKeyDelivery(shared.telemetry_keys, self)
        self._server_capabilities = tuple(capability.name for capability in shared.capabilities)
        self._channels: dict[str, Channel] = {CERTIFICATE_CAPABILITY: self._renewal, TELEMETRY_CAPABILITY: self._telemetry_key}
        self._channels |= {capability.name: capability.open(self) for capability in shared.capabilities}

    @property
    def host(self) -> str:
        return self._host

    async def open(self) -> None:
        """Make this the agent's newest connection.

        Raises
        ------
        ConnectionEnded
            When the agent was removed or has enrolled again.
        """
        async with self._database.write() as session:
            if not await repository.connect(session, self.agent_id, self.enrolled_at, self.connection_id, clock.now()):
                raise ConnectionEnded
            await changes.announce(session, "agent", self.agent_id, "connected")

    def close_channels(self) -> None:
        """Stop capabilities from using this connection."""
        for channel in self._channels.values():
            channel.on_closed()

    async def close(self) -> None:
        """Mark the agent as disconnected, unless it has a newer connection."""
        self.close_channels()
        self._presence.forget(self.agent_id, self.connection_id)
        async with self._database.write() as session:
            if await repository.note(session, self.agent_id, self.connection_id, connection_id=None, last_seen_at=clock.now()):
                await changes.announce(session, "agent", self.agent_id, "disconnected")

    async def handle(self, frame: bytes) -> None:
        """Take one message and answer it.

        What cannot be stored raises, which ends the connection: the agent sends it again.
        """
        if await self._pace.wait():
            log.warning("agent_floods", host=self.host)
            await self._abuse.report(self.host, "too_many_messages", action="agent.connect")
        try:
            message = framing.decode(frame)
        except framing.BadFrame as bad:
            await self._refuse_frame(frame, bad)
            return
        if self._renewal.expired:
            log.warning("agent_certificate_expired", host=self.host)
            raise ConnectionEnded  # it gets the reason when it connects again
        self._instance_uid = message.instance_uid or self._instance_uid
        missed = self._missed_reports(message)
        await self._take_status(message)
        if message.HasField("custom_capabilities"):
            self._announced = frozenset(message.custom_capabilities.capabilities)
        if message.HasField("custom_message"):
            await self._take_custom(message.custom_message)
        if message.HasField("agent_disconnect"):
            raise ConnectionEnded
        await self._take_config_report(message)
        answer = framing.reply(self._instance_uid, self._server_capabilities, report_full_state=missed)
        await self._configuration.offer(answer)
        await self._send(answer)
        if message.HasField("agent_description"):
            await self.send_keys()
        if message.HasField("custom_capabilities"):
            for name, channel in self._channels.items():
                channel.on_announced(name in self._announced)
        await self._renewal.remind()
        await self._telemetry_key.offer()

    async def _refuse_frame(self, frame: bytes, bad: framing.BadFrame) -> None:
        BAD_MESSAGES.labels("frame").inc()
        log.warning("agent_bad_frame", host=self.host, reason=str(bad), bytes=len(frame))
        await self._abuse.report(self.host, "malformed_frame", action="agent.connect")
        await self._send(framing.error(self._instance_uid, str(bad)))

    def _missed_reports(self, message: opamp_pb2.AgentToServer) -> bool:
        """Return whether reports before this message were lost.

        They were if its number is not the next, or if it is the first and has no description.
        """
        first = self._next_sequence is None
        missed = not message.HasField("agent_description") if first else message.sequence_num != self._next_sequence
        self._next_sequence = message.sequence_num + 1
        return missed

    async def _take_status(self, message: opamp_pb2.AgentToServer) -> None:
        at, changed = clock.now(), dict[str, Any]()
        if message.HasField("agent_description"):
            changed |= await self._description(message)
        if message.HasField("health"):
            changed["healthy"] = message.health.healthy
            changed["health_error"] = framing.storable(message.health.last_error, 1000) or None
        if not changed:
            self._presence.heard(self.agent_id, self.connection_id, at, self.end)
            return
        async with self._database.write() as session:
            if not await repository.note(session, self.agent_id, self.connection_id, last_seen_at=at, **changed):
                raise ConnectionEnded
            await changes.announce(session, "agent", self.agent_id, "unhealthy" if changed.get("healthy") is False else "connected")

    async def _description(self, message: opamp_pb2.AgentToServer) -> dict[str, Any]:
        """Return the columns of the agent that a description changes."""
        changed: dict[str, Any] = {}
        if version := framing.attribute(message, "service.version"):
            changed["version"] = framing.storable(version, 100)
        if (kids := await self._keys.take_description(message)) is not None:
            changed["command_kids"] = kids
        if message.instance_uid:
            changed["instance_uid"] = _uuid_text(message.instance_uid)
        claimed = framing.attribute(message, "host.name")
        if claimed and claimed != self.host:
            log.warning("agent_host_differs", host=self.host, reported=claimed[:253])
            await self._abuse.report(self.host, "claims_other_host", action="agent.connect", claimed=framing.storable(claimed, 253))
            raise ConnectionEnded  # its credentials are for one host
        return changed

    async def _take_config_report(self, message: opamp_pb2.AgentToServer) -> None:
        changed = self._configuration.take_report(message)
        if not changed:
            return
        async with self._database.write() as session:
            if not await repository.note(session, self.agent_id, self.connection_id, **changed):
                raise ConnectionEnded

    async def _take_custom(self, custom: opamp_pb2.CustomMessage) -> None:
        channel = self._channels.get(custom.capability)
        if channel is None or not await channel.on_message(CustomMessage(custom.type, custom.data)):
            BAD_MESSAGES.labels("unknown_custom_message").inc()

    async def send_config(self) -> None:
        """Send a configuration that has changed, without waiting for the agent's next message."""
        message = opamp_pb2.ServerToAgent(instance_uid=self._instance_uid)
        if await self._configuration.offer(message):
            await self._send(message)

    async def send_keys(self) -> None:
        """Introduce the command keys that the agent does not trust yet."""
        if COMMAND_CAPABILITY in self._announced:
            await self._keys.send()

    async def request_renewal(self) -> None:
        """Ask the agent to renew its certificate now, if that is due."""
        await self._renewal.remind(now=True)

    async def report_abuse(self, reason: str, *, kind: str = "", **detail: str | None) -> None:
        """Implement `AgentLink`."""
        await self._abuse.report(self.host, reason, action="agent.result", kind=kind, **detail)

    async def send(self, capability: str, message: CustomMessage) -> None:
        """Implement `AgentLink`."""
        await self._send(framing.custom(self._instance_uid, capability, message))

    def send_soon(self, capability: str, messages: Sequence[CustomMessage]) -> None:
        """Implement `AgentLink`."""
        task = asyncio.create_task(self._send_in_order(capability, messages))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _send_in_order(self, capability: str, messages: Sequence[CustomMessage]) -> None:
        try:
            async with self._sending:
                for message in messages:
                    await self.send(capability, message)
        except (OSError, RuntimeError, WebSocketDisconnect) as error:
            log.warning("agent_send_failed", host=self.host, error=str(error).splitlines()[0] if str(error) else type(error).__name__)
            self.end()  # the agent connects again and gets what it missed

    async def _send(self, message: opamp_pb2.ServerToAgent) -> None:
        await self._socket.send_bytes(framing.encode(message))


def _uuid_text(raw: bytes) -> str:
    """Return an instance uid as a UUID; one of another length in hexadecimal digits."""
    return str(UUID(bytes=raw)) if len(raw) == 16 else raw.hex()[:100]
