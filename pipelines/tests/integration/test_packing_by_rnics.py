"""Hours with late samples are packed a number of RNICs at a time: whatever happens between, no sample is lost, doubled or changed."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from psycopg import sql

from wallwatch.jobs import late_minutes, packing
from wallwatch.jobs import maintenance as jobs_maintenance
from wallwatch.jobs.maintenance import Maintenance
from wallwatch.jobs.packing import Packing
from wallwatch.settings import Settings
from wallwatch.store import packed
from wallwatch.store.encode import LateRnics

from .conftest import until

pytestmark = pytest.mark.integration
Connection = psycopg.Connection[Any]

OLD = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=5)
RNICS = range(11, 19)
MASKS = "SELECT time, rnic_id, direction, mask, flows FROM {} ORDER BY rnic_id, time, direction, mask"

_PACK = """
import sys, threading, psycopg
from wallwatch.jobs import packing
from wallwatch.settings import Settings
packing.RNICS_AT_ONCE = 2
with psycopg.connect(sys.argv[1], autocommit=True, application_name="packing-to-be-killed") as connection:
    packing.Packing(Settings(database_url=sys.argv[2]), threading.Event(), lambda *_: None).pack(connection)
"""


@pytest.fixture
def connection(alembic_config: Config, postgres_url: str) -> Iterator[Connection]:
    command.upgrade(alembic_config, "head")
    with connect(postgres_url) as connection:
        if connection.execute("SELECT to_regclass('mask_sample_packed')").fetchone() == (None,):
            pytest.skip("this edition of TimescaleDB has a columnstore; pipelines/tests/community tests it")
        tables = [name for table in (*packed.PACKED, *packed.MINUTES) for name in (table, packed.table_name(table))]
        for name in (*tables, packed.MINUTES_OF_HOURS):
            connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(name)))
        yield connection


def connect(url: str) -> Connection:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


@pytest.fixture
def touched() -> list[tuple[str, set[int] | None]]:
    return []


@pytest.fixture
def packer(postgres_url: str, monkeypatch: pytest.MonkeyPatch, touched: list[tuple[str, set[int] | None]]) -> Packing:
    monkeypatch.setattr(packing, "RNICS_AT_ONCE", 2)

    def note(table: str, _: object, rnics: Any) -> None:
        touched.append((table, None if rnics is None else set(rnics)))

    return Packing(Settings(database_url=postgres_url), threading.Event(), note)


def masks(connection: Connection, begin: datetime, count: int, flows: int, rnics: range = RNICS) -> None:
    connection.execute(
        "INSERT INTO mask_sample (time, rnic_id, direction, mask, flows) "
        "SELECT %s + n * INTERVAL '10 seconds', rnic, 'ingress', mask, %s + n "
        "FROM generate_series(1, %s) AS n, unnest(%s) AS rnic, unnest(ARRAY['0a', 'ff']) AS mask",
        [begin, flows, count, list(rnics)],
    )


def rows(connection: Connection, relation: str = "mask_sample_all") -> list[tuple[Any, ...]]:
    return connection.execute(MASKS.format(relation).encode()).fetchall()


def pieces(rnics: range) -> list[tuple[str, set[int] | None]]:
    """What is touched when these RNICs are packed, two at a time."""
    return [("mask_sample", {first, first + 1}) for first in rnics[::2]]


@pytest.fixture
def late(connection: Connection, packer: Packing) -> list[tuple[Any, ...]]:
    """An hour of which the first half is packed, and the second came late, with a part of the first once more; returns its samples."""
    masks(connection, OLD, 6, 0)
    assert packer.pack(connection) == 1
    masks(connection, OLD + timedelta(minutes=30), 6, 100)
    found = rows(connection)
    masks(connection, OLD, 2, 0)
    assert len(found) == len(RNICS) * 2 * 12
    return found


def kill_while_packing(connection: Connection, table: str, postgres_url: str) -> None:
    """Start a process that packs, and kill it in its third transaction on a table: two RNICs each are packed in the first and second."""
    url = postgres_url.replace("+psycopg", "")
    ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'packing-to-be-killed' AND {}"
    with connect(postgres_url) as holder, holder.transaction():
        holder.execute(f"SELECT FROM {table} WHERE rnic_id = %s FOR UPDATE".encode(), [RNICS[5]])
        with subprocess.Popen([sys.executable, "-c", _PACK, url, postgres_url], env=os.environ) as process:
            waits = ours.format("wait_event_type = 'Lock'").encode()
            try:
                assert until(lambda: connection.execute(waits).fetchone() == (1,))
            finally:
                process.send_signal(signal.SIGKILL)
        killed = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'packing-to-be-killed'"
        connection.execute(killed.encode())  # it would see only after the wait that its client is gone
        assert until(lambda: connection.execute(ours.format("true").encode()).fetchone() == (0,))


def test_a_process_that_is_killed_between_the_rnics_of_an_hour_leaves_all_samples_once(
    connection: Connection, packer: Packing, late: list[tuple[Any, ...]], postgres_url: str
) -> None:
    kill_while_packing(connection, "mask_sample", postgres_url)
    left = {row[1] for row in rows(connection, "mask_sample")}
    assert left == set(RNICS[4:]), "two transactions have happened, the third and the rest have not"
    assert [row for row in rows(connection) if row[1] not in left] == [row for row in late if row[1] not in left]
    assert set(rows(connection)) == set(late)
    assert packer.pack(connection) == 1
    assert (rows(connection), rows(connection, "mask_sample")) == (late, [])


def test_readers_see_each_sample_once_at_any_time(
    connection: Connection, packer: Packing, late: list[tuple[Any, ...]], postgres_url: str
) -> None:
    connection.execute(
        "DELETE FROM mask_sample WHERE time < %s", [OLD + timedelta(minutes=30)]
    )  # what came twice is twice until it is packed
    done = threading.Event()
    seen: list[bool] = []

    def read() -> None:
        with connect(postgres_url) as reader:
            while not done.is_set():
                seen.append(rows(reader) == late)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        assert until(lambda: len(seen) > 2)
        assert packer.pack(connection) == 1
        count = len(seen)
        assert until(lambda: len(seen) > count + 2)
    finally:
        done.set()
        thread.join()
    assert all(seen)


def test_a_row_that_changes_while_its_rnic_is_packed_is_kept_and_those_before_stay_packed(
    connection: Connection, packer: Packing, late: list[tuple[Any, ...]], postgres_url: str, touched: list[tuple[str, set[int] | None]]
) -> None:
    packed_count: list[int] = []

    def pack() -> None:
        with connect(postgres_url) as other:
            packed_count.append(packer.pack(other))

    touched.clear()
    with connect(postgres_url) as writer:
        with writer.transaction():
            writer.execute("UPDATE mask_sample SET flows = 77 WHERE rnic_id = %s AND time > %s", [RNICS[3], OLD + timedelta(minutes=30)])
            thread = threading.Thread(target=pack)
            thread.start()
            waits = (
                "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%wallwatch_pack_rnics%'"
                " AND datname = current_database()"
            )
            assert until(lambda: connection.execute(waits).fetchone() == (True,))
        thread.join(60)
    assert packed_count == [0]
    assert {row[1] for row in rows(connection, "mask_sample")} == set(RNICS[2:])
    assert touched == pieces(RNICS[:2])
    assert packer.pack(connection) == 1
    assert touched[1:] == pieces(RNICS[2:])
    changed = [(*row[:4], 77 if row[1] == RNICS[3] and row[0] > OLD + timedelta(minutes=30) else row[4]) for row in late]
    assert (rows(connection), rows(connection, "mask_sample")) == (changed, [])


def test_what_comes_while_an_hour_is_packed_by_rnics_joins_it_in_the_end(
    connection: Connection, packer: Packing, late: list[tuple[Any, ...]], touched: list[tuple[str, set[int] | None]]
) -> None:
    """As from a host whose clock is behind, of which the RNICs are done already."""
    join = packer._join

    def join_and_write(*arguments: Any) -> bool:
        is_complete = join(*arguments)
        masks(connection, OLD + timedelta(minutes=45), 1, 7, range(RNICS[0], RNICS[1]))
        return is_complete

    packer._join = join_and_write  # type: ignore[method-assign]
    touched.clear()
    assert packer.pack(connection) == 1
    more = [(OLD + timedelta(minutes=45, seconds=10), RNICS[0], "ingress", mask, 8) for mask in ("0a", "ff")]
    assert sorted(rows(connection)) == sorted([*late, *more])
    assert rows(connection, "mask_sample") == []
    assert touched == [*pieces(RNICS), ("mask_sample", None)]


def test_a_turn_ends_between_the_rnics_of_an_hour_and_the_next_goes_on(
    connection: Connection,
    packer: Packing,
    late: list[tuple[Any, ...]],
    monkeypatch: pytest.MonkeyPatch,
    touched: list[tuple[str, set[int] | None]],
    postgres_url: str,
) -> None:
    """An hour that came late for 40,000 RNICs takes longer than a turn, and late minutes wait for its end."""
    touched.clear()
    clock = SimpleNamespace(monotonic=itertools.count(0, 140).__next__)  # at the begin, before the hour, and after each transaction
    with monkeypatch.context() as patched:
        patched.setattr("wallwatch.jobs.packing.time", clock)
        assert packer.pack(connection) == 0
    assert touched == pieces(RNICS[:4])
    assert {row[1] for row in rows(connection, "mask_sample")} == set(RNICS[4:])
    assert set(rows(connection)) == set(late)
    with connect(postgres_url) as other:
        assert other.execute("SELECT pg_try_advisory_lock(%s)", [packing.LOCK]).fetchone() == (True,), "others have their turn"
    assert until(lambda: packer.pack(connection) == 1)
    assert touched[2:] == pieces(RNICS[4:])
    assert (rows(connection), rows(connection, "mask_sample")) == (late, [])


def test_two_callers_at_once_cannot_overwrite_each_other(connection: Connection, late: list[tuple[Any, ...]], postgres_url: str) -> None:
    pack = "SELECT wallwatch_pack_rnics('mask_sample', %s, 0, 100)"
    with connect(postgres_url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [packing.LOCK])
        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute(pack, [OLD])
        assert other.execute(pack, [OLD]).fetchone() == (list(RNICS),), "whoever holds the lock may"
        assert other.execute("SELECT pg_advisory_unlock(%s)", [packing.LOCK]).fetchone() == (True,)
    assert rows(connection) == late


@pytest.fixture
def packed_minutes(connection: Connection, packer: Packing, maintenance: Maintenance) -> None:
    """Samples and minutes of an hour, all packed."""
    samples(connection, 0, 2.0)
    maintenance.touched({"offload_sample": [minute()]})
    while maintenance._late._waiting.get("offload_sample") != []:
        maintenance.roll_up(connection)
    assert packer.pack(connection) == 2
    assert {row[1:] for row in averages(connection)} == {(1, 2.0)}


@pytest.fixture
def maintenance(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Maintenance:
    monkeypatch.setattr(late_minutes, "RNICS_AT_ONCE", 2)
    monkeypatch.setattr(jobs_maintenance, "LATE_TURN_S", 0.0)
    return Maintenance(Settings(database_url=postgres_url), threading.Event())


def minute() -> int:
    return int(OLD.timestamp()) // 60


def samples(connection: Connection, second: int, q_egress: float, rnics: range = RNICS) -> None:
    connection.execute(
        "INSERT INTO offload_sample (time, rnic_id, q_egress) SELECT %s, rnic, %s FROM unnest(%s) AS rnic",
        [OLD + timedelta(seconds=second), q_egress, list(rnics)],
    )


def averages(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT rnic_id, samples, q_egress_avg FROM offload_1m ORDER BY rnic_id").fetchall()


def roll_up_all(connection: Connection, maintenance: Maintenance) -> None:
    """Compute all minutes that were touched, late ones too."""
    maintenance.roll_up(connection)
    while any(maintenance._late._waiting.values()) or any(maintenance._touched.minutes.values()):
        maintenance.roll_up(connection)


def computed(connection: Connection) -> set[int]:
    """RNICs whose minute has the late sample; each RNIC has one minute."""
    found = averages(connection)
    assert [row[0] for row in found] == list(RNICS)
    assert {row[1:] for row in found} <= {(1, 2.0), (2, 3.0)}
    return {rnic for rnic, count, _ in found if count == 2}


def test_late_minutes_are_computed_some_rnics_at_a_time_also_by_a_connection_that_follows_a_broken_one(
    connection: Connection, packed_minutes: None, maintenance: Maintenance, postgres_url: str
) -> None:
    samples(connection, 30, 4.0)
    maintenance.touched({"offload_sample": [minute()]})
    maintenance.roll_up(connection)
    assert computed(connection) == set(RNICS[:2])
    with connect(postgres_url) as broken, connect(postgres_url) as holder, holder.transaction():
        holder.execute("SELECT FROM offload_1m_rollup_packed WHERE rnic_id = %s FOR UPDATE", [RNICS[3]])
        ends = threading.Thread(target=broken_roll_up, args=(maintenance, broken))
        ends.start()
        waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
        assert until(lambda: connection.execute(waits, [broken.info.backend_pid]).fetchone() == (1,))
        connection.execute("SELECT pg_terminate_backend(%s)", [broken.info.backend_pid])
        ends.join(60)
    assert computed(connection) == set(RNICS[:2]), "nothing of the piece has happened"
    for pieces in (2, 3, 4):
        maintenance.roll_up(connection)
        assert computed(connection) == set(RNICS[: 2 * pieces])
    assert maintenance._late._waiting["offload_sample"] == []
    assert connection.execute("SELECT count(*) FROM offload_1m_rollup").fetchone() == (0,)


def test_an_hour_that_was_begun_is_finished_before_a_newer_one(connection: Connection, maintenance: Maintenance) -> None:
    samples(connection, -3_600, 2.0)
    maintenance.touched({"offload_sample": [minute() - 60]})
    maintenance.roll_up(connection)
    by_hour = "SELECT count(*) FILTER (WHERE bucket < %(old)s), count(*) FILTER (WHERE bucket >= %(old)s) FROM offload_1m"
    counts = []
    for _ in range(6):
        counts.append(connection.execute(by_hour, {"old": OLD}).fetchone())
        samples(connection, len(counts), 2.0)
        maintenance.touched({"offload_sample": [minute()]})
        maintenance.roll_up(connection)
    assert counts == [(2, 0), (4, 0), (6, 0), (8, 0), (8, 2), (8, 4)]


def broken_roll_up(maintenance: Maintenance, connection: Connection) -> None:
    with pytest.raises(psycopg.OperationalError):
        maintenance.roll_up(connection)


def test_only_the_rnics_with_late_samples_are_computed(connection: Connection, packed_minutes: None, maintenance: Maintenance) -> None:
    samples(connection, 30, 4.0)
    hour = minute() // 60
    for rnic in (RNICS[2], RNICS[5]):
        maintenance.touched({"offload_sample": [minute()]}, {"offload_sample": LateRnics(minute() + 1, {hour: {rnic}})})
    maintenance.roll_up(connection)
    assert computed(connection) == {RNICS[2], RNICS[5]}, "nobody said that the others had changed"
    maintenance.joined("offload_sample", range(minute(), minute() + 60), [RNICS[7]])
    maintenance.roll_up(connection)
    assert computed(connection) == {RNICS[2], RNICS[5], RNICS[7]}
    maintenance.joined("offload_sample", range(minute(), minute() + 60), None)
    roll_up_all(connection, maintenance)
    assert computed(connection) == set(RNICS)


def test_minutes_that_became_late_while_their_batch_waited_are_computed_for_all_rnics(
    connection: Connection, packed_minutes: None, maintenance: Maintenance
) -> None:
    """An RNIC was late when its sample was read, another not yet; when the database is back, their hour may be packed."""
    samples(connection, 30, 4.0, RNICS[2:3])
    samples(connection, 90, 4.0, RNICS[5:6])
    before = LateRnics(minute() + 1, {minute() // 60: {RNICS[2]}})
    maintenance.touched({"offload_sample": [minute(), minute() + 1]}, {"offload_sample": before})
    roll_up_all(connection, maintenance)
    found = connection.execute("SELECT rnic_id, samples FROM offload_1m WHERE samples > 1 OR bucket > %s ORDER BY rnic_id", [OLD])
    assert found.fetchall() == [(RNICS[2], 2), (RNICS[5], 1)]


def test_minutes_of_a_process_that_is_killed_while_it_packs_have_each_sample_once_in_the_end(
    connection: Connection, packed_minutes: None, maintenance: Maintenance, postgres_url: str
) -> None:
    samples(connection, 0, 2.0)  # each comes again
    maintenance.touched({"offload_sample": [minute()]})
    roll_up_all(connection, maintenance)
    assert {row[1:] for row in averages(connection)} == {(2, 2.0)}, "it counts twice until it is packed"
    kill_while_packing(connection, "offload_sample", postgres_url)
    assert connection.execute("SELECT array_agg(rnic_id ORDER BY rnic_id) FROM offload_sample").fetchone() == (list(RNICS[4:]),)
    settings = Settings(database_url=postgres_url)
    following = Maintenance(settings, threading.Event())
    Packing(settings, threading.Event(), following.joined).pack(connection)
    roll_up_all(connection, following)
    assert averages(connection) == [(rnic, 1, 2.0) for rnic in RNICS]


def test_minutes_of_the_rnics_that_were_packed_are_computed_when_the_connection_breaks_before_the_others(
    connection: Connection, packed_minutes: None, maintenance: Maintenance, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: list[list[int] | None] = []

    def note(table: str, minutes: Any, rnics: Any) -> None:
        joined.append(rnics)
        maintenance.joined(table, minutes, rnics)

    packer = Packing(Settings(database_url=postgres_url), threading.Event(), note)
    packer.pack(connection)
    samples(connection, 0, 2.0)
    maintenance.touched({"offload_sample": [minute()]})
    roll_up_all(connection, maintenance)
    monkeypatch.setattr(packing, "RNICS_AT_ONCE", 2)
    with connect(postgres_url) as broken, connect(postgres_url) as holder, holder.transaction():
        holder.execute("SELECT FROM offload_sample WHERE rnic_id = %s FOR UPDATE", [RNICS[5]])
        ends = threading.Thread(target=broken_pack, args=(packer, broken))
        ends.start()
        waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
        assert until(lambda: connection.execute(waits, [broken.info.backend_pid]).fetchone() == (1,))
        connection.execute("SELECT pg_terminate_backend(%s)", [broken.info.backend_pid])
        ends.join(60)
    roll_up_all(connection, maintenance)
    assert joined == [list(RNICS[:2]), list(RNICS[2:4])]
    assert averages(connection) == [(rnic, 1 if rnic in RNICS[:4] else 2, 2.0) for rnic in RNICS]
    packer.pack(connection)
    assert joined[2] is None, "of the transaction whose answer did not come, nobody knows whether it happened"
    roll_up_all(connection, maintenance)
    assert averages(connection) == [(rnic, 1, 2.0) for rnic in RNICS]


def broken_pack(packer: Packing, connection: Connection) -> None:
    with pytest.raises(psycopg.OperationalError):
        packer.pack(connection)


def test_the_rnics_are_still_known_after_the_database_was_down(
    connection: Connection, packed_minutes: None, maintenance: Maintenance, postgres_url: str
) -> None:
    samples(connection, 30, 4.0)
    late = LateRnics(minute() + 1, {minute() // 60: {RNICS[2]}})
    maintenance.touched({"offload_sample": [minute()]}, {"offload_sample": late})
    with connect(postgres_url) as broken:
        connection.execute("SELECT pg_terminate_backend(%s)", [broken.info.backend_pid])
        broken_roll_up(maintenance, broken)
    maintenance.roll_up(connection)
    assert computed(connection) == {RNICS[2]}


@pytest.mark.parametrize("waits", [False, True])
def test_a_backup_has_all_samples_if_hours_are_not_packed_while_it_begins(
    connection: Connection, packer: Packing, postgres_url: str, waits: bool
) -> None:
    """`pg_dump` takes its snapshot before it locks the tables. What is packed between is in neither: a chunk is emptied by TRUNCATE, which
    a snapshot does not keep from it. docs/operating.md says how to back up."""
    masks(connection, OLD, 6, 0)
    expected = rows(connection)
    with connect(postgres_url) as dump, connect(postgres_url) as lock:
        if waits:
            lock.execute("SELECT pg_advisory_lock(%s)", [packing.LOCK])
        with dump.transaction():
            dump.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            dump.execute("SELECT 1")
            assert packer.pack(connection) == (0 if waits else 1)
            assert rows(dump) == (expected if waits else [])
    assert until(lambda: connection.execute("SELECT pg_try_advisory_lock(%s)", [packing.LOCK]).fetchone() == (True,))
    connection.execute("SELECT pg_advisory_unlock(%s)", [packing.LOCK])
    packer.pack(connection)
    assert (rows(connection), rows(connection, "mask_sample")) == (expected, [])
