"""A keep-alive connection that asks with GET and costs its process little.

A client library took 4 ms of CPU for a request among 50: the clients of a benchmark would then wait for themselves, not for the server.
"""

import asyncio
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

import httptools


@dataclass(frozen=True)
class Answer:
    """What came back: the body is counted, not kept or unpacked."""

    status: int
    body_bytes: int


class Connection(asyncio.Protocol):
    """One connection of one client, which asks again only when it is answered.

    Use `connect`; then `await connection.get(path)` raises OSError if the connection ends before the answer does.
    """

    def __init__(self, host: str, token: str) -> None:
        self._fields = f"Host: {host}\r\nAuthorization: Bearer {token}\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n\r\n"
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._answer: asyncio.Future[Answer] | None = None
        self._body_bytes = 0

    async def get(self, path: str) -> Answer:
        """Ask, and return when the last byte of the body has come."""
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError("the server has closed the connection")
        self._body_bytes = 0
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(f"GET {path} HTTP/1.1\r\n{self._fields}".encode())
        return await self._answer

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # of a TCP connection; uvloop's are not subclasses

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("the server has closed the connection"))

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    # What the parser calls.

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)

    def on_message_complete(self) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(Answer(self._parser.get_status_code(), self._body_bytes))
        if not self._parser.should_keep_alive():
            self.close()


async def connect(url: str, token: str) -> Connection:
    """Connect to the server of a URL."""
    parts = urlsplit(url)
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: Connection(parts.netloc, token), parts.hostname or "", parts.port or 80
    )
    return connection
