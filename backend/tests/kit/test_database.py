"""Sessions: what reads cannot write, a dead connection is replaced, and notifications come with the commit, each once."""

from collections.abc import AsyncIterator
from contextlib import suppress

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import InternalError

from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[Database]:
    database = Database(Settings(database_url=postgres_url))
    yield database
    await database.dispose()


async def notified(database: Database, listener: psycopg.AsyncConnection[tuple[object, ...]]) -> list[str]:
    """What came before a last notification that is sent now."""
    async with database.write() as session:
        session.notify("news", "last")
    payloads: list[str] = []
    async for notification in listener.notifies(timeout=60):
        if notification.payload == "last":
            break
        payloads.append(notification.payload)
    return payloads


async def test_a_session_that_reads_cannot_write(database: Database) -> None:
    async with database.read() as session:
        with pytest.raises(InternalError, match="read-only"):
            await session.execute(text("CREATE TABLE unwanted ()"))


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
async def test_a_session_that_reads_can_be_one_transaction_and_its_connection_is_as_before_afterwards(
    database: Database, isolation: str
) -> None:
    async with database.read() as session:
        await session.one_transaction(isolation)
        times = [(await session.execute(text("SELECT now(), current_setting('transaction_isolation')"))).one() for _ in range(2)]
        assert times[0] == times[1]
        assert times[0][1] == isolation.lower()
        with pytest.raises(InternalError, match="read-only"):
            await session.execute(text("CREATE TABLE unwanted ()"))
    async with database.read() as session:
        later = [(await session.execute(text("SELECT now()"))).scalar_one() for _ in range(2)]
    assert later[0] < later[1]


async def test_connections_that_the_server_has_ended_are_replaced(database: Database, postgres_url: str) -> None:
    async with database.read() as session:
        await session.execute(text("SELECT 1"))
    async with database.write() as session:
        await session.execute(text("SELECT 1"))
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
        mine = "application_name = 'wallwatch-backend' AND datname = current_database()"
        assert {
            row[0] for row in connection.execute(f"SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE {mine}").fetchall()
        } == {True}
    async with database.read() as session:
        assert (await session.execute(text("SELECT 1"))).scalar_one() == 1
    async with database.write() as session:
        assert (await session.execute(text("SELECT 1"))).scalar_one() == 1


async def test_notifications_come_with_the_commit_and_the_same_one_once(database: Database, postgres_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as listener:
        await listener.execute("LISTEN news")
        async with database.write() as session:
            for payload in ("one", "two", "one"):
                session.notify("news", payload)
        with suppress(ZeroDivisionError):
            async with database.write() as session:
                session.notify("news", "never")
                raise ZeroDivisionError
        assert await notified(database, listener) == ["one", "two"]
