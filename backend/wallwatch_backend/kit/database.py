"""Database engines, and two kinds of session: one that reads, one that writes. Endpoints own the transaction; services never commit."""

import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, ClassVar
from uuid import UUID

from fastapi import Depends, Request
from prometheus_client import Counter
from sqlalchemy import Engine, Text, event, make_url, text
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase

from wallwatch.database_liveness import NOTICE_DEAD_SERVER
from wallwatch_backend.kit.subject_traces import Step, SubjectTraces
from wallwatch_backend.settings import Settings

STATEMENTS = Counter("wallwatch_database_statements", "Statements sent to the database, commits not counted", ["session"])
COMMITS = Counter("wallwatch_database_commits", "Transactions that were committed")

_NOTIFICATIONS, _TRACED, _STEPS = "notifications", "traced", "steps"
_SEND = text(
    "SELECT pg_notify(n.channel, n.payload) FROM unnest(CAST(:channels AS text[]), CAST(:payloads AS text[])) AS n (channel, payload)"
)


class Base(DeclarativeBase):
    """Base of the tables that the backend owns."""

    type_annotation_map: ClassVar[dict[type, Any]] = {str: Text}


class ReadSession(AsyncSession):
    """A session on a read-only connection. Each statement is a separate transaction."""

    async def one_transaction(self, isolation_level: str = "READ COMMITTED") -> None:
        """Run all later statements in one transaction: a server-side cursor needs one; REPEATABLE READ shows everything at one moment."""
        await self.commit()  # returns the connection on which each statement is a transaction
        await self.connection(execution_options={"isolation_level": isolation_level})


class WriteSession(ReadSession):
    """A session that may write, in one transaction; its opener commits, once."""

    def notify(self, channel: str, payload: str) -> None:
        """Notify listeners with the commit; repeated notifications are sent once."""
        self.info.setdefault(_NOTIFICATIONS, {})[channel, payload] = None

    @property
    def is_traced(self) -> bool:
        """Whether anybody wants to see the steps of incidents and remedies."""
        return bool(self.info.get(_TRACED))

    def trace(self, subject: UUID, *steps: Step) -> None:
        """Send steps of an incident or a remedy once they are committed."""
        self.info.setdefault(_STEPS, []).extend((subject, step) for step in steps)

    async def send_notifications(self) -> None:
        """Pass the notifications to PostgreSQL, in one statement."""
        pending: dict[tuple[str, str], None] = self.info.pop(_NOTIFICATIONS, {})
        if pending:
            await self.execute(_SEND, {"channels": [channel for channel, _ in pending], "payloads": [payload for _, payload in pending]})


class Database:
    """The engines and the ways to open sessions on them."""

    def __init__(self, settings: Settings, traces: SubjectTraces | None = None) -> None:
        self.url, self.traces = settings.database_url, traces
        self.libpq_url = settings.libpq_url
        connect: dict[str, Any] = {"connect_timeout": 5, "application_name": "wallwatch-backend", **NOTICE_DEAD_SERVER}
        size = settings.database_pool_size
        # Twice as many under load: a transaction may wait for a second one, which records its refusal in the audit log.
        self.engine: AsyncEngine = create_async_engine(self.url, connect_args=connect, pool_size=size, max_overflow=size)
        # Separate connections for reading: beginning and ending a transaction around one SELECT costs more than the SELECT.
        given = make_url(self.url).query.get("options", "")
        read_only = f"{given if isinstance(given, str) else ' '.join(given)} -c default_transaction_read_only=on".strip()
        self._reading: AsyncEngine = create_async_engine(
            self.url,
            isolation_level="AUTOCOMMIT",
            skip_autocommit_rollback=True,
            connect_args={**connect, "options": read_only},
            pool_size=size,
            max_overflow=0,
        )
        _watch(self.engine.sync_engine, "write")
        _watch(self._reading.sync_engine, "read")
        self._info = {"public_url": str(settings.public_url).rstrip("/") if settings.public_url else None, _TRACED: traces is not None}

    @asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        async with ReadSession(self._reading, expire_on_commit=False) as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncIterator[WriteSession]:
        """Commit at the end of the block, roll back if it raises. `session.info` has `public_url`, for links in webhooks."""
        async with WriteSession(self.engine, expire_on_commit=False, info=dict(self._info)) as session:
            async with session.begin():
                yield session
                await session.send_notifications()
            if self.traces is not None:
                for subject, step in session.info.get(_STEPS, ()):
                    self.traces.send(subject, step)

    async def dispose(self) -> None:
        await self.engine.dispose()
        await self._reading.dispose()


def _watch(engine: Engine, kind: str) -> None:
    """Count what an engine sends, and check each connection before it is used."""
    statements = STATEMENTS.labels(kind)
    event.listen(engine, "before_cursor_execute", lambda *_: statements.inc())
    event.listen(engine, "checkout", _still_there)
    if kind == "write":
        event.listen(engine, "commit", lambda _: COMMITS.inc())


def _still_there(connection: Any, _record: object, _proxy: object) -> None:
    """Replace a connection that the server has closed: an idle one has nothing to read until then.

    A query before each use, which is the usual way, costs as much as the one statement of most sessions.
    """
    raw = connection.driver_connection
    poll = select.poll()  # select() itself takes no file descriptor above 1,023, and agents have as many
    if not raw.closed:
        poll.register(raw.fileno(), select.POLLIN)
    if raw.closed or poll.poll(0):
        raise DisconnectionError("the server has closed this connection")


async def database_of(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


async def _read_session(database: Annotated[Database, Depends(database_of)]) -> AsyncIterator[ReadSession]:
    async with database.read() as session:
        yield session


async def _write_session(database: Annotated[Database, Depends(database_of)]) -> AsyncIterator[WriteSession]:
    async with database.write() as session:
        yield session


# Scope "function": the commit happens before the answer goes out, so that a client that has the answer can read what it wrote.
Reading = Annotated[ReadSession, Depends(_read_session, scope="function")]
Writing = Annotated[WriteSession, Depends(_write_session, scope="function")]
TheDatabase = Annotated[Database, Depends(database_of)]
