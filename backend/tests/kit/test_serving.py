"""Attacks on the server before anybody is authenticated, on real sockets. What is asserted is what is refused, never how fast."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, cast

import pytest
import uvicorn

from wallwatch_backend.kit.serving.connections import Connections, Limits
from wallwatch_backend.kit.serving.protocol import BoundedHttp

PATIENCE_S = 60.0
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def _app(scope: Any, receive: Any, send: Any) -> None:
    if scope["path"] == "/stream":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b": hello\n\n", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    if scope["path"] == "/large":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(40_000_000)})
        return
    if scope["method"] == "POST" and scope["path"] != "/unread":
        message, got = await receive(), 0
        while message["type"] == "http.request" and message.get("more_body"):
            got += len(message["body"])
            if scope["path"] == "/refused" and got > 3_000_000:
                break
            message = await receive()
        if message["type"] == "http.disconnect":
            return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


class Running:
    def __init__(self, connections: Connections, port: int) -> None:
        self.connections, self.port = connections, port

    def connect(self) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        return made


@contextmanager
def served(limits: Limits) -> Iterator[Running]:
    connections = Connections(limits, "test")
    http = cast(type[asyncio.Protocol], partial(BoundedHttp, connections))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(_app, http=http, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield Running(connections, listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)


def read_all(peer: socket.socket) -> bytes:
    """Everything until the server closes the connection; fails if it stays open."""
    got = b""
    try:
        while data := peer.recv(65_536):
            got += data
    except ConnectionResetError:
        pass
    return got


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def send_until_refused(peer: socket.socket, head: bytes, filling: bytes, most: int) -> int:
    """Send until the server refuses; returns how many bytes it took, the kernel's buffers included."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        peer.sendall(head)
        while sent < most:
            sent += peer.send(filling)
    return sent


def test_one_huge_header_is_refused_early() -> None:
    with served(Limits()) as server, server.connect() as peer, server.connect() as other:
        took = send_until_refused(peer, b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"a" * 65_536, 60_000_000)
        assert took < 30_000_000  # some megabytes stay in the kernel's buffers on loopback
        other.sendall(GET)
        assert other.recv(1000).startswith(b"HTTP/1.1 200")


def test_the_parser_gets_little_of_a_huge_header(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    before = BoundedHttp._note

    def noted(self: BoundedHttp, received: int) -> None:
        parsed.append(received)
        before(self, received)

    monkeypatch.setattr(BoundedHttp, "_note", noted)
    with served(Limits()) as server, server.connect() as peer:
        send_until_refused(peer, b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"a" * 65_536, 60_000_000)
        eventually(lambda: len(server.connections) == 0)
    assert sum(parsed) <= 32_768 + 2 * 16_384


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: %s\r\n" % (b"a" * 40_000) + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 100 + b"\r\n",
        b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["long field", "101 fields", "long path"],
)
def test_a_complete_header_beyond_the_limits_is_answered_431(head: bytes) -> None:
    with served(Limits()) as server, server.connect() as peer:
        peer.sendall(head)
        assert read_all(peer).startswith(b"HTTP/1.1 431")


def test_a_header_within_the_limits_is_served() -> None:
    with served(Limits()) as server, server.connect() as peer:
        peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 98 + b"Y: %s\r\n\r\n" % (b"a" * 20_000))
        assert peer.recv(1000).startswith(b"HTTP/1.1 200")


def test_300_half_sent_requests_are_closed() -> None:
    with served(Limits(head_s=2)) as server, ExitStack() as open_sockets:
        peers = [open_sockets.enter_context(server.connect()) for _ in range(300)]
        for peer in peers:
            with contextlib.suppress(ConnectionError):
                peer.sendall(GET[:-2])
        for peer in peers:
            assert read_all(peer)[:12] in (b"HTTP/1.1 408", b"")  # empty: closed before its bytes arrived
        eventually(lambda: len(server.connections) == 0)


def test_a_connection_that_sends_nothing_is_closed_without_an_answer() -> None:
    with served(Limits(head_s=0.5)) as server, server.connect() as peer:
        assert read_all(peer) == b""


def drip(peer: socket.socket, text: bytes) -> None:
    """One byte at a time until the server closes the connection."""
    with contextlib.suppress(ConnectionError):
        for _ in range(int(PATIENCE_S / 0.05)):
            peer.sendall(text)
            time.sleep(0.05)
        pytest.fail("the connection stayed open")


def test_a_slow_drip_of_header_bytes_is_closed() -> None:
    with served(Limits(head_s=1)) as server, server.connect() as peer:
        peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: ")
        drip(peer, b"a")


def test_the_header_of_a_second_request_is_timed_too() -> None:
    with served(Limits(head_s=1)) as server, server.connect() as peer:
        peer.sendall(GET)
        assert peer.recv(1000).endswith(b"ok")
        peer.sendall(GET[:-2])
        assert read_all(peer).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("path", [b"/", b"/unread"])
def test_a_body_that_makes_no_progress_is_closed(path: bytes) -> None:
    with served(Limits(body_s=1)) as server, server.connect() as peer:
        peer.sendall(b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        drip(peer, b"a")


def test_a_body_that_goes_on_after_its_answer_is_cut() -> None:
    with served(Limits()) as server, server.connect() as peer:
        took = send_until_refused(
            peer, b"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n", b"a" * 65_536, 100_000_000
        )
        assert took < 50_000_000


def test_a_connection_serves_the_next_request_after_a_body_that_was_refused_before_its_end() -> None:
    def answer() -> bytes:
        got = b""
        while not got.endswith(b"ok"):
            piece = peer.recv(65_536)
            assert piece, f"the connection ended after {got!r}"
            got += piece
        return got

    with served(Limits()) as server, server.connect() as peer:
        peer.sendall(b"POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 6000000\r\n\r\n" + bytes(6_000_000))
        assert answer().startswith(b"HTTP/1.1 200")
        peer.sendall(GET)
        assert answer().startswith(b"HTTP/1.1 200")


def test_an_idle_connection_is_closed() -> None:
    with served(Limits(idle_s=0.5)) as server, server.connect() as peer:
        peer.sendall(GET)
        assert read_all(peer).endswith(b"ok")


def test_an_answer_that_nobody_reads_is_given_up() -> None:
    with served(Limits(unread_s=1)) as server, server.connect() as peer:
        peer.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        eventually(lambda: len(server.connections) == 1)
        eventually(lambda: len(server.connections) == 0)


def test_connections_beyond_the_limit_are_refused() -> None:
    with served(Limits(connections=10)) as server, ExitStack() as open_sockets:
        for _ in range(10):
            open_sockets.enter_context(server.connect()).sendall(GET[:-2])
        eventually(lambda: len(server.connections) == 10)
        with server.connect() as peer:
            assert read_all(peer).startswith(b"HTTP/1.1 503")


def test_connections_of_one_address_are_limited_and_leave_room_for_others() -> None:
    with served(Limits(per_address=4, exempt=())) as server, ExitStack() as open_sockets:
        for _ in range(4):
            open_sockets.enter_context(server.connect()).sendall(GET[:-2])
        eventually(lambda: len(server.connections) == 4)
        with server.connect() as peer:
            assert read_all(peer).startswith(b"HTTP/1.1 503")
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S, source_address=("127.0.0.2", 0)) as elsewhere:
            elsewhere.sendall(GET)
            assert elsewhere.recv(1000).startswith(b"HTTP/1.1 200")


def test_an_idle_connection_makes_room_for_a_new_one() -> None:
    with served(Limits(per_address=2, exempt=())) as server, server.connect() as first, server.connect() as second:
        for peer in (first, second):
            peer.sendall(GET)
            assert peer.recv(1000).endswith(b"ok")
        with server.connect() as third:
            third.sendall(GET)
            assert third.recv(1000).startswith(b"HTTP/1.1 200")
        assert read_all(first) == b""


def test_event_streams_do_not_count_and_are_not_timed() -> None:
    with served(Limits(connections=10, head_s=5, idle_s=0.5)) as server, ExitStack() as open_sockets:
        streams = []
        for _ in range(15):  # one after another: until its answer starts, each counts
            stream = open_sockets.enter_context(server.connect())
            stream.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"event-stream" in stream.recv(1000)
            streams.append(stream)
        eventually(lambda: len(server.connections) == 0)
        with server.connect() as peer:
            peer.sendall(GET)
            assert read_all(peer).endswith(b"ok")  # closed as idle, later than each stream began
        for stream in streams:
            stream.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:  # until there is nothing to read; b"" would be the end
                    assert stream.recv(1000), "the server closed a stream"


def test_pipelined_requests_are_all_answered() -> None:
    with served(Limits()) as server, server.connect() as peer:
        peer.sendall(GET * 2000)
        got = b""
        while got.count(b"HTTP/1.1 200") < 2000:
            data = peer.recv(65_536)
            assert data
            got += data
