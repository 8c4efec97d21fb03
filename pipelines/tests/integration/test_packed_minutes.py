"""One-minute aggregates of past hours are packed by ingest on the edition without a columnstore: no minute is lost, doubled or changed."""

import random
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from psycopg import sql

from wallwatch.forecasting.histories.store_queries import rolled_up
from wallwatch.jobs import maintenance as jobs_maintenance
from wallwatch.jobs.late_minutes import LateMinutes
from wallwatch.jobs.maintenance import Maintenance, drop_old_chunks
from wallwatch.jobs.packing import LOCK as PACKING
from wallwatch.jobs.packing import Packing
from wallwatch.settings import Settings
from wallwatch.store import packed
from wallwatch.store.roles import DatabaseRole
from wallwatch.store.rollups import ROLLUPS, Rollup
from wallwatch_local.template_databases import as_role

from .conftest import until

pytestmark = pytest.mark.integration
Connection = psycopg.Connection[Any]

HOUR = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
OLD, OLDER = HOUR - timedelta(hours=5), HOUR - timedelta(hours=6)
NEW = HOUR + timedelta(hours=12)
"""Not old enough to be packed, however long these tests take."""
MINUTE = timedelta(minutes=1)
MINUTES = tuple(rollup for rollup in ROLLUPS if rollup.table in packed.MINUTES)
RNIC_1M, OFFLOAD_1M = MINUTES


@pytest.fixture
def connection(alembic_config: Config, postgres_url: str) -> Iterator[Connection]:
    command.upgrade(alembic_config, "head")
    with connect(postgres_url) as connection:
        if connection.execute("SELECT to_regclass('rnic_1m_rollup_packed')").fetchone() == (None,):
            pytest.skip("this edition of TimescaleDB has a columnstore; pipelines/tests/community tests it")
        tables = [name for table in (*packed.PACKED, *packed.MINUTES) for name in (table, packed.table_name(table))]
        for name in (*tables, packed.MINUTES_OF_HOURS):
            connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(name)))
        yield connection


@pytest.fixture
def packing(postgres_url: str) -> Packing:
    return Packing(Settings(database_url=postgres_url), threading.Event(), lambda *_: None)


@pytest.fixture
def maintenance(postgres_url: str) -> Maintenance:
    return Maintenance(Settings(database_url=postgres_url), threading.Event())


def connect(url: str) -> Connection:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


def value(kind: str, random_: random.Random) -> float | int | None:
    if random_.random() < 0.3:
        return None
    if kind == "bigint":
        return random_.choice((0, 1, random_.randrange(2**63)))
    return random_.choice((0.0, 1e-9, random_.random() * 1e12, float("nan")))


def insert(
    connection: Connection, rollup: Rollup, begin: datetime, minutes: list[int], rnics: tuple[int, ...] = (7, 8), seed: int = 1
) -> None:
    """Minutes of some RNICs with random aggregates, in an order that is not that of the times. Some columns have no value at all."""
    random_ = random.Random(seed)
    columns = connection.execute(
        "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " AND attname NOT IN ('rnic_id', 'bucket', 'samples')",
        [rollup.table],
    ).fetchall()
    columns = [column for column in columns if random_.random() < 0.9]
    names = [sql.Identifier(name) for name in ("bucket", "rnic_id", "samples", *(name for name, _ in columns))]
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(rollup.table), sql.SQL(", ").join(names), sql.SQL(", ").join([sql.Placeholder()] * len(names))
    )
    places = [(begin + minute * MINUTE, rnic) for minute in minutes for rnic in rnics]
    random_.shuffle(places)
    with connection.cursor() as cursor:
        cursor.executemany(statement, [[*place, 6, *(value(kind, random_) for _, kind in columns)] for place in places])


def rows(connection: Connection, relation: str, where: str = "true") -> list[str]:
    """All columns as text, in which NaN equals itself."""
    return [row[0] for row in connection.execute(f"SELECT r::text FROM {relation} AS r WHERE {where} ORDER BY rnic_id, bucket".encode())]


def sample(connection: Connection, at: datetime, q_egress: float, rnic: int = 7) -> None:
    connection.execute("INSERT INTO offload_sample (time, rnic_id, q_egress) VALUES (%s, %s, %s)", [at, rnic, q_egress])


def minute_of(at: datetime) -> int:
    return int(at.timestamp()) // 60


def minutes_of(first: datetime) -> range:
    """Two hours from this time on."""
    return range(minute_of(first), minute_of(first) + 120)


def averages(connection: Connection, rnic: int = 7) -> list[tuple[Any, ...]]:
    found = connection.execute("SELECT bucket, samples, q_egress_avg FROM offload_1m WHERE rnic_id = %s ORDER BY bucket", [rnic])
    return [((row[0] - OLD) // MINUTE, *row[1:]) for row in found]


@pytest.mark.parametrize("rollup", MINUTES, ids=lambda rollup: rollup.view)
@pytest.mark.parametrize("seed", range(4))
def test_packed_minutes_are_the_same_minutes(connection: Connection, packing: Packing, rollup: Rollup, seed: int) -> None:
    random_ = random.Random(seed)
    insert(connection, rollup, OLDER, list(range(60)), seed=seed)
    insert(connection, rollup, OLD, sorted(random_.sample(range(60), random_.randrange(1, 60))), seed=seed + 10)
    insert(connection, rollup, OLD, [random_.randrange(60)], rnics=(9,), seed=seed + 20)
    insert(connection, rollup, NEW, [0, 1], seed=seed + 30)
    before = rows(connection, rollup.table)
    assert rows(connection, rollup.view) == before
    assert packing.pack(connection) == 2
    assert rows(connection, rollup.view) == before
    assert len(rows(connection, rollup.table)) == 4, "only new ones are rows"
    some = sorted(random_.sample(range(60), 2))
    for condition in (
        f"rnic_id = 7 AND bucket >= '{OLD + some[0] * MINUTE}' AND bucket < '{OLD + some[1] * MINUTE}'",
        f"bucket = '{OLD + some[0] * MINUTE}'",
        f"rnic_id = ANY (ARRAY(SELECT 7 UNION SELECT 9)) AND bucket BETWEEN '{OLDER + some[1] * MINUTE}' AND '{OLD + some[0] * MINUTE}'",
        "samples > 5 AND bucket < now()",
    ):
        expected = set(rows(connection, rollup.view, condition))
        matching = connection.execute(f"SELECT r::text FROM (SELECT * FROM {rollup.view} OFFSET 0) AS r WHERE {condition}".encode())
        assert expected == {row[0] for row in matching}
    assert packing.pack(connection) == 0, "nothing is left to pack"
    chunks = "SELECT count(*) FROM timescaledb_information.chunks WHERE hypertable_name = %s"
    assert connection.execute(chunks, [rollup.table]).fetchone() == (1,), "packed hours leave no empty chunks"


def test_an_hour_with_all_of_its_minutes_needs_no_list_of_them(connection: Connection, packing: Packing) -> None:
    insert(connection, RNIC_1M, OLD, list(range(60)), rnics=(7,))
    insert(connection, RNIC_1M, OLD, list(range(59)), rnics=(8,))
    packing.pack(connection)
    lists = connection.execute("SELECT rnic_id, cardinality(bucket) FROM rnic_1m_rollup_packed ORDER BY rnic_id").fetchall()
    assert lists == [(7, None), (8, 59)]


def test_a_late_sample_changes_its_minute_of_a_packed_hour(connection: Connection, packing: Packing, maintenance: Maintenance) -> None:
    for minute in range(60):
        sample(connection, OLD + minute * MINUTE, minute)
        sample(connection, OLD + minute * MINUTE, minute, rnic=8)
    maintenance.touched({"offload_sample": minutes_of(OLD)})
    maintenance.roll_up(connection)
    assert packing.pack(connection) == 2
    expected = averages(connection, 8)
    before = connection.execute("SELECT xmin FROM offload_1m_rollup_packed WHERE rnic_id = 8").fetchone()
    sample(connection, OLD + 7 * MINUTE + timedelta(seconds=30), 17)
    sample(connection, OLD - MINUTE, 5)
    for again in range(2):
        maintenance.touched({"offload_sample": minutes_of(OLD - MINUTE)})
        maintenance.roll_up(connection)
        expected_of_late = [(-1, 1, 5.0), *((m, 2, 12.0) if m == 7 else (m, 1, float(m)) for m in range(60))]
        assert averages(connection) == expected_of_late, again
        packing.pack(connection)
        assert averages(connection) == expected_of_late, again
    assert averages(connection, 8) == expected
    after = connection.execute("SELECT xmin FROM offload_1m_rollup_packed WHERE rnic_id = 8 AND hour = %s", [OLD]).fetchone()
    assert after == before, "hours without late samples are not written again"
    assert rows(connection, "offload_1m_rollup") == []


def test_late_minutes_wait_while_hours_are_packed_and_new_ones_do_not(
    connection: Connection, packing: Packing, maintenance: Maintenance, postgres_url: str
) -> None:
    sample(connection, OLD, 1)
    maintenance.touched({"offload_sample": minutes_of(OLD)})
    maintenance.roll_up(connection)
    packing.pack(connection)
    sample(connection, OLD + timedelta(seconds=30), 3)
    now = datetime.now(UTC)
    sample(connection, now, 4)
    with connect(postgres_url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [PACKING])
        maintenance.touched({"offload_sample": [*minutes_of(OLD), minute_of(now)]})
        maintenance.roll_up(connection)
        assert [row[1:] for row in averages(connection)] == [(1, 1.0), (1, 4.0)]
    assert until(lambda: connection.execute("SELECT pg_try_advisory_lock(%s)", [PACKING]).fetchone() == (True,))
    connection.execute("SELECT pg_advisory_unlock(%s)", [PACKING])
    maintenance.roll_up(connection)
    assert [row[1:] for row in averages(connection)] == [(2, 2.0), (1, 4.0)]


def test_a_sample_from_before_all_samples_that_are_kept_does_not_replace_its_minute(
    connection: Connection, packing: Packing, maintenance: Maintenance
) -> None:
    ancient = OLD - timedelta(days=20)
    insert(connection, OFFLOAD_1M, ancient, list(range(60)))
    packing.pack(connection)
    before = rows(connection, "offload_1m")
    sample(connection, ancient + timedelta(seconds=30), 17)
    maintenance.touched({"offload_sample": minutes_of(ancient)})
    maintenance.roll_up(connection)
    assert rows(connection, "offload_1m") == before


def test_only_minutes_that_received_samples_are_computed_again(connection: Connection, packing: Packing, maintenance: Maintenance) -> None:
    for at in (OLDER, OLD):
        sample(connection, at, 1)
    maintenance.touched({"offload_sample": [*minutes_of(OLDER), *minutes_of(OLD)]})
    maintenance.roll_up(connection)
    packing.pack(connection)
    before = "SELECT hour, xmin FROM offload_1m_rollup_packed ORDER BY hour"
    written = connection.execute(before).fetchall()
    sample(connection, OLDER + timedelta(seconds=30), 3)
    sample(connection, OLD + timedelta(seconds=30), 9)
    maintenance.touched({"offload_sample": [minute_of(OLDER), minute_of(OLD - timedelta(days=2_000))]})
    maintenance.roll_up(connection)
    assert [row[1:] for row in averages(connection)] == [(2, 2.0), (1, 1.0)], "nobody said that the newer hour had changed"
    after = connection.execute(before).fetchall()
    assert (after[0] != written[0], after[1:]) == (True, written[1:])


def test_minutes_between_those_of_a_clock_that_is_behind_and_the_newest_are_not_computed_again(
    connection: Connection, maintenance: Maintenance
) -> None:
    newest = datetime.now(UTC) - 5 * MINUTE
    behind, between = newest - 50 * MINUTE, newest - 20 * MINUTE
    for at, q_egress in ((behind, 1.0), (between, 2.0), (newest, 3.0)):
        sample(connection, at, q_egress)
    maintenance.touched({"offload_sample": [minute_of(behind), minute_of(newest)]})
    maintenance.roll_up(connection)
    assert [row[1:] for row in averages(connection)] == [(1, 1.0), (1, 3.0)]


def test_of_many_late_hours_the_newest_come_first_and_all_in_the_end(
    connection: Connection, packing: Packing, maintenance: Maintenance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_maintenance, "LATE_TURN_S", 0.0)
    for at in (OLDER, OLD):
        sample(connection, at, 1)
    maintenance.touched({"offload_sample": [minute_of(OLDER), minute_of(OLD)]})
    maintenance.roll_up(connection)
    assert [row[0] for row in averages(connection)] == [0], "only the newer hour"
    maintenance.roll_up(connection)
    assert len(averages(connection)) == 2
    assert not maintenance._late._waiting["offload_sample"]


def test_late_minutes_whose_hour_is_busy_wait_and_the_other_work_goes_on(
    connection: Connection, maintenance: Maintenance, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample(connection, OLD, 1)
    maintenance.touched({"offload_sample": minutes_of(OLD)})
    with monkeypatch.context() as patched:
        patched.setattr(LateMinutes, "compute", Mock(side_effect=psycopg.errors.LockNotAvailable))
        maintenance.roll_up(connection)
    assert averages(connection) == []
    maintenance.roll_up(connection)
    assert averages(connection) == [(0, 1, 1.0)]


def test_a_minute_that_changes_while_its_hour_is_packed_is_kept(connection: Connection, packing: Packing, postgres_url: str) -> None:
    insert(connection, RNIC_1M, OLD, list(range(60)))
    packed_count: list[int] = []

    def pack() -> None:
        with connect(postgres_url) as other:
            packed_count.append(packing.pack(other))

    with connect(postgres_url) as late:
        with late.transaction():
            late.execute("UPDATE rnic_1m_rollup SET samples = 11 WHERE rnic_id = 8 AND bucket = %s", [OLD + 5 * MINUTE])
            thread = threading.Thread(target=pack)
            thread.start()
            waits = (
                "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND mode = 'ShareRowExclusiveLock'"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            assert until(lambda: not thread.is_alive() or connection.execute(waits).fetchone() == (True,))
        thread.join(60)
    assert packed_count == [0], "nothing has happened to the hour"
    assert len(rows(connection, "rnic_1m_rollup")) == 120
    assert packing.pack(connection) == 1
    changed = connection.execute("SELECT rnic_id, bucket FROM rnic_1m WHERE samples = 11").fetchall()
    assert changed == [(8, OLD + 5 * MINUTE)]
    assert len(rows(connection, "rnic_1m")) == 120


def test_an_hour_whose_packing_is_interrupted_is_as_before(connection: Connection, packing: Packing) -> None:
    insert(connection, OFFLOAD_1M, OLD, list(range(50)))
    before = rows(connection, "offload_1m")
    with connection.transaction(force_rollback=True):
        connection.execute("SELECT wallwatch_pack_hour('offload_1m_rollup', %s)", [OLD])
        assert rows(connection, "offload_1m") == before
    assert rows(connection, "offload_1m_rollup") == rows(connection, "offload_1m") == before
    assert packing.pack(connection) == 1
    assert rows(connection, "offload_1m") == before


def test_days_from_before_the_upgrade_are_packed_and_a_downgrade_restores_the_rows(
    alembic_config: Config, connection: Connection, packing: Packing
) -> None:
    day = (HOUR - timedelta(days=3)).replace(hour=0)
    connection.close()
    command.downgrade(alembic_config, "0030")
    with connect(alembic_config.attributes["url"]) as earlier:
        for hour, minutes in ((0, [0, 59]), (7, list(range(60))), (23, [59])):
            insert(earlier, RNIC_1M, day + timedelta(hours=hour), minutes, seed=hour)
        before = rows(earlier, "rnic_1m")
    command.upgrade(alembic_config, "0031")
    with connect(alembic_config.attributes["url"]) as later:
        assert rows(later, "rnic_1m") == before
        assert packing.pack(later) == 1, "a chunk of a day at once"
        assert rows(later, "rnic_1m") == before
        assert rows(later, "rnic_1m_rollup") == []
        hours = later.execute("SELECT DISTINCT hour FROM rnic_1m_rollup_packed ORDER BY hour").fetchall()
        assert hours == [(day + timedelta(hours=hour),) for hour in (0, 7, 23)]
        insert(later, RNIC_1M, day + timedelta(hours=1), [30])
        before = rows(later, "rnic_1m")
        assert packing.pack(later) == 1, "late ones have a chunk of an hour"
        assert rows(later, "rnic_1m") == before
    command.downgrade(alembic_config, "0030")
    with connect(alembic_config.attributes["url"]) as again:
        assert rows(again, "rnic_1m_rollup") == rows(again, "rnic_1m") == before
    command.upgrade(alembic_config, "head")


def test_a_column_that_comes_later_is_packed_too(connection: Connection, packing: Packing) -> None:
    insert(connection, RNIC_1M, OLDER, list(range(60)))
    packing.pack(connection)
    connection.execute("ALTER TABLE rnic_1m_rollup ADD COLUMN later_max BIGINT")
    try:
        connection.execute("SELECT wallwatch_follow_columns('rnic_1m_rollup')")
        connection.execute("INSERT INTO rnic_1m_rollup (bucket, rnic_id, samples, later_max) VALUES (%s, 7, 6, 5)", [OLD])
        packing.pack(connection)
        found = connection.execute("SELECT later_max, count(*) FROM rnic_1m GROUP BY 1 ORDER BY 1").fetchall()
        assert found == [(5, 1), (None, 120)]
    finally:
        connection.execute("DROP VIEW rnic_1m")
        for table in ("rnic_1m_rollup", "rnic_1m_rollup_packed"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN later_max".encode())
        connection.execute("SELECT wallwatch_follow_columns('rnic_1m_rollup')")


def test_packed_minutes_are_dropped_with_the_minutes_of_their_age(connection: Connection, packing: Packing, postgres_url: str) -> None:
    settings = Settings(database_url=postgres_url, rollup_retention_days=20)
    ages = (200, 2)
    for days in ages:
        insert(connection, RNIC_1M, OLD - timedelta(days=days), [0])
    assert packing.pack(connection) == len(ages)
    drop_old_chunks(connection, settings)
    assert connection.execute("SELECT DISTINCT bucket FROM rnic_1m").fetchall() == [(OLD - timedelta(days=2),)]
    oldest = connection.execute("SELECT min(bucket) FROM minutes_packed").fetchone()
    assert oldest == (OLD - timedelta(days=2),)


def test_forecasts_read_the_same_minutes(connection: Connection, packing: Packing) -> None:
    insert(connection, OFFLOAD_1M, OLD, list(range(60)))
    insert(connection, OFFLOAD_1M, NEW, list(range(5)))
    within = (minute_of(OLD) + 20, minute_of(NEW) + 3)
    before = [str(sorted(map(str, rolled_up(connection, *within, only)))) for only in (None, [8])]
    packing.pack(connection)
    assert [str(sorted(map(str, rolled_up(connection, *within, only)))) for only in (None, [8])] == before


def test_ingest_packs_minutes_and_readers_read_them_through_the_view(migrated_url: str) -> None:
    with connect(migrated_url) as superuser:
        if superuser.execute("SELECT to_regclass('rnic_1m_rollup_packed')").fetchone() == (None,):
            pytest.skip("this edition of TimescaleDB has a columnstore")
        insert(superuser, RNIC_1M, OLD, [0, 1, 2])
        expected = rows(superuser, "rnic_1m")
    pack = "SELECT wallwatch_pack_hour('rnic_1m_rollup', %s)"
    with connect(as_role(migrated_url, DatabaseRole.reader)) as reader:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(pack, [OLD])
        with connect(as_role(migrated_url, DatabaseRole.ingest)) as ingest:
            ingest.execute(pack, [OLD])
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ingest.execute("DELETE FROM minutes_packed")
        assert rows(reader, "rnic_1m") == expected


def test_of_a_large_fleet_a_minute_that_has_not_ended_is_seldom_computed(connection: Connection, postgres_url: str) -> None:
    seconds = count(step=10)  # each look at the clock is 10 s after the one before
    maintenance = Maintenance(Settings(database_url=postgres_url), threading.Event(), lambda: float(next(seconds)))
    ahead = datetime.now(UTC) + 5 * MINUTE
    ended = datetime.now(UTC) - 5 * MINUTE
    sample(connection, ahead, 1)
    maintenance.touched({"offload_sample": [minute_of(ahead)]})
    maintenance.roll_up(connection)
    assert [row[1:] for row in averages(connection)] == [(1, 1.0)], "the first time, nobody knows what it takes"
    sample(connection, ahead, 3, rnic=8)
    sample(connection, ended, 5, rnic=8)
    maintenance.touched({"offload_sample": [minute_of(ended), minute_of(ahead)]})
    maintenance.roll_up(connection)
    assert [row[1:] for row in averages(connection, 8)] == [(1, 5.0)], "only what has ended"
    for _ in range(200):
        next(seconds)
    maintenance.roll_up(connection)
    assert [row[1:] for row in averages(connection, 8)] == [(1, 5.0), (1, 3.0)], "it was not forgotten"


def test_minutes_that_waited_when_a_process_ended_are_computed_by_the_next(connection: Connection, postgres_url: str) -> None:
    now = datetime.now(UTC)
    for minutes_ago, q_egress in ((5, 1.0), (3, 3.0)):
        sample(connection, now - minutes_ago * MINUTE, q_egress)
    ended = Maintenance(Settings(database_url=postgres_url), threading.Event())
    ended.touched({"offload_sample": [minute_of(now - 5 * MINUTE)]})
    ended.roll_up(connection)
    connection.execute("DELETE FROM offload_1m_rollup WHERE bucket > %s", [now - 4 * MINUTE])  # as if the other had come afterwards
    sample(connection, now - 5 * MINUTE, 2.0, rnic=8)
    following = Maintenance(Settings(database_url=postgres_url), threading.Event())
    for _ in range(2):
        following.roll_up(connection)
    assert [row[1:] for row in averages(connection)] == [(1, 1.0), (1, 3.0)]
    assert [row[1:] for row in averages(connection, 8)] == [(1, 2.0)]
