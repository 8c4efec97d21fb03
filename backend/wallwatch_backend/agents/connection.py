"""One agent's OpAMP connection: status reports in, commands out, results in."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID, uuid4

import structlog
from opentelemetry._opamp.proto import opamp_pb2
from prometheus_client import Counter
from pydantic import ValidationError
from starlette.websockets import WebSocketDisconnect

from wallwatch_backend.agents import framing, policies, repository
from wallwatch_backend.agents.answers import Answers
from wallwatch_backend.agents.conduct import Conduct, Pace
from wallwatch_backend.agents.dispatch import Beside
from wallwatch_backend.agents.policies import PolicyFile
from wallwatch_backend.agents.presence import Presence
from wallwatch_backend.agents.renewal import CAPABILITY as CERTIFICATE_CAPABILITY
from wallwatch_backend.agents.renewal import Renewal
from wallwatch_backend.audit import service as audit
from wallwatch_backend.command_keys import service as command_keys
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.plans import arrivals
from wallwatch_backend.remedies import results

log = structlog.get_logger(__name__)
BAD_MESSAGES = Counter("wallwatch_agent_bad_messages", "Messages of agents that could not be used", ["reason"])
POLICIES_SENT = Counter("wallwatch_agent_policies_sent", "Compiled policies sent to agents")
POLICIES_REFUSED = Counter("wallwatch_agent_policies_refused", "Compiled policies that an agent refused")

_MOST_KEYS = 16


class Socket(Protocol):
    """The part of a WebSocket that a connection needs."""

    async def receive_bytes(self) -> bytes: ...
    async def send_bytes(self, data: bytes) -> None: ...


class Gone(Exception):
    """The connection must end: the agent was removed, or has a newer connection."""


@dataclass(frozen=True)
class Shared:
    """What the connections of a process do together, so that a thousand of them do not each ask the database."""

    presence: Presence
    answers: Answers
    ready: Callable[[str], None]
    """Called with a host whose agent takes commands from now on."""


class AgentConnection:
    """Lives as long as the WebSocket."""

    def __init__(
        self,
        database: Database,
        socket: Socket,
        policies: PolicyFile,
        conduct: Conduct,
        renewal: Renewal,
        shared: Shared,
        agent_id: UUID,
        host: str,
    ) -> None:
        self.agent_id, self.host, self.connection_id = agent_id, host, uuid4()
        self._database, self._socket, self._policies, self._conduct = database, socket, policies, conduct
        self._pace, self._renewal, self._shared = Pace(), renewal, shared
        self.end: Callable[[], object] = lambda: None  # how others end this connection
        self._instance_uid = b""
        self._next_sequence: int | None = None
        self._speaks_remedies = False
        self._takes_config: bool | None = None  # it has not said
        self._config_hash = b""
        self._offered = b""
        self._sent: set[UUID] = set()
        self._sending = asyncio.Lock()
        self._giving: set[asyncio.Task[None]] = set()
        self._trusts: list[str] = []  # ids of command keys, as the agent says
        self._introduced: set[str] = set()
        self._key_refused = ""
        self._arriving = arrivals.Attachments()

    async def open(self) -> None:
        async with self._database.write() as session:
            if not await repository.connect(session, self.agent_id, self.connection_id, clock.now()):
                raise Gone
            await changes.announce(session, "agent", self.agent_id, "connected")

    async def close(self) -> None:
        """Note the end, unless a newer connection has taken over."""
        self._shared.presence.forget(self.agent_id, self.connection_id)
        async with self._database.write() as session:
            if await repository.note(session, self.agent_id, self.connection_id, connection_id=None, last_seen_at=clock.now()):
                await changes.announce(session, "agent", self.agent_id, "disconnected")

    async def handle(self, frame: bytes) -> None:
        """Take one message and answer it. A result that cannot be stored ends the connection, so that the agent sends it again."""
        if await self._pace.wait():
            log.warning("agent_floods", host=self.host)
            await self._note_lie("too_many_messages", action="agent.connect")
        try:
            message = framing.decode(frame)
        except framing.BadFrame as bad:
            BAD_MESSAGES.labels("frame").inc()
            log.warning("agent_bad_frame", host=self.host, reason=str(bad), bytes=len(frame))
            await self._note_lie("malformed_frame", action="agent.connect")
            await self._send(framing.error(self._instance_uid, str(bad)))
            return
        if self._renewal.over:
            log.warning("agent_certificate_over", host=self.host)
            raise Gone  # when it comes again it is told why
        self._instance_uid = message.instance_uid or self._instance_uid
        # A gap in the numbers, or a first message without a description, means that we missed something: ask for all of it.
        first = self._next_sequence is None
        missed = not message.HasField("agent_description") if first else message.sequence_num != self._next_sequence
        self._next_sequence = message.sequence_num + 1
        await self._note_status(message)
        if message.HasField("custom_capabilities"):
            self._speaks_remedies = framing.REMEDY_CAPABILITY in message.custom_capabilities.capabilities
            self._renewal.hear(message)
        if message.HasField("custom_message"):
            await self._take_custom(message.custom_message)
        if message.HasField("agent_disconnect"):
            raise Gone
        await self._note_config(message)
        answer = framing.reply(self._instance_uid, report_full_state=missed)
        await self._offer_policies(answer)
        await self._send(answer)
        if message.HasField("agent_description"):
            await self.send_keys()
        if message.HasField("custom_capabilities") and self._speaks_remedies:
            self._shared.ready(self.host)
        await self.send_reminder()

    async def _note_config(self, message: opamp_pb2.AgentToServer) -> None:
        takes = self._takes_config
        if message.capabilities:
            self._takes_config = bool(message.capabilities & framing.ACCEPTS_CONFIG)
        values: dict[str, Any] = {"takes_policies": self._takes_config} if self._takes_config != takes else {}
        if message.HasField("remote_config_status"):
            values |= self._config_values(message.remote_config_status)
        if not values:
            return
        async with self._database.write() as session:
            if not await repository.note(session, self.agent_id, self.connection_id, **values):
                raise Gone

    def _config_values(self, status: opamp_pb2.RemoteConfigStatus) -> dict[str, Any]:
        """What an agent says of its policies. When it refused some, the hash is theirs, and those before stay."""
        hash = status.last_remote_config_hash.decode(errors="replace").replace("\0", "")[:200]
        if status.status == framing.CONFIG_FAILED:
            POLICIES_REFUSED.inc()
            reason = _clean(status.error_message, 500)
            log.error("agent_refused_policies", host=self.host, error=reason)
            self._offered = status.last_remote_config_hash  # it would refuse them again
            return {"policies_refused_hash": hash, "policies_refused_at": clock.now(), "policies_error": reason or "no reason was given"}
        self._config_hash = status.last_remote_config_hash
        return {
            "policies_hash": hash,
            "policies_at": clock.now(),
            "policies_refused_hash": None,
            "policies_refused_at": None,
            "policies_error": None,
        }

    async def _offer_policies(self, answer: opamp_pb2.ServerToAgent) -> bool:
        """Put today's policies into a message, once in a connection, to an agent that has others; say whether."""
        if not self._takes_config:
            return False
        compiled = await self._policies.current()
        if compiled.hash in (self._config_hash, self._offered):
            return False
        policies.offer(answer, compiled)
        self._offered = compiled.hash
        POLICIES_SENT.inc()
        log.info("policies_sent", host=self.host, hash=compiled.hash.decode())
        return True

    async def send_policies(self) -> None:
        """Send policies that have changed, without waiting for the agent to speak."""
        message = opamp_pb2.ServerToAgent(instance_uid=self._instance_uid)
        if await self._offer_policies(message):
            await self._send(message)

    async def _note_status(self, message: opamp_pb2.AgentToServer) -> None:
        at, values = clock.now(), dict[str, Any]()
        if message.HasField("agent_description"):
            version = framing.attribute(message, "service.version")
            named = framing.attribute(message, "host.name")
            if version:
                values["version"] = _clean(version, 100)
            if (kids := framing.attribute(message, "wallwatch.command_keys")) is not None:
                self._trusts = values["command_kids"] = _clean(kids, 2000).split()[:_MOST_KEYS]
            await self._note_refused_key(_clean(framing.attribute(message, "wallwatch.command_key_refused") or "", 500))
            if message.instance_uid:
                values["instance_uid"] = _uuid_text(message.instance_uid)
            if named and named != self.host:
                log.warning("agent_host_differs", host=self.host, reported=named[:253])
                await self._note_lie("claims_other_host", action="agent.connect", claimed=_clean(named, 253))
                raise Gone  # what it was let in with is for one host
        if message.HasField("health"):
            values["healthy"] = message.health.healthy
            values["health_error"] = _clean(message.health.last_error, 1000) or None
        if not values:
            self._shared.presence.heard(self.agent_id, self.connection_id, at, self.end)
            return
        async with self._database.write() as session:
            if not await repository.note(session, self.agent_id, self.connection_id, last_seen_at=at, **values):
                raise Gone
            await changes.announce(session, "agent", self.agent_id, "unhealthy" if values.get("healthy") is False else "connected")

    async def _note_refused_key(self, refused: str) -> None:
        """Audit that an agent did not trust what came to it as a new command key."""
        if refused and refused != self._key_refused:
            await audit.record_apart(
                self._database, f"agent:{self.host}", "command_key.introduce", self.host, outcome="refused", reason=refused
            )
        self._key_refused = refused

    async def send_reminder(self, *, now: bool = False) -> None:
        """Ask the agent to renew its certificate, when it is time; `now` also when it was asked a moment ago."""
        reminder = await self._renewal.reminder(now=now)
        if reminder is not None:
            await self._send(opamp_pb2.ServerToAgent(instance_uid=self._instance_uid, custom_message=reminder))

    async def send_keys(self) -> None:
        """Introduce the command keys that the agent does not trust yet, each once in a connection."""
        if not self._speaks_remedies or not self._trusts:
            return
        async with self._database.read() as session:
            missed = await command_keys.missed_by(session, self._trusts)
        for kid, introduction in missed:
            if kid not in self._introduced:
                self._introduced.add(kid)
                await self._send(framing.key(self._instance_uid, introduction))

    async def _take_custom(self, custom: opamp_pb2.CustomMessage) -> None:
        if custom.capability == CERTIFICATE_CAPABILITY:
            answer = await self._renewal.answer(custom)
            if answer is not None:
                await self._send(opamp_pb2.ServerToAgent(instance_uid=self._instance_uid, custom_message=answer))
            return
        if custom.capability == framing.REMEDY_CAPABILITY and custom.type in ("attachment", "progress"):
            await self._take_beside(custom)
            return
        if custom.capability != framing.REMEDY_CAPABILITY or custom.type != "result":
            BAD_MESSAGES.labels("unknown_custom_message").inc()
            return
        try:
            result = results.AgentResult.model_validate_json(custom.data)
        except ValidationError as bad:
            BAD_MESSAGES.labels("result").inc()
            log.warning("agent_bad_result", host=self.host, errors=bad.error_count(), first=bad.errors()[0]["msg"])
            await self._note_lie("malformed_result")
            return
        outcome = await self._shared.answers.take(self.host, result)
        if result.command_id is not None:  # what is not acknowledged is sent again, so also what is known or nobody asked for
            await self._send(framing.ack(self._instance_uid, result.command_id))
        if outcome in results.WRONG:
            # Somebody else may have sent what the agent rejected; what it says of a command that was never given is its own.
            reason = f"rejected_{result.code}" if outcome == "rejected" else outcome
            kind = result.code if result.code in results.REFUSALS else ""
            code, identity = (result.code or "")[:100], str(result.command_id or "")
            await self._note_lie(reason, kind=f"{result.state} {kind}", state=result.state, code=code, command_id=identity)
        log.info("agent_result", host=self.host, command_id=str(result.command_id), state=result.state, code=result.code, outcome=outcome)

    async def _take_beside(self, custom: opamp_pb2.CustomMessage) -> None:
        """Take what comes beside results: flows in parts, and progress."""
        if custom.type == "progress":
            if not await arrivals.note_progress(self._database, self.host, custom.data):
                BAD_MESSAGES.labels("progress").inc()
                await self._note_lie("unasked_progress")
            return
        try:
            whole = self._arriving.add(custom.data)
            known = whole is None or await arrivals.take(self._database, self.host, *whole)
        except arrivals.BadAttachment as bad:
            BAD_MESSAGES.labels("attachment").inc()
            log.warning("agent_bad_attachment", host=self.host, reason=str(bad))
            await self._note_lie("malformed_attachment")
            return
        if not known:
            await self._note_lie("unasked_attachment")

    async def _note_lie(self, reason: str, **detail: str) -> None:
        await self._conduct.note(self.host, reason, **detail)

    @property
    def takes_commands(self) -> bool:
        return self._speaks_remedies

    def unsent(self, command_id: UUID) -> bool:
        """Say whether a command was not given to this connection yet. A new one is given everything without a result again."""
        return command_id not in self._sent

    def give(self, commands: Sequence[tuple[UUID, str, Beside]]) -> None:
        """Send commands soon, in this order, each after what goes beside it: one agent that is slow to read holds up no other."""
        self._sent.update(command_id for command_id, _, _ in commands)
        task = asyncio.create_task(self._give(commands))
        self._giving.add(task)
        task.add_done_callback(self._giving.discard)

    async def _give(self, commands: Sequence[tuple[UUID, str, Beside]]) -> None:
        try:
            async with self._sending:
                for command_id, jws, beside in commands:
                    if beside is not None:
                        await self._send(framing.attachment(self._instance_uid, str(command_id), "operations", *beside))
                    await self._send(framing.command(self._instance_uid, jws))
        except (OSError, RuntimeError, WebSocketDisconnect) as error:
            log.warning("agent_send_failed", host=self.host, error=str(error).splitlines()[0] if str(error) else type(error).__name__)
            self.end()  # the agent connects again and gets what it missed

    async def _send(self, message: opamp_pb2.ServerToAgent) -> None:
        await self._socket.send_bytes(framing.encode(message))


def _clean(text: str, longest: int) -> str:
    """Text of an agent, fit for the database."""
    return text.replace("\0", "")[:longest]


def _uuid_text(raw: bytes) -> str:
    """Write an instance uid as a UUID; anything of another length in hex, as it came."""
    return str(UUID(bytes=raw)) if len(raw) == 16 else raw.hex()[:100]
