"""HTTP on one connection, with limits that hold before the application sees a request.

uvicorn's protocol on h11, which bounds an incomplete header by itself (`h11_max_incomplete_event_size`). Added here: the
size of complete headers, the time that header, body and reading an answer may take, and the number of connections.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from wallwatch_backend.kit.serving.connections import Connections

_PIECE_BYTES = 16_384
"""Received data is parsed in pieces, because h11 bounds only what is incomplete after each."""
_DISCARDED_BYTES = 4_000_000
"""A body that goes on for so long after its request was answered ends the connection. Until then a client that looks for
the answer while it sends, or after what was on its way, gets to read why its file was refused."""


def _plain(status: int, phrase: str, text: str, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status} {phrase}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {len(text)}\r\n"
    return f"{head}{more}connection: close\r\n\r\n{text}".encode("ascii")


_BUSY = _plain(503, "Service Unavailable", "Too many connections; try again in a moment.\n", "retry-after: 5\r\n")
_SLOW = _plain(408, "Request Timeout", "The request did not arrive in time.\n")
_LARGE = _plain(431, "Request Header Fields Too Large", "The request's header is too large.\n")


class BoundedHttp(H11Protocol):
    """One connection. Of uvicorn's own attributes it uses the transport, h11's connection, the flow control and the cycle."""

    def __init__(self, connections: Connections, **named: Any) -> None:
        super().__init__(**named)
        self._connections, self._limits = connections, connections.limits
        self.conn = h11.Connection(h11.SERVER, self._limits.head_bytes)
        self.timeout_keep_alive: float = self._limits.idle_s  # type: ignore[assignment]  # uvicorn says int; call_later takes any number
        self._next, self.app = self.app, self._run
        self.address: str | None = None
        self._awaits: str | None = "header"
        self._since = self.loop.time()
        self._body_bytes = 0
        self._discarded_bytes = 0
        self._unread: tuple[int, float] | None = None
        self._handed_over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self.address = self.client[0] if self.client else None
        if not self._connections.enter(self):
            transport.write(_BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE_BYTES):
            if self.transport.is_closing() or self._handed_over:
                return
            piece = data[start : start + _PIECE_BYTES]
            super().data_received(piece)
            self._note(len(piece))

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            self._awaits, self._since = None, self.loop.time()
        else:
            self._note(0)

    def _note(self, received: int) -> None:
        """Note what the peer owes now."""
        state = self.conn.their_state
        awaits = "header" if state is h11.IDLE else "body" if state is h11.SEND_BODY else None
        if awaits != self._awaits:
            self._awaits, self._since, self._body_bytes, self._discarded_bytes = awaits, self.loop.time(), 0, 0
        elif awaits == "body":
            self._body_bytes += received
            if self.cycle.response_complete:
                self._discarded_bytes += received
                if self._discarded_bytes > _DISCARDED_BYTES:
                    self.transport.abort()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._handed_over = True
        self._connections.leave(self)
        self.app = self._next  # the protocol of WebSockets takes its application from the configuration
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        unparsed, _ = self.conn.trailing_data
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()  # in the middle of an answer there is no place for another
        elif len(unparsed) > self._limits.head_bytes:
            self.transport.write(_LARGE)
            self.transport.close()
        else:
            super().send_400_response(msg)

    async def _run(self, scope: Any, receive: Any, send: Any) -> None:
        """The application for requests whose whole header is within the limits."""
        headers = scope["headers"]
        size = len(scope["raw_path"]) + len(scope["query_string"]) + sum(len(name) + len(value) + 4 for name, value in headers)
        if len(headers) > self._limits.headers or size > self._limits.head_bytes:
            text = f"A request may have {self._limits.headers} header fields and {self._limits.head_bytes} bytes of header.\n".encode()
            plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": 431, "headers": plain})
            await send({"type": "http.response.body", "body": text})
            return

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start" and _is_stream(message):
                self._connections.set_apart(self)
            await send(message)

        await self._next(scope, receive, watched)

    # What `Connections` asks.

    def idle_since(self) -> float | None:
        answered = self.cycle is not None and self.cycle.response_complete
        return self._since if self._awaits is None and answered else None

    def overdue(self, now: float) -> str | None:
        if self._is_unread(now):
            return "unread"
        waited_s = now - self._since
        if self._awaits == "header" and waited_s > self._limits.head_s:
            return "slow_header"
        if self._awaits == "body":
            if self.flow.read_paused:  # the application is slow here, not the peer
                self._since, self._body_bytes = now, 0
            elif waited_s > self._limits.body_s + self._body_bytes / self._limits.body_bytes_per_s:
                return "slow_body"
        return None

    def _is_unread(self, now: float) -> bool:
        if not self.flow.write_paused:
            self._unread = None
            return False
        waiting = self.transport.get_write_buffer_size()
        if self._unread is None or waiting < self._unread[0]:
            self._unread = (waiting, now)
        return now - self._unread[1] > self._limits.unread_s

    def end(self, reason: str) -> None:
        if self.transport.is_closing():
            return
        if reason == "unread":
            self.transport.abort()
            return
        answering = self.cycle is not None and (self.cycle.response_started and not self.cycle.response_complete)
        if reason in ("slow_header", "slow_body") and not answering and self._owes_request():
            self.transport.write(_SLOW)
        self.transport.close()

    def _owes_request(self) -> bool:
        """Whether part of a request has arrived: only then a peer waits for an answer."""
        return self._awaits == "body" or bool(self.conn.trailing_data[0])


def _is_stream(start: Any) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in start["headers"])
