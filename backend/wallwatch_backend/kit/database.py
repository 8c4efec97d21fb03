"""Database engine, and two kinds of session: one that reads, one that writes. Endpoints own the transaction; services never commit."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, ClassVar

from fastapi import Depends, Request
from sqlalchemy import Text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase

from wallwatch_backend.settings import Settings


class Base(DeclarativeBase):
    """Base of the tables that the backend owns."""

    type_annotation_map: ClassVar[dict[type, Any]] = {str: Text}


class ReadSession(AsyncSession):
    """A session whose transaction PostgreSQL holds to reading."""


class WriteSession(ReadSession):
    """A session that may change things; whoever opened it commits, once."""


class Database:
    """The engine and the ways to open sessions on it."""

    def __init__(self, settings: Settings) -> None:
        self.url = settings.database_url
        self.engine: AsyncEngine = create_async_engine(
            settings.database_url,
            pool_size=settings.database_pool_size,
            max_overflow=settings.database_pool_size,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 5, "application_name": "wallwatch-backend"},
        )
        self._info = {"public_url": str(settings.public_url).rstrip("/") if settings.public_url else None}
        self._reading = self.engine.execution_options(postgresql_readonly=True)

    @property
    def libpq_url(self) -> str:
        """The address in the form that psycopg itself takes."""
        return self.url.replace("postgresql+psycopg://", "postgresql://", 1)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        async with ReadSession(self._reading, expire_on_commit=False) as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncIterator[WriteSession]:
        """Commit at the end of the block, roll back when it raises. `session.info` has `public_url`, for links in webhooks."""
        async with WriteSession(self.engine, expire_on_commit=False, info=dict(self._info)) as session, session.begin():
            yield session

    async def dispose(self) -> None:
        await self.engine.dispose()


def database_of(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


async def _read_session(database: Annotated[Database, Depends(database_of)]) -> AsyncIterator[ReadSession]:
    async with database.read() as session:
        yield session


async def _write_session(database: Annotated[Database, Depends(database_of)]) -> AsyncIterator[WriteSession]:
    async with database.write() as session:
        yield session


# Scope "function": the commit happens before the answer goes out, so that a client who saw the answer can read what it wrote.
Reading = Annotated[ReadSession, Depends(_read_session, scope="function")]
Writing = Annotated[WriteSession, Depends(_write_session, scope="function")]
TheDatabase = Annotated[Database, Depends(database_of)]
