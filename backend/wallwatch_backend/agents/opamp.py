"""The OpAMP endpoint `/v1/opamp`: lets enrolled agents in and keeps track of the connections of this replica."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

import structlog
from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from prometheus_client import Gauge
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse

from wallwatch_backend.agents.answers import Answers
from wallwatch_backend.agents.conduct import Conduct
from wallwatch_backend.agents.connection import AgentConnection, Gone, Shared
from wallwatch_backend.agents.dispatch import Dispatch
from wallwatch_backend.agents.entrance import NotLetIn, identify
from wallwatch_backend.agents.presence import Presence
from wallwatch_backend.agents.renewal import Issuer, Renewal
from wallwatch_backend.agents.service import OPAMP_PATH
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.problems import MEDIA_TYPE, body_of
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
CONNECTED = Gauge("wallwatch_agents_connected", "Agents that are connected to this process")
router = APIRouter()

_MAX_FRAME_BYTES = 1_000_000


class Connections:
    """The agents that are connected to this replica, by host."""

    def __init__(self, database: Database) -> None:
        self._dispatch = Dispatch(database, self)
        self.shared = Shared(Presence(database), Answers(database), self._dispatch.wake)
        self._by_host: dict[str, tuple[AgentConnection, asyncio.Task[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, connection: AgentConnection, task: asyncio.Task[None]) -> bool:
        """Take a connection in; an older one of the same host ends. Says whether there was one."""
        older = self._by_host.get(connection.host)
        self._by_host[connection.host] = (connection, task)
        connection.end = task.cancel
        CONNECTED.set(len(self._by_host))
        if older is not None:
            older[1].cancel()
        return older is not None

    def remove(self, connection: AgentConnection) -> None:
        held = self._by_host.get(connection.host)
        if held is not None and held[0] is connection:
            del self._by_host[connection.host]
        CONNECTED.set(len(self._by_host))

    def wake(self, host: str) -> None:
        """A command waits for this host: send it, if its agent is connected here."""
        self._dispatch.wake(host)

    def receiver(self, host: str) -> AgentConnection | None:
        """The connection of a host, if its agent is connected here and takes commands."""
        held = self._by_host.get(host)
        return held[0] if held is not None and held[0].takes_commands else None

    def work(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """What runs as long as agents may be connected, by name."""
        return {"dispatch": self._dispatch.run, "answers": self.shared.answers.run, "presence": self.shared.presence.run}

    def policies_changed(self) -> None:
        """Send the policies of today to every agent that has others, one after the other."""
        self._spawn(self._send_policies())

    def authorities_changed(self) -> None:
        """Ask every agent to renew its certificate, one after the other."""
        self._spawn(self._send_reminders())

    async def _send_reminders(self) -> None:
        for connection, task in list(self._by_host.values()):
            try:
                await connection.send_reminder(now=True)
            except (SQLAlchemyError, OSError, RuntimeError, WebSocketDisconnect) as error:
                log.warning("certificate_reminder_not_sent", host=connection.host, error=type(error).__name__)
                task.cancel()  # the agent connects again and is reminded then

    def keys_changed(self) -> None:
        """Introduce a new command key to every agent, one after the other."""
        self._spawn(self._send_keys())

    async def _send_keys(self) -> None:
        for connection, task in list(self._by_host.values()):
            try:
                await connection.send_keys()
            except (SQLAlchemyError, OSError, RuntimeError, WebSocketDisconnect) as error:
                log.warning("command_key_not_sent", host=connection.host, error=type(error).__name__)
                task.cancel()  # the agent connects again and gets it then

    async def _send_policies(self) -> None:
        for connection, task in list(self._by_host.values()):
            try:
                await connection.send_policies()
            except (SQLAlchemyError, OSError, RuntimeError, WebSocketDisconnect) as error:
                log.warning("policies_not_sent", host=connection.host, error=type(error).__name__)
                task.cancel()  # the agent connects again and gets them then

    def wake_all(self) -> None:
        """After notifications may have been lost."""
        for host in list(self._by_host):
            self.wake(host)

    def drop_agent_id(self, agent_id: str) -> None:
        """End the connection of an agent that was removed or enrolled anew."""
        for connection, task in list(self._by_host.values()):
            if str(connection.agent_id) == agent_id:
                task.cancel()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@router.websocket(OPAMP_PATH)
async def opamp(socket: WebSocket) -> None:
    """Serve one agent until either side ends."""
    database: Database = socket.app.state.database
    settings: Settings = socket.app.state.settings
    connections: Connections = socket.app.state.connections
    conduct: Conduct = socket.app.state.conduct
    try:
        agent, shown = await identify(socket, database, settings, conduct, socket.app.state.turned_away)
    except NotLetIn as refused:
        body = body_of(401, refused.code, "These agent credentials do not work", str(refused), OPAMP_PATH)
        await socket.send_denial_response(JSONResponse(body, status_code=401, media_type=MEDIA_TYPE))
        return
    await socket.accept()
    issuer = Issuer(socket.app.state.cipher, settings) if settings.agent_port is not None else None
    renewal = Renewal(database, issuer, agent.id, agent.host, shown)
    connection = AgentConnection(database, socket, socket.app.state.policy_file, conduct, renewal, connections.shared, agent.id, agent.host)
    task = asyncio.ensure_future(_serve(connection, conduct, socket, settings.agent_silent_after_s))
    replaced = connections.add(connection, task)
    log.info("agent_connected", host=agent.host)
    try:
        if replaced:
            await conduct.note_replaced(agent.host, socket.client.host if socket.client else None)
        await task
    except asyncio.CancelledError:
        if not task.cancelled():
            task.cancel()
            raise
    except (SQLAlchemyError, OSError) as error:
        log.error("agent_connection_failed", host=agent.host, error=str(error).splitlines()[0])
    finally:
        connections.remove(connection)
        with suppress(SQLAlchemyError, OSError):
            await asyncio.shield(connection.close())
        with suppress(RuntimeError, WebSocketDisconnect):  # closed already
            await socket.close()
        log.info("agent_disconnected", host=agent.host)


async def _serve(connection: AgentConnection, conduct: Conduct, socket: WebSocket, silent_after_s: float) -> None:
    try:
        await connection.open()
        while True:
            frame = await asyncio.wait_for(socket.receive_bytes(), silent_after_s)
            if len(frame) > _MAX_FRAME_BYTES:
                log.warning("agent_frame_too_large", host=connection.host, bytes=len(frame), most=_MAX_FRAME_BYTES)
                await conduct.note(connection.host, "oversized_frame", action="agent.connect")
                return
            await connection.handle(frame)
    except TimeoutError:
        log.warning("agent_silent", host=connection.host, after_s=silent_after_s)
    except (WebSocketDisconnect, Gone, KeyError):  # KeyError: the agent sent text where OpAMP has bytes
        return
