"""Sends changes to the streams of this replica: read once, serialised once, queued for each client up to a bound."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

import structlog
from prometheus_client import Counter, Gauge
from sqlalchemy.exc import SQLAlchemyError

from wallwatch_backend.fleet.overview import repository as fleet
from wallwatch_backend.fleet.overview.service import columns_of
from wallwatch_backend.fleet.stream.errors import TooManyStreams
from wallwatch_backend.fleet.stream.schemas import StreamEvent, event
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
CLIENTS = Gauge("wallwatch_stream_clients", "Open streams of this process")
RESYNCS = Counter("wallwatch_stream_resyncs", "Times a slow client lost events and had to fetch everything again")

Watching = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Gets what ends a stream; calls it, within the context, once the stream's session or token has lost its rights."""


class Client:
    """A stream's queue.

    A client that is too slow loses its backlog and gets `resync`: memory is bounded, and nothing is missing silently.
    """

    def __init__(self, size: int) -> None:
        self._queue: asyncio.Queue[StreamEvent | None] = asyncio.Queue(size)
        self._ended = False

    def offer(self, item: StreamEvent) -> None:
        if self._ended:
            return
        try:
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            while not self._queue.empty():
                self._queue.get_nowait()
            RESYNCS.inc()
            self._queue.put_nowait(event("resync", {"at": clock.now()}))

    def end(self) -> None:
        """End the stream at its next step: what the queue holds is not sent any more."""
        self._ended = True
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)

    async def next(self, timeout_s: float) -> StreamEvent | None:
        """Return the next event, None at the end; raise `TimeoutError` after a silence."""
        if self._ended:
            return None
        return await asyncio.wait_for(self._queue.get(), timeout_s)


class StreamHub:
    """All streams of this process."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self._clients: set[Client] = set()
        self._rows_changed = asyncio.Event()
        self._cordons_changed: set[tuple[str, str]] = set()
        self._closed = False
        self._seq: int | None = None  # change_seq up to which rows were sent; None while there are no clients

    def publish(self, kind: str, data: object) -> None:
        if self._clients:
            self._send_to_all(event(kind, data))

    def _send_to_all(self, item: StreamEvent) -> None:
        for client in self._clients:
            client.offer(item)

    def rows_changed(self) -> None:
        """Send the rows of `rnic_state` that `ingest` has changed."""
        self._rows_changed.set()

    def cordon_changed(self, host: str, pci: str) -> None:
        """Send an RNIC whose row in `rnic_state` did not change: cordons have a table of their own."""
        self._cordons_changed.add((host, pci))
        self._rows_changed.set()

    def resync_all(self) -> None:
        """Notifications were lost (the connection to the database broke)."""
        self._send_to_all(event("resync", {"at": clock.now()}))

    def close(self) -> None:
        """End every stream, so that the server can stop."""
        self._closed = True
        for client in self._clients:
            client.end()

    async def run(self) -> None:
        """Send changed rows, those of one coalescing interval together."""
        while True:
            await self._rows_changed.wait()
            await asyncio.sleep(self._settings.stream_coalesce_s)
            self._rows_changed.clear()
            cordons_changed, self._cordons_changed = self._cordons_changed, set()
            try:
                await self._send_rows(cordons_changed)
            except (SQLAlchemyError, OSError) as error:
                log.warning("stream_rows_failed", error=str(error).splitlines()[0])
                self._cordons_changed |= cordons_changed
                await asyncio.sleep(1)
                self._rows_changed.set()

    async def _send_rows(self, cordons_changed: set[tuple[str, str]]) -> None:
        if self._seq is None or not self._clients:
            self._seq = None  # the next client sets where it begins
            return
        async with self._database.read() as session:
            self._seq, changed = await fleet.rows_after(session, self._seq)
            rows = list(changed)
            changed_rnics = {(row[0], row[2]) for row in rows}
            for host, pci in cordons_changed - changed_rnics:
                rows.extend(await fleet.rows_of(session, host, pci))
            if rows:
                self._send_to_all(event("rnic_state", columns_of(rows), self._seq))

    async def subscribe(self, watching: Watching, after: int | None) -> AsyncIterator[bytes]:
        """Return the frames of one stream until the client leaves, its session ends or the server stops.

        Rows that changed after `after` (the fleet's `seq`, or the last event's id) are sent first, so that nothing is missed between
        the client's fetch and its stream.

        Raises
        ------
        TooManyStreams
            When this process serves its maximum of streams; raised before the first byte.
        """
        if len(self._clients) >= self._settings.stream_max_clients:
            raise TooManyStreams(f"This server has {len(self._clients)} streams open.", headers={"Retry-After": "10"})
        client = Client(self._settings.stream_queue_size)
        self._clients.add(client)
        # Sent before what the queue holds by then: an id must never stand for rows that come after it.
        first = [event("heartbeat", {"at": clock.now()})]
        try:
            async with self._database.read() as session:
                if self._seq is None:
                    self._seq = await fleet.last_change(session)
                seq, missed = await fleet.rows_after(session, after) if after is not None else (0, [])
                if missed:
                    first.append(event("rnic_state", columns_of(missed), seq))
        except BaseException:
            self._clients.discard(client)
            raise
        CLIENTS.set(len(self._clients))
        if self._closed:
            client.end()
        return self._frames(client, first, watching)

    async def _frames(self, client: Client, first: list[StreamEvent], watching: Watching) -> AsyncIterator[bytes]:
        try:
            with watching(client.end):
                for opening in first:
                    yield opening.frame
                while True:
                    try:
                        item = await client.next(self._settings.stream_heartbeat_s)
                    except TimeoutError:
                        item = event("heartbeat", {"at": clock.now()})
                    if item is None:
                        return
                    yield item.frame
        finally:
            self._clients.discard(client)
            CLIENTS.set(len(self._clients))
