"""How much memory an attack costs a server, in a process of its own: what the process needed at its peak, never how fast."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE_S = 120.0
MB = 1_000_000
MOST_GROWTH = 20 * MB
"""A third of one header of the attack. The server reads at most 32 kB of it; the rest is room for Python's own allocations.

Measured with 60 MB: 0.2 MB; 108 MB with the parser that uvicorn uses by itself."""
HEAD = b"GET / HTTP/1.1\r\nHost: x\r\nX: "

SERVER = """
import socket
from functools import partial

import uvicorn

from wallwatch_backend.kit.serving.connections import Connections, Limits
from wallwatch_backend.kit.serving.protocol import BoundedHttp

async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})

http = partial(BoundedHttp, Connections(Limits(), "test"))
with socket.create_server(("127.0.0.1", 0)) as listening:
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, http=http, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run([listening])
"""


class Child:
    """A server in a process of its own."""

    def __init__(self, pid: int, port: int) -> None:
        self.pid, self.port = pid, port

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def is_served(self) -> bool:
        with self.connect() as peer:
            peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return peer.recv(1000).startswith(b"HTTP/1.1 200")

    @property
    def peak(self) -> int:
        """Most memory that it ever had resident, bytes. Not `ru_maxrss`, which a child takes over from the process that started it."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024


@pytest.fixture
def child() -> Iterator[Child]:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Child(process.pid, int(process.stdout.readline()))
        finally:
            process.kill()


def send(peer: socket.socket, head: bytes, total: int) -> None:
    """Send until everything is sent or the server refuses."""
    with contextlib.suppress(ConnectionError):
        peer.sendall(head)
        for _ in range(total // 65_536):
            peer.sendall(b"a" * 65_536)


def test_huge_headers_cost_a_server_little_memory(child: Child) -> None:
    assert child.is_served()
    before = child.peak
    for _ in range(3):
        with child.connect() as peer:
            send(peer, HEAD, 60 * MB)
    assert child.is_served()
    assert child.peak - before < MOST_GROWTH


def test_many_connections_with_a_header_in_the_middle_cost_little_memory_each(child: Child) -> None:
    assert child.is_served()
    before = child.peak
    with contextlib.ExitStack() as open_ones:
        for _ in range(100):
            peer = open_ones.enter_context(child.connect())
            peer.sendall(HEAD + b"a" * 30_000)  # within the limit, so it is kept until the time of a header is over
        assert child.is_served()
    assert child.peak - before < MOST_GROWTH
