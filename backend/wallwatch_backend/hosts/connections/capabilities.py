"""What other contexts exchange with agents. A connection carries it without knowing what it means.

A capability is a set of custom OpAMP messages under one name, such as commands and their results. The remote
configuration is one file that every agent runs. The composition root registers the implementations of both.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from prometheus_client import Counter

BAD_MESSAGES = Counter("wallwatch_agent_bad_messages", "Messages from agents that could not be used", ["reason"])


class CustomMessage(NamedTuple):
    """A custom OpAMP message; the capability that it belongs to is known from the context."""

    type: str
    data: bytes


class AgentLink(Protocol):
    """One agent's connection, as a capability sees it."""

    @property
    def host(self) -> str:
        """The host that the agent authenticated for."""

    async def send(self, capability: str, message: CustomMessage) -> None:
        """Send a message now.

        Raises
        ------
        OSError, RuntimeError, WebSocketDisconnect
            When the connection is broken.
        """

    def send_soon(self, capability: str, messages: Sequence[CustomMessage]) -> None:
        """Send messages in the background, in this order, so that an agent that reads slowly delays no other.

        A failure ends the connection; the agent connects again.
        """

    async def report_abuse(self, reason: str, *, kind: str = "", **detail: str | None) -> None:
        """Audit what no honest agent does.

        `kind` separates two abuses with the same reason; it must come from a short list, never from the agent.
        """


class Channel(Protocol):
    """One capability on one connection."""

    def on_announced(self, supported: bool) -> None:
        """The agent reported whether it has the capability; its report is already answered."""

    async def on_message(self, message: CustomMessage) -> bool:
        """A message arrived.

        Return whether its type is known. An exception ends the connection; the agent sends it again.
        """

    def on_closed(self) -> None:
        """The connection has ended, or a newer one of the same host has replaced it. May be called more than once."""


class Capability(Protocol):
    """A capability on all connections of this process."""

    @property
    def name(self) -> str:
        """The name under which agents announce it."""

    def open(self, link: AgentLink) -> Channel:
        """A new connection starts."""


class ConfigFile(NamedTuple):
    """An agent's remote configuration: one file, and the hash by which agents report what they run."""

    hash: bytes
    name: str
    content: bytes
    content_type: str


class RemoteConfiguration(Protocol):
    """The remote configuration that every agent runs."""

    async def config_file(self) -> ConfigFile:
        """Return the current file. Each message of an agent causes a call, so it must come from memory."""
