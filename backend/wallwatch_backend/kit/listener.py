"""Listens to PostgreSQL's notifications on a separate connection."""

import asyncio
from collections.abc import Callable, Mapping

import psycopg
import structlog
from psycopg import sql

log = structlog.get_logger(__name__)

_RETRY_S = 1.0


class Listener:
    """Calls a handler for each notification, and `on_reconnect` when some may have been lost."""

    def __init__(self, dsn: str, handlers: Mapping[str, Callable[[str], None]], on_reconnect: Callable[[], None]) -> None:
        self._dsn, self._handlers, self._on_reconnect = dsn, handlers, on_reconnect
        self.listening = asyncio.Event()

    async def run(self) -> None:
        """Listen until cancelled; connect again when the connection breaks."""
        first = True
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self._dsn, autocommit=True, connect_timeout=5) as connection:
                    for channel in self._handlers:
                        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
                    if not first:
                        self._on_reconnect()
                    first = False
                    self.listening.set()
                    await self._read(connection)
            except (psycopg.Error, OSError) as error:
                log.warning("listener_disconnected", error=str(error).splitlines()[0] if str(error) else type(error).__name__)
            self.listening.clear()
            await asyncio.sleep(_RETRY_S)

    async def _read(self, connection: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
        while True:
            # After the time-out a query detects a dead connection.
            async for notification in connection.notifies(timeout=30):
                handler = self._handlers.get(notification.channel)
                if handler is not None:
                    handler(notification.payload)
            await connection.execute("SELECT 1")
