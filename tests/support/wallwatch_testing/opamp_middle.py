"""Somebody between backend and agent: passes OpAMP on, and may change the signed commands on their way to the agent."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry._opamp.proto import opamp_pb2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

HEADER = b"\x00"  # OpAMP over WebSocket: a varint that is 0, then the message
Change = Callable[[bytes], bytes]


@dataclass
class Middle:
    """Where the agent is to connect to; `change` is done to every command, `commands` are those that the backend sent."""

    url: str
    change: Change | None = None
    commands: list[bytes] = field(default_factory=list)
    _agents: list[ServerConnection] = field(default_factory=list)

    def inject(self, jws: bytes) -> None:
        """Send a command of one's own to the agent that connected last."""
        message = opamp_pb2.ServerToAgent()
        message.custom_message.capability = "com.wallwatch.remedy.v1"
        message.custom_message.type = "command"
        message.custom_message.data = jws
        self._agents[-1].send(HEADER + message.SerializeToString())

    def _to_agent(self, frame: bytes) -> bytes:
        message = opamp_pb2.ServerToAgent.FromString(frame.removeprefix(HEADER))
        if message.custom_message.type == "command":
            self.commands.append(message.custom_message.data)
            if self.change is not None:
                message.custom_message.data = self.change(message.custom_message.data)
                return HEADER + message.SerializeToString()
        return frame


@contextmanager
def between(backend_url: str) -> Iterator[Middle]:
    """Listen on a free port for the length of the block; each agent's connection gets one of its own to the backend."""
    middle = Middle("")

    def handle(agent: ServerConnection) -> None:
        assert agent.request is not None
        authorization = {"Authorization": agent.request.headers["Authorization"]}
        with connect(backend_url, additional_headers=authorization) as backend:
            middle._agents.append(agent)

            def down() -> None:
                try:
                    for frame in backend:
                        agent.send(middle._to_agent(frame) if isinstance(frame, bytes) else frame)
                except ConnectionClosed:
                    pass
                finally:
                    agent.close()

            thread = threading.Thread(target=down, daemon=True)
            thread.start()
            try:
                for frame in agent:
                    backend.send(frame)
            except ConnectionClosed:
                pass
        thread.join(5)

    with serve(handle, "127.0.0.1", 0) as server:
        middle.url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}/v1/opamp"
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
