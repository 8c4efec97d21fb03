"""A connection carries the messages of a capability that it knows nothing about; it runs without a server."""

import asyncio
from collections.abc import Sequence
from typing import cast
from uuid import uuid4

import pytest
from opentelemetry._opamp.proto import opamp_pb2

from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.connections import framing
from wallwatch_backend.hosts.connections.abuse import AbuseGuard
from wallwatch_backend.hosts.connections.capabilities import BAD_MESSAGES, AgentLink, ConfigFile, CustomMessage
from wallwatch_backend.hosts.connections.connection import AgentConnection
from wallwatch_backend.hosts.connections.presence import Presence
from wallwatch_backend.hosts.connections.rejections import RejectionLog
from wallwatch_backend.hosts.connections.shared import Shared
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.telemetry_keys import HostKeys
from wallwatch_backend.settings import Settings

ECHO = "com.example.echo.v1"


class Echo:
    """A capability that sends back what it gets, and notes its events."""

    name = ECHO

    def __init__(self) -> None:
        self.events: list[object] = []

    def open(self, link: AgentLink) -> "EchoChannel":
        return EchoChannel(self, link)


class EchoChannel:
    def __init__(self, echo: Echo, link: AgentLink) -> None:
        self._events, self.link = echo.events, link
        echo.events.append(self)

    def on_announced(self, supported: bool) -> None:
        self._events.append(supported)

    async def on_message(self, message: CustomMessage) -> bool:
        if message.type == "echo":
            await self.link.send(ECHO, message)
        return message.type == "echo"

    def on_closed(self) -> None:
        self._events.append("closed")


class Configuration:
    file = ConfigFile(b"hash-1", "rules.json", b"{}", "application/json")

    async def config_file(self) -> ConfigFile:
        return self.file


class Socket:
    """Keeps what is sent; `broken` raises instead."""

    def __init__(self) -> None:
        self.sent: list[opamp_pb2.ServerToAgent] = []
        self.changed = asyncio.Event()
        self.broken = False

    async def receive_bytes(self) -> bytes:
        raise AssertionError("the test hands over the frames")

    async def send_bytes(self, data: bytes) -> None:
        if self.broken:
            raise ConnectionResetError("the agent is gone")
        self.sent.append(opamp_pb2.ServerToAgent.FromString(data[1:]))
        self.changed.set()


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def socket() -> Socket:
    return Socket()


@pytest.fixture
def connection(echo: Echo, socket: Socket) -> AgentConnection:
    database = cast(Database, None)  # these messages cause no query
    shared = Shared(
        settings=Settings(agent_port=None),
        database=database,
        cipher=cast(SecretCipher, None),  # without a port nothing is signed
        rejections=RejectionLog(),
        abuse=AbuseGuard(database),
        presence=Presence(database),
        telemetry_keys=HostKeys(None),
        capabilities=[echo],
        configuration=Configuration(),
    )
    return AgentConnection(shared, socket, AgentRow(id=uuid4(), host="host01"), None)


def frame(sequence: int, announced: Sequence[str] | None = None, custom: tuple[str, str, bytes] | None = None) -> bytes:
    message = opamp_pb2.AgentToServer(instance_uid=b"0" * 16, sequence_num=sequence)
    if announced is not None:
        message.custom_capabilities.capabilities.extend(announced)
    if custom is not None:
        message.custom_message.capability, message.custom_message.type, message.custom_message.data = custom
    return b"\0" + cast(bytes, message.SerializeToString())


async def test_a_message_reaches_the_channel_of_its_capability(connection: AgentConnection, socket: Socket) -> None:
    await connection.handle(frame(0, custom=(ECHO, "echo", b"hello")))
    assert socket.sent[0].custom_message.capability == ECHO
    assert socket.sent[0].custom_message.data == b"hello"


@pytest.mark.parametrize("custom", [("com.example.other.v1", "echo", b""), (ECHO, "other", b"")])
async def test_an_unknown_message_is_counted_and_answered(
    connection: AgentConnection, socket: Socket, custom: tuple[str, str, bytes]
) -> None:
    counter = BAD_MESSAGES.labels("unknown_custom_message")
    before = counter._value.get()
    await connection.handle(frame(0, custom=custom))
    assert counter._value.get() == before + 1
    assert len(socket.sent) == 1


async def test_the_server_announces_its_capabilities_and_a_channel_learns_of_the_agents(
    connection: AgentConnection, echo: Echo, socket: Socket
) -> None:
    await connection.handle(frame(0, announced=[ECHO]))
    assert list(socket.sent[0].custom_capabilities.capabilities) == [ECHO]
    await connection.handle(frame(1))
    await connection.handle(frame(2, announced=[]))
    assert echo.events[1:] == [True, False]


async def test_an_ended_connection_closes_its_channels(connection: AgentConnection, echo: Echo) -> None:
    connection.close_channels()
    assert echo.events[1:] == ["closed"]


async def test_messages_in_the_background_keep_their_order(connection: AgentConnection, echo: Echo, socket: Socket) -> None:
    link = cast(EchoChannel, echo.events[0]).link
    link.send_soon(ECHO, [CustomMessage("echo", b"1"), CustomMessage("echo", b"2")])
    link.send_soon(ECHO, [CustomMessage("echo", b"3")])
    async with asyncio.timeout(60):
        while len(socket.sent) < 3:
            await socket.changed.wait()
            socket.changed.clear()
    assert [message.custom_message.data for message in socket.sent] == [b"1", b"2", b"3"]


async def test_a_broken_connection_ends_when_a_message_cannot_be_sent(connection: AgentConnection, echo: Echo, socket: Socket) -> None:
    ended = asyncio.Event()
    connection.end, socket.broken = ended.set, True
    cast(EchoChannel, echo.events[0]).link.send_soon(ECHO, [CustomMessage("echo", b"1")])
    await asyncio.wait_for(ended.wait(), 60)


def test_a_configuration_is_offered_with_its_hash() -> None:
    message = opamp_pb2.ServerToAgent()
    framing.add_config(message, Configuration.file)
    assert message.remote_config.config_hash == b"hash-1"
    assert message.remote_config.config.config_map["rules.json"].body == b"{}"
