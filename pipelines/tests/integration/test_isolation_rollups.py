"""Hours and days of isolation on the edition without continuous aggregates: computed by ingest's maintenance, here at once."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config

from wallwatch.jobs.maintenance import Maintenance
from wallwatch.settings import Settings
from wallwatch.store.rollups import ISOLATION_ROLLUPS

pytestmark = pytest.mark.integration
HOUR = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)


@pytest.fixture
def connection(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as found:
        yield found


@pytest.fixture
def migrated(alembic_config: Config, connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    command.upgrade(alembic_config, "head")
    if connection.execute("SELECT to_regclass('vf_hour_rollup')").fetchone() == (None,):
        pytest.skip("this edition of TimescaleDB computes the roll-ups itself; pipelines/tests/community tests them")
    for table in ("vf_minute", *(rollup.table for rollup in ISOLATION_ROLLUPS)):
        connection.execute(f"DELETE FROM {table}".encode())
    return connection


@pytest.fixture
def clock() -> list[float]:
    """The time of the maintenance, which stands still unless a test changes it."""
    return [0.0]


@pytest.fixture
def maintenance(postgres_url: str, clock: list[float]) -> Maintenance:
    return new_maintenance(postgres_url, clock)


def new_maintenance(postgres_url: str, clock: list[float]) -> Maintenance:
    return Maintenance(Settings(database_url=postgres_url), threading.Event(), lambda: clock[0])


def minutes(connection: psycopg.Connection[Any], begin: datetime, count: int, vf: int = 0, pod: str = "a/web") -> None:
    connection.execute(
        "INSERT INTO vf_minute (time, rnic_id, vf, pod, tenant, kept_s, broken_s, unknown_s, not_promised_s, aggressor_s, state)"
        " SELECT %s + n * interval '1 minute', 5, %s, %s, split_part(%s, '/', 1), 57, 3, 0, 0, 0, 'broken' FROM generate_series(0, %s) n",
        [begin, vf, pod, pod, count - 1],
    )


def hours(connection: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT bucket, vf, pod, samples, kept_s, broken_s FROM vf_hour ORDER BY bucket, vf, pod").fetchall()


def day_sums(connection: psycopg.Connection[Any]) -> tuple[Any, ...]:
    return connection.execute("SELECT sum(samples), sum(kept_s), sum(broken_s) FROM vf_day").fetchone() or ()


def test_hours_days_and_tenants_have_what_the_minutes_have(migrated: psycopg.Connection[Any], maintenance: Maintenance) -> None:
    minutes(migrated, HOUR + timedelta(minutes=30), 60)
    minutes(migrated, HOUR, 60, vf=1)
    maintenance.roll_up(migrated)
    assert hours(migrated) == [
        (HOUR, 0, "a/web", 30, 1710, 90),
        (HOUR, 1, "a/web", 60, 3420, 180),
        (HOUR + timedelta(hours=1), 0, "a/web", 30, 1710, 90),
    ]
    assert day_sums(migrated) == (120, 6840, 360)
    tenants = migrated.execute("SELECT bucket, tenant, vfs, samples, kept_s FROM tenant_hour ORDER BY bucket").fetchall()
    assert tenants == [(HOUR, "a", 2, 90, 5130), (HOUR + timedelta(hours=1), "a", 1, 30, 1710)]


def test_a_minute_that_arrives_late_or_names_another_pod_is_in_its_hour_and_day_only(
    migrated: psycopg.Connection[Any], maintenance: Maintenance, clock: list[float]
) -> None:
    minutes(migrated, HOUR, 2, pod="")
    maintenance.roll_up(migrated)
    migrated.execute("UPDATE vf_minute SET pod = 'a/web', tenant = 'a'")
    minutes(migrated, HOUR + timedelta(minutes=2), 1)
    maintenance.minutes_touched(int(HOUR.timestamp()) // 60 + minute for minute in range(3))
    clock[0] = 120.0
    maintenance.roll_up(migrated)
    assert hours(migrated) == [(HOUR, 0, "a/web", 3, 171, 9)]
    assert day_sums(migrated) == (3, 171, 9)
    assert migrated.execute("SELECT tenant, samples FROM tenant_hour").fetchall() == [("a", 3)]


def test_a_process_that_was_killed_has_its_newest_minutes_computed_by_the_next(
    migrated: psycopg.Connection[Any], postgres_url: str, clock: list[float]
) -> None:
    minutes(migrated, HOUR, 1)
    new_maintenance(postgres_url, clock).roll_up(migrated)
    minutes(migrated, HOUR + timedelta(minutes=1), 100)
    new_maintenance(postgres_url, clock).roll_up(migrated)
    assert sum(row[3] for row in hours(migrated)) == 101
    assert day_sums(migrated)[0] == 101


def test_of_two_processes_one_computes_at_a_time_and_nothing_is_lost(
    migrated: psycopg.Connection[Any], postgres_url: str, maintenance: Maintenance
) -> None:
    minutes(migrated, HOUR, 1)
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as other:
        other.execute("SELECT pg_advisory_xact_lock(7241023)")
        maintenance.roll_up(migrated)
        assert hours(migrated) == []
    maintenance.roll_up(migrated)
    assert len(hours(migrated)) == 1


def test_an_upgrade_keeps_the_days_and_computes_the_hours_of_the_minutes_that_are_there(
    alembic_config: Config, migrated: psycopg.Connection[Any], maintenance: Maintenance
) -> None:
    command.downgrade(alembic_config, "0014")
    long_ago = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=40)
    migrated.execute("INSERT INTO vf_day_rollup VALUES (5, 0, 'a', 'a/web', %s, 1440, 86400, 0, 0, 0, 0)", [long_ago])
    minutes(migrated, HOUR, 10)
    command.upgrade(alembic_config, "0015")
    maintenance.roll_up(migrated)
    days = migrated.execute("SELECT bucket = %s, samples FROM vf_day ORDER BY bucket", [long_ago]).fetchall()
    assert days == [(True, 1440), (False, 10)]
    assert [row[3] for row in hours(migrated)] == [10]
