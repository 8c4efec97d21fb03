"""The OpAMP endpoint `/v1/opamp`: accepts enrolled agents and serves each until its connection ends."""

import asyncio
from contextlib import suppress

import structlog
from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse

from wallwatch_backend.hosts.addresses import OPAMP_PATH
from wallwatch_backend.hosts.connections.abuse import AbuseGuard
from wallwatch_backend.hosts.connections.authentication import AgentRejected, authenticate
from wallwatch_backend.hosts.connections.connection import AgentConnection, ConnectionEnded
from wallwatch_backend.hosts.connections.registry import Connections
from wallwatch_backend.kit.problems import MEDIA_TYPE, body_of

log = structlog.get_logger(__name__)
router = APIRouter()

_MAX_FRAME_BYTES = 1_000_000


@router.websocket(OPAMP_PATH)
async def opamp(socket: WebSocket) -> None:
    """Serve one agent until either side ends the connection."""
    connections: Connections = socket.app.state.connections
    shared = connections.shared
    try:
        agent, presented = await authenticate(socket, shared)
    except AgentRejected as rejected:
        body = body_of(401, rejected.code, "These agent credentials are not valid", str(rejected), OPAMP_PATH)
        await socket.send_denial_response(JSONResponse(body, status_code=401, media_type=MEDIA_TYPE))
        return
    await socket.accept()
    connection = AgentConnection(shared, socket, agent, presented)
    task = asyncio.ensure_future(_serve(connection, shared.abuse, socket, shared.settings.agent_silent_after_s))
    replaced = connections.add(connection, task)
    log.info("agent_connected", host=agent.host)
    try:
        if replaced:
            await shared.abuse.report_replaced(agent.host, socket.client.host if socket.client else None)
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


async def _serve(connection: AgentConnection, abuse: AbuseGuard, socket: WebSocket, silent_after_s: float) -> None:
    try:
        await connection.open()
        while True:
            frame = await asyncio.wait_for(socket.receive_bytes(), silent_after_s)
            if len(frame) > _MAX_FRAME_BYTES:
                log.warning("agent_frame_too_large", host=connection.host, bytes=len(frame), max_bytes=_MAX_FRAME_BYTES)
                await abuse.report(connection.host, "oversized_frame", action="agent.connect")
                return
            await connection.handle(frame)
    except TimeoutError:
        log.warning("agent_silent", host=connection.host, after_s=silent_after_s)
    except (WebSocketDisconnect, ConnectionEnded, KeyError):  # KeyError: the agent sent text where OpAMP has bytes
        return
