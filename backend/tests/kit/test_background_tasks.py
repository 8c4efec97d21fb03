"""The leader's work goes on after its connection is lost, even when a task does not end."""

import asyncio
import secrets
from contextlib import suppress

import psycopg
import pytest

from wallwatch.database_liveness import NOTICE_DEAD_CLIENT
from wallwatch.settings import Settings
from wallwatch_backend.kit import background_tasks
from wallwatch_backend.kit.background_tasks import run_on_leader


@pytest.fixture(autouse=True)
def lock_of_this_test(monkeypatch: pytest.MonkeyPatch) -> int:
    lock = secrets.randbelow(1_000_000_000)
    monkeypatch.setattr(background_tasks, "LOCK", lock)
    monkeypatch.setattr(background_tasks, "_ASK_EVERY_S", 0.05)
    monkeypatch.setattr(background_tasks, "_END_S", 0.2)
    return lock


async def end_the_leaders_connection(url: str, lock: int) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        held = await connection.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = %s::bigint::oid", [lock])
        (pid,) = await held.fetchone() or (None,)
        await connection.execute("SELECT pg_terminate_backend(%s)", [pid])


async def test_a_task_that_does_not_end_does_not_keep_the_others_from_starting_again(postgres_url: str, lock_of_this_test: int) -> None:
    url = Settings(database_url=postgres_url).libpq_url
    starts: asyncio.Queue[str] = asyncio.Queue()
    never = asyncio.Event()

    async def waits_for_a_dead_server() -> None:
        await starts.put("stuck")
        while not never.is_set():
            with suppress(asyncio.CancelledError):
                await never.wait()

    async def works() -> None:
        await starts.put("works")
        await asyncio.Event().wait()

    leading = asyncio.create_task(run_on_leader(url, {"stuck": waits_for_a_dead_server, "works": works}))
    try:
        async with asyncio.timeout(60):
            assert {await starts.get(), await starts.get()} == {"stuck", "works"}
            await end_the_leaders_connection(url, lock_of_this_test)
            assert {await starts.get(), await starts.get()} == {"stuck", "works"}
    finally:
        never.set()
        leading.cancel()
        await asyncio.gather(leading, return_exceptions=True)


async def test_a_session_with_a_lock_is_probed_at_both_ends(postgres_url: str) -> None:
    url = Settings(database_url=postgres_url).libpq_url
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        assert connection.info.get_parameters()["keepalives_idle"] == "10"
        await connection.execute(NOTICE_DEAD_CLIENT)
        shown = await (await connection.execute("SHOW tcp_keepalives_idle")).fetchone()
    assert shown == ("10",)
