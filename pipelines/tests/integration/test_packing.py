"""Old samples are packed by ingest on the edition without a columnstore: no sample is lost, doubled or changed."""

import itertools
import random
import threading
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from psycopg import sql
from psycopg.types.json import Jsonb
from sqlalchemy import create_engine, select

from wallwatch.forecasting.histories.from_store import read_histories
from wallwatch.jobs.maintenance import drop_old_chunks
from wallwatch.jobs.packing import Packing
from wallwatch.settings import Settings
from wallwatch.store import packed
from wallwatch.store.roles import DatabaseRole
from wallwatch.store.rollups import ROLLUPS, refresh_statement
from wallwatch.store.tables import metadata
from wallwatch_local.template_databases import as_role

from .conftest import until

pytestmark = pytest.mark.integration
Connection = psycopg.Connection[Any]

HOUR = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
OLD, OLDER = HOUR - timedelta(hours=5), HOUR - timedelta(hours=6)
NEW = HOUR + timedelta(hours=12)
"""Not old enough to be packed, however long these tests take."""
RNICS = (7, 8)
KEYS: dict[str, tuple[dict[str, Any], ...]] = {
    "mask_sample": (
        {"direction": "ingress", "mask": "0a"},
        {"direction": "egress", "mask": "ff"},
        {"direction": "egress", "mask": "0a"},
    ),
    "vf_sample": tuple({"vf": vf, "vf_pci": f"0000:3b:00.{vf}", "representor": "", "netdev": "ä"} for vf in (6, 0, 2)),
}
"""What an RNIC has several of at one time, not in their order."""


@pytest.fixture
def connection(alembic_config: Config, postgres_url: str) -> Iterator[Connection]:
    command.upgrade(alembic_config, "head")
    with connect(postgres_url) as connection:
        if connection.execute("SELECT to_regclass('rnic_sample_packed')").fetchone() == (None,):
            pytest.skip("this edition of TimescaleDB has a columnstore; pipelines/tests/community tests it")
        for table in packed.PACKED:
            for name in (table, packed.table_name(table)):
                connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(name)))
        yield connection


@pytest.fixture
def touched() -> dict[str, Iterable[int]]:
    return {}


@pytest.fixture
def packing(postgres_url: str, touched: dict[str, Iterable[int]]) -> Packing:
    return Packing(Settings(database_url=postgres_url), threading.Event(), lambda table, minutes, _: touched.update({table: minutes}))


def connect(url: str) -> Connection:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


def value(kind: str, random_: random.Random) -> Any:
    if random_.random() < 0.3:
        return None
    return {
        "BIGINT": lambda: random_.choice((0, 1, random_.randrange(2**63))),
        "DOUBLE": lambda: random_.choice((0.0, 1e-9, random_.random() * 1e12)),
        "BOOLEAN": lambda: random_.random() < 0.5,
        "TEXT": lambda: random_.choice(("", "up", 'ä "{},\\ NULL', "null")),
        "JSONB": lambda: Jsonb({"lifespan": 10, "text": 'a,"b"}\\', "nested": [1, None, {}]}),
    }[kind]()


def insert(connection: Connection, table: str, begin: datetime, count: int, seed: int = 1) -> None:
    """Samples of both RNICs, 10 s apart, with and without values, in an order that is not that of the times."""
    random_ = random.Random(seed)
    keys = KEYS.get(table, ({},))
    columns = [column for column in metadata.tables[table].columns if column.name not in ("time", "rnic_id", *keys[0])]
    names = [sql.Identifier(name) for name in ("time", "rnic_id", *keys[0], *(column.name for column in columns))]
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table), sql.SQL(", ").join(names), sql.SQL(", ").join([sql.Placeholder()] * len(names))
    )
    times = [begin + timedelta(seconds=10 * i, microseconds=i) for i in range(count)]
    places = [(time, rnic, *key.values()) for time in times for rnic in RNICS for key in keys]
    random_.shuffle(places)
    with connection.cursor() as cursor:
        cursor.executemany(statement, [[*place, *(value(str(c.type), random_) for c in columns)] for place in places])


def rows(connection: Connection, relation: str, columns: str = "") -> list[tuple[Any, ...]]:
    """All columns of the hypertable, from it or from its view, in the order of what makes a row one."""
    table = relation.removesuffix("_all")
    columns = columns or ", ".join(metadata.tables[table].columns.keys())
    order = {"mask_sample": ", direction, mask", "vf_sample": ", vf"}.get(table, "")
    return connection.execute(f"SELECT {columns} FROM {relation} ORDER BY rnic_id, time{order}".encode()).fetchall()


@pytest.mark.parametrize("table", packed.PACKED)
def test_packed_samples_are_the_same_samples(connection: Connection, packing: Packing, table: str) -> None:
    insert(connection, table, OLDER, 60)
    insert(connection, table, OLD, 90, seed=2)
    insert(connection, table, NEW, 5)
    before = rows(connection, table)
    assert len(before) == 2 * (60 + 90 + 5) * len(KEYS.get(table, ({},)))
    assert rows(connection, f"{table}_all") == before
    assert packing.pack(connection) == 2
    assert rows(connection, f"{table}_all") == before
    assert {row[0] for row in rows(connection, table)} == {row[0] for row in before if row[0] >= NEW}, "only new ones are rows"
    assert connection.execute(f"SELECT DISTINCT hour FROM {table}_packed ORDER BY 1".encode()).fetchall() == [(OLDER,), (OLD,)]
    assert packing.pack(connection) == 0, "nothing is left to pack"


def test_a_query_unpacks_the_hours_and_rnics_that_it_names(connection: Connection, packing: Packing, postgres_url: str) -> None:
    connection.execute("DELETE FROM rnic")
    connection.execute("INSERT INTO rnic (rnic_id, host, pci) OVERRIDING SYSTEM VALUE VALUES (7, 'a', '1'), (8, 'a', '2')")
    insert(connection, "rnic_sample", OLDER, 60)
    insert(connection, "rnic_sample", OLD, 60)
    packing.pack(connection)
    view = packed.rnic_sample_all
    engine = create_engine(postgres_url)
    minute = timedelta(minutes=1)
    for start, end, hours in ((OLDER + 9 * minute, OLD + minute, 2), (OLD, OLD, 1), (OLD - minute, NEW, 2), (OLDER, OLD - minute, 1)):
        within = (view.c.time >= start, view.c.time <= end, packed.of_rnics(view, packed.rnic.c.pci == "1"))
        bounded = select(view.c.time, view.c.rnic_id).where(*within, packed.hours_within(view, start, end)).order_by(view.c.time)
        expected = [row for row in rows(connection, "rnic_sample_all", "time, rnic_id") if start <= row[0] <= end and row[1] == 7]
        with engine.connect() as database:
            assert [tuple(row) for row in database.execute(bounded)] == expected
            statement = bounded.compile(engine, compile_kwargs={"literal_binds": True})
            plan = "\n".join(row[0] for row in database.exec_driver_sql(f"EXPLAIN (ANALYZE, TIMING OFF) {statement}"))
        assert f"loops={hours})" in next(line for line in plan.splitlines() if "Function Scan" in line), plan
    engine.dispose()


@pytest.mark.parametrize("table", ["offload_sample", "mask_sample", "vf_sample"])
def test_late_samples_join_their_hour_and_one_that_comes_again_is_one(
    connection: Connection, packing: Packing, touched: dict[str, Iterable[int]], table: str
) -> None:
    each = len(KEYS.get(table, ({},)))
    insert(connection, table, OLD, 30)
    before = rows(connection, table)
    packing.pack(connection)
    assert touched == {}
    insert(connection, table, OLD, 10)  # the same times again, as after a rewind of Kafka's offsets
    insert(connection, table, OLD + timedelta(minutes=30), 20, seed=3)
    late = rows(connection, table)[-20 * each :]
    assert len(rows(connection, f"{table}_all")) == 2 * (30 + 10 + 20) * each
    assert packing.pack(connection) == 1
    after = rows(connection, f"{table}_all")
    assert len(after) == 2 * (30 + 20) * each
    assert after[-20 * each :] == late
    keys = 2 + len(KEYS.get(table, ({},))[0])
    assert [row[:keys] for row in after if row[0] < OLD + timedelta(minutes=30)] == [row[:keys] for row in before]
    assert touched == {table: range(minute := int(OLD.timestamp()) // 60, minute + 60)}, "its minutes have to be computed again"


def test_a_late_mask_joins_the_other_masks_of_its_time(connection: Connection, packing: Packing) -> None:
    insert(connection, "mask_sample", OLD, 30)
    before = rows(connection, "mask_sample")
    packing.pack(connection)
    connection.execute("INSERT INTO mask_sample (time, rnic_id, direction, mask, flows) VALUES (%s, 7, 'ingress', 'bb', 4)", [OLD])
    packing.pack(connection)
    after = rows(connection, "mask_sample_all")
    assert [row for row in after if row[3] != "bb"] == before
    assert rows(connection, "mask_sample_all", "mask, flows").count(("bb", 4)) == 1


def test_equal_keys_are_neighbours_in_a_packed_hour(connection: Connection, packing: Packing) -> None:
    insert(connection, "mask_sample", OLD, 2)
    packing.pack(connection)
    found = connection.execute("SELECT direction, mask FROM mask_sample_packed WHERE rnic_id = 7").fetchone()
    assert found == (["egress"] * 4 + ["ingress"] * 2, ["0a", "0a", "ff", "ff", "0a", "0a"])


def test_chunks_of_six_hours_from_before_are_packed_by_the_hour(connection: Connection, packing: Packing) -> None:
    """Functions were in chunks of six hours before revision 0033."""
    begins = datetime(OLD.year, OLD.month, OLD.day, tzinfo=UTC) - timedelta(days=2)
    connection.execute("SELECT set_chunk_time_interval('vf_sample', INTERVAL '6 hours')")
    try:
        for hour in (0, 4, 5):
            insert(connection, "vf_sample", begins + timedelta(hours=hour), 3, seed=hour)
    finally:
        connection.execute("SELECT set_chunk_time_interval('vf_sample', INTERVAL '1 hour')")
    before = rows(connection, "vf_sample")
    assert packing.pack(connection) == 1
    assert (rows(connection, "vf_sample_all"), rows(connection, "vf_sample")) == (before, [])
    hours = {row[0] for row in connection.execute("SELECT hour FROM vf_sample_packed")}
    assert hours == {begins + timedelta(hours=hour) for hour in (0, 4, 5)}


def test_an_rnic_without_late_samples_keeps_its_hour(connection: Connection, packing: Packing) -> None:
    insert(connection, "rnic_sample", OLD, 30)
    packing.pack(connection)
    before = rows(connection, "rnic_sample_all")
    connection.execute("INSERT INTO rnic_sample (time, rnic_id, tx_gbps) VALUES (%s, 9, 3)", [OLD + timedelta(minutes=50)])
    packing.pack(connection)
    assert [row for row in rows(connection, "rnic_sample_all") if row[1] != 9] == before
    assert rows(connection, "rnic_sample_all", "rnic_id, tx_gbps")[-1] == (9, 3)


def test_samples_that_come_while_an_hour_is_packed_are_kept(connection: Connection, packing: Packing, postgres_url: str) -> None:
    insert(connection, "rnic_sample", OLD, 30)
    packed_count: list[int] = []

    def pack() -> None:
        with connect(postgres_url) as other:
            packed_count.append(packing.pack(other))

    with connect(postgres_url) as late:
        with late.transaction():
            late.execute("INSERT INTO rnic_sample (time, rnic_id, tx_gbps) VALUES (%s, 9, 3)", [OLD + timedelta(minutes=50)])
            thread = threading.Thread(target=pack)
            thread.start()
            # Packing has read the hour without the late sample and waits for the lock, or has given up waiting.
            waits = (
                "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND mode = 'ShareRowExclusiveLock'"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            assert until(lambda: not thread.is_alive() or connection.execute(waits).fetchone() == (True,))
        thread.join(60)
    assert packed_count == [0], "nothing has happened to the hour"
    assert len(rows(connection, "rnic_sample")) == 61
    assert packing.pack(connection) == 1
    assert len(rows(connection, "rnic_sample_all")) == 61


def test_a_minute_of_a_late_sample_is_computed_with_the_packed_ones(connection: Connection, packing: Packing) -> None:
    for second in range(50):
        connection.execute("INSERT INTO offload_sample (time, rnic_id, q_egress) VALUES (%s, 7, 2)", [OLD + timedelta(seconds=second)])
    packing.pack(connection)
    for second in range(50, 60):
        connection.execute("INSERT INTO offload_sample (time, rnic_id, q_egress) VALUES (%s, 7, 8)", [OLD + timedelta(seconds=second)])
    rollup = next(rollup for rollup in ROLLUPS if rollup.view == "offload_1m")
    connection.execute(refresh_statement(rollup).encode(), {"start": OLD, "end": OLD + timedelta(minutes=5)})
    minute = connection.execute("SELECT samples, q_egress_avg FROM offload_1m WHERE rnic_id = 7 AND bucket = %s", [OLD]).fetchone()
    assert minute == (60, 3.0)


def test_training_reads_the_reports_of_packed_hours(connection: Connection, packing: Packing) -> None:
    connection.execute("DELETE FROM rnic")
    (number,) = connection.execute("INSERT INTO rnic (host, pci) VALUES ('a', '0000:3b:00.0') RETURNING rnic_id").fetchone() or (0,)
    for hour in (OLDER, OLD):
        other = Jsonb({"peers": "10.0.0.2=1", "tunnel_addresses": "10.0.0.1"})
        row = [hour + timedelta(seconds=30), number, other]
        connection.execute("INSERT INTO offload_sample (time, rnic_id, q_egress, q_ingress, other) VALUES (%s, %s, 3, 4, %s)", row)
    for rollup in ROLLUPS[:2]:
        connection.execute(refresh_statement(rollup).encode(), {"start": OLDER, "end": HOUR})
    first, last = int(OLDER.timestamp()) // 60, int(HOUR.timestamp()) // 60
    before = read_histories(connection, first, last)
    packing.pack(connection)
    after = read_histories(connection, first, last)
    assert [str(history) for history in after] == [str(history) for history in before]
    reported = connection.execute("SELECT count(*) FROM offload_sample_all WHERE other ? 'peers'").fetchone()
    assert reported == (2,)


def test_a_column_that_comes_later_is_packed_too(connection: Connection, packing: Packing, alembic_config: Config) -> None:
    insert(connection, "rnic_sample", OLDER, 3)
    packing.pack(connection)
    connection.execute("ALTER TABLE rnic_sample ADD COLUMN later BIGINT")
    try:
        connection.execute("SELECT wallwatch_follow_columns('rnic_sample')")
        connection.execute("INSERT INTO rnic_sample (time, rnic_id, later) VALUES (%s, 7, 5)", [OLD])
        packing.pack(connection)
        assert rows(connection, "rnic_sample_all", "rnic_id, later") == [(7, None)] * 3 + [(7, 5)] + [(8, None)] * 3
    finally:
        connection.execute("DROP VIEW rnic_sample_all")
        for table in ("rnic_sample", "rnic_sample_packed"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN later".encode())
        connection.execute("SELECT wallwatch_follow_columns('rnic_sample')")


def test_the_views_have_the_columns_of_the_tables(connection: Connection) -> None:
    for view in map(packed.all_of, map(metadata.tables.__getitem__, packed.PACKED)):
        found = connection.execute(f"SELECT * FROM {view.name} LIMIT 0".encode()).description
        assert {column.name for column in found or ()} == set(view.columns.keys())


def test_a_downgrade_restores_the_rows(connection: Connection, packing: Packing, alembic_config: Config) -> None:
    tables = ("rnic_sample", "mask_sample", "vf_sample")
    for table in tables:
        insert(connection, table, OLD, 20)
    before = {table: rows(connection, table) for table in tables}
    packing.pack(connection)
    assert not any(rows(connection, table) for table in tables)
    connection.close()
    command.downgrade(alembic_config, "0025")
    with connect(alembic_config.attributes["url"]) as again:
        assert {table: rows(again, table) for table in tables} == before
    command.upgrade(alembic_config, "head")


@pytest.mark.parametrize("table", ["rnic_sample", "mask_sample"])
def test_packed_hours_are_dropped_with_the_samples_of_their_age(
    connection: Connection, packing: Packing, postgres_url: str, table: str
) -> None:
    settings = Settings(database_url=postgres_url)
    for days in (settings.retention_days + 2, 2):
        insert(connection, table, OLD - timedelta(days=days), 3)
    assert packing.pack(connection) == 2
    drop_old_chunks(connection, settings)
    assert {row[0] for row in rows(connection, f"{table}_packed", "hour, time")} == {OLD - timedelta(days=2)}


def test_a_turn_ends_after_some_time_and_has_packed_the_newest_hour(
    connection: Connection, packing: Packing, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert(connection, "mask_sample", OLDER, 3)
    insert(connection, "mask_sample", OLD, 3)
    monkeypatch.setattr("wallwatch.jobs.packing.time", SimpleNamespace(monotonic=itertools.count(0, 200).__next__))
    assert packing.pack(connection) == 1
    assert {row[0] for row in connection.execute("SELECT hour FROM mask_sample_packed")} == {OLD}
    assert packing.pack(connection) == 1
    assert rows(connection, "mask_sample") == []


def test_an_hour_that_cannot_be_packed_does_not_keep_the_others_from_it(
    connection: Connection, packing: Packing, caplog: pytest.LogCaptureFixture
) -> None:
    """As one with more masks of an RNIC than PostgreSQL's limit of 1 GB per value has room for."""
    for hour in (OLDER, OLD):
        insert(connection, "mask_sample", hour, 3)
    connection.execute(
        sql.SQL("ALTER TABLE mask_sample_packed ADD CONSTRAINT too_large CHECK (hour <> {})").format(sql.Literal(OLD.isoformat()))
    )
    connection.execute("TRUNCATE rnic_1m_rollup, offload_1m_rollup")
    connection.execute("INSERT INTO rnic_1m_rollup (rnic_id, bucket, samples) VALUES (7, %s, 6)", [OLDER])
    try:
        with pytest.raises(psycopg.errors.CheckViolation):  # the newest first
            packing.pack(connection)
        assert "of mask_sample cannot be packed now" in caplog.text
        assert len(rows(connection, "mask_sample")) == 2 * 18, "nothing has happened to the hour"
        with pytest.raises(psycopg.errors.CheckViolation):  # what failed comes last
            packing.pack(connection)
        assert connection.execute("SELECT hour FROM mask_sample_packed").fetchall() == [(OLDER,)] * 2
        assert connection.execute("SELECT count(*) FROM rnic_1m_rollup").fetchone() == (0,), "minutes, too, do not wait for it"
    finally:
        connection.execute("ALTER TABLE mask_sample_packed DROP CONSTRAINT too_large")
    assert packing.pack(connection) == 1
    assert rows(connection, "mask_sample") == []


def test_before_the_migration_that_adds_a_packed_table_the_others_are_packed(
    connection: Connection, packing: Packing, alembic_config: Config
) -> None:
    """The new `ingest` may run on the old schema for a while."""
    command.downgrade(alembic_config, "0032")
    try:
        for table in ("mask_sample", "rnic_sample"):
            insert(connection, table, OLD, 3)
        assert packing.pack(connection) == 1
        assert len(rows(connection, "mask_sample")) == 18
    finally:
        command.upgrade(alembic_config, "head")


def test_packing_outlives_an_outage_of_the_database(
    connection: Connection, packing: Packing, postgres_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("wallwatch.jobs.packing.EVERY_S", 0.05)
    insert(connection, "rnic_sample", OLD, 3)
    nobody = postgres_url.rsplit("/", 1)[0] + "/no_such_database"
    for url, done in (
        (nobody, lambda: "packing failed, trying again at the next turn" in caplog.text),
        (postgres_url, lambda: rows(connection, "rnic_sample", "time") == []),
    ):
        stop = threading.Event()
        thread = threading.Thread(target=Packing(Settings(database_url=url), stop, lambda *_: None).run)
        thread.start()
        try:
            assert until(done)
            assert thread.is_alive()
        finally:
            stop.set()
            thread.join(60)


def test_ingest_packs_hours_that_are_over_and_nobody_else_packs(migrated_url: str) -> None:
    with connect(migrated_url) as superuser:
        if superuser.execute("SELECT to_regclass('rnic_sample_packed')").fetchone() == (None,):
            pytest.skip("this edition of TimescaleDB has a columnstore")
        insert(superuser, "rnic_sample", OLD, 3)
        insert(superuser, "rnic_sample", NEW, 3)
    pack = "SELECT wallwatch_pack_hour('rnic_sample', %s)"
    for role in (DatabaseRole.backend, DatabaseRole.jobs, DatabaseRole.reader):
        with connect(as_role(migrated_url, role)) as other, pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute(pack, [OLD])
    with connect(as_role(migrated_url, DatabaseRole.ingest)) as ingest:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="just ended"):
            ingest.execute(pack, [NEW])
        with pytest.raises(psycopg.errors.UndefinedObject):
            ingest.execute(pack, [OLD + timedelta(minutes=1)])
        with pytest.raises(psycopg.errors.UndefinedObject):
            ingest.execute("SELECT wallwatch_pack_hour('event', %s)", [OLD])
        assert ingest.execute(pack, [OLD]).fetchone() == (False,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ingest.execute("INSERT INTO rnic_sample_packed (rnic_id, hour) VALUES (1, now())")
    with connect(as_role(migrated_url, DatabaseRole.backend)) as backend:
        assert len(rows(backend, "rnic_sample_all", "time")) == 12
