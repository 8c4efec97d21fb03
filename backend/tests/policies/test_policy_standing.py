"""How policies stand over the fleet: read at each request while that is quick, and in the background in a large fleet."""

from collections.abc import AsyncIterator
from itertools import count

import pytest
from sqlalchemy import insert

from wallwatch.store.tables import policy_sample
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.policies.reports.standing import Standing
from wallwatch_backend.settings import Settings

_hosts = count(900_000)


@pytest.fixture
async def database(migrated_url: str) -> AsyncIterator[Database]:
    database = Database(Settings(database_url=migrated_url))
    yield database
    await database.dispose()


async def report(database: Database, policy: str) -> None:
    """A host more says that it watches ten subjects, one of them unknown."""
    row = {"time": clock.now(), "host_id": next(_hosts), "pci": "", "policy": policy, "subjects": 10, "unknown": 1}
    async with database.write() as session:
        await session.execute(insert(policy_sample).values(**row))


async def subjects(database: Database, standing: Standing, policy: str) -> int | None:
    async with database.read() as session:
        found = (await standing.states(session, clock.now())).get(policy)
    return None if found is None else int(found.subjects)


async def test_in_a_small_fleet_each_request_sees_the_newest_reports(database: Database) -> None:
    standing = Standing(database)
    for hosts in (1, 2):
        await report(database, "small")
        assert await subjects(database, standing, "small") == 10 * hosts


async def test_in_a_large_fleet_requests_are_answered_by_the_last_reading(database: Database) -> None:
    standing = Standing(database, many_reports=1)
    await report(database, "large")
    assert await subjects(database, standing, "large") == 10, "whoever asks first after a start has an answer"
    await report(database, "large")
    assert await subjects(database, standing, "large") == 10
    await standing.read()
    assert await subjects(database, standing, "large") == 20
