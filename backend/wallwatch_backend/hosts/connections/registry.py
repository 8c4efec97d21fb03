"""The agents that are connected to this replica."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

import structlog
from prometheus_client import Gauge
from sqlalchemy.exc import SQLAlchemyError
from starlette.websockets import WebSocketDisconnect

from wallwatch_backend.hosts.connections.connection import AgentConnection
from wallwatch_backend.hosts.connections.shared import Shared

log = structlog.get_logger(__name__)
CONNECTED = Gauge("wallwatch_agents_connected", "Agents that are connected to this process")


class Connections:
    """The connections of this process, by host."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self._by_host: dict[str, tuple[AgentConnection, asyncio.Task[None]]] = {}
        self._background: set[asyncio.Task[None]] = set()

    def add(self, connection: AgentConnection, task: asyncio.Task[None]) -> bool:
        """Add a connection; an older one of the same host ends. Return whether there was one."""
        older = self._by_host.get(connection.host)
        self._by_host[connection.host] = (connection, task)
        connection.end = task.cancel
        CONNECTED.set(len(self._by_host))
        if older is not None:
            older[0].close_channels()
            older[1].cancel()
        return older is not None

    def remove(self, connection: AgentConnection) -> None:
        """Remove a connection that has ended."""
        entry = self._by_host.get(connection.host)
        if entry is not None and entry[0] is connection:
            del self._by_host[connection.host]
        CONNECTED.set(len(self._by_host))

    def drop_agent(self, agent_id: str, enrolled_at: datetime | None) -> None:
        """End the connection of an agent that was removed (None), or whose credentials are older than an enrolment.

        The notification of an enrolment may arrive after the agent has connected with its new credentials: that
        connection stays.
        """
        for connection, task in list(self._by_host.values()):
            if str(connection.agent_id) == agent_id and (enrolled_at is None or connection.enrolled_at < enrolled_at):
                task.cancel()

    def configuration_changed(self) -> None:
        """Send the current remote configuration to every agent that runs another."""
        self._send_to_all("agent_config_not_sent", lambda connection: connection.send_config())

    def command_keys_changed(self) -> None:
        """Introduce a new command key to every agent."""
        self._send_to_all("command_key_not_sent", lambda connection: connection.send_keys())

    def authorities_changed(self) -> None:
        """Ask every agent to renew its certificate."""
        self._send_to_all("certificate_renewal_not_requested", lambda connection: connection.request_renewal())

    def _send_to_all(self, failure: str, send: Callable[[AgentConnection], Awaitable[None]]) -> None:
        task = asyncio.create_task(self._send_one_by_one(failure, send))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _send_one_by_one(self, failure: str, send: Callable[[AgentConnection], Awaitable[None]]) -> None:
        for connection, task in list(self._by_host.values()):
            try:
                await send(connection)
            except (SQLAlchemyError, OSError, RuntimeError, WebSocketDisconnect) as error:
                log.warning(failure, host=connection.host, error=type(error).__name__)
                task.cancel()  # the agent connects again and gets it then
