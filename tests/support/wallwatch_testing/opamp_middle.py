"""A proxy between backend and agent: it forwards OpAMP and may change, copy, delay or invent messages in both directions.

`backend_tls` and `agent_tls` are for a connection with certificates: what the middle shows to each side.
"""

import base64
import json
import queue
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from opentelemetry._opamp.proto import opamp_pb2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection
from websockets.sync.server import ServerConnection, serve

from wallwatch_testing.opamp_client import connect_agent

HEADER = b"\x00"  # OpAMP over WebSocket: a varint that is 0, then the message
CAPABILITY = "com.wallwatch.remedy.v1"
Change = Callable[[bytes], bytes]


@dataclass
class Middle:
    """Where the agent is to connect to.

    `change` is done to every command, `commands` are those that the backend sent; `results` are what the agent answered, in order. While
    `holds_results` is set no result reaches the backend.
    """

    url: str
    change: Change | None = None
    commands: list[bytes] = field(default_factory=list)
    results: queue.Queue[dict[str, Any]] = field(default_factory=queue.Queue)
    holds_results: bool = False
    connections: int = 0
    _agents: list[ServerConnection] = field(default_factory=list)
    _backends: list[ClientConnection] = field(default_factory=list)

    def inject(self, data: bytes, kind: str = "command") -> None:
        """Send an invented message to the agent that connected last."""
        message = opamp_pb2.ServerToAgent()
        message.custom_message.capability, message.custom_message.type, message.custom_message.data = CAPABILITY, kind, data
        self.inject_frame(HEADER + message.SerializeToString())

    def inject_frame(self, frame: bytes) -> None:
        """Send invented bytes to the agent that connected last."""
        self._agents[-1].send(frame)

    def answer(self, timeout_s: float = 30) -> dict[str, Any]:
        """The agent's next result."""
        return self.results.get(timeout=timeout_s)

    def cut(self) -> None:
        """Break the connection as a network does; the agent reconnects."""
        for side in (self._agents[-1], self._backends[-1]):
            with suppress(OSError):
                side.socket.shutdown(2)

    def _to_agent(self, frame: bytes) -> bytes:
        message = opamp_pb2.ServerToAgent.FromString(frame.removeprefix(HEADER))
        if message.custom_message.type == "command":
            self.commands.append(message.custom_message.data)
            if self.change is not None:
                message.custom_message.data = self.change(message.custom_message.data)
                changed: bytes = HEADER + message.SerializeToString()
                return changed
        return frame

    def _to_backend(self, frame: bytes) -> bytes | None:
        message = opamp_pb2.AgentToServer.FromString(frame.removeprefix(HEADER))
        if message.custom_message.type == "result":
            self.results.put(json.loads(message.custom_message.data))
            if self.holds_results:
                return None
        return frame

    def _pass_down(self, agent: ServerConnection, backend: ClientConnection) -> None:
        try:
            for frame in backend:
                agent.send(self._to_agent(frame) if isinstance(frame, bytes) else frame)
        except (ConnectionClosed, OSError):
            pass
        finally:
            agent.close()

    def _pass_up(self, agent: ServerConnection, backend: ClientConnection) -> None:
        with suppress(ConnectionClosed, OSError):
            for frame in agent:
                changed = self._to_backend(frame) if isinstance(frame, bytes) else frame
                if changed is not None:
                    backend.send(changed)


@contextmanager
def between(backend_url: str, *, backend_tls: ssl.SSLContext | None = None, agent_tls: ssl.SSLContext | None = None) -> Iterator[Middle]:
    """Listen on a free port for the length of the block; each agent's connection gets one of its own to the backend."""
    middle = Middle("")

    def handle(agent: ServerConnection) -> None:
        assert agent.request is not None
        shown = agent.request.headers.get("Authorization")
        headers = {"Authorization": shown} if shown is not None else {}  # with a certificate there is none
        with connect_agent(backend_url, backend_tls, headers) as backend:
            middle._agents.append(agent)
            middle._backends.append(backend)
            middle.connections += 1
            thread = threading.Thread(target=middle._pass_down, args=(agent, backend), daemon=True)
            thread.start()
            middle._pass_up(agent, backend)
        thread.join(5)

    with serve(handle, "127.0.0.1", 0, ssl=agent_tls) as server:
        scheme = "ws" if agent_tls is None else "wss"
        middle.url = f"{scheme}://127.0.0.1:{server.socket.getsockname()[1]}/v1/opamp"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield middle
        finally:
            server.shutdown()
            thread.join(5)


def payload_of(jws: bytes) -> dict[str, Any]:
    """The payload of a compact JWS, unchecked."""
    part = jws.split(b".")[1]
    decoded: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
    return decoded
