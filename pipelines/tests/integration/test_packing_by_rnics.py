"""Hours with late samples are packed a number of RNICs at a time: whatever happens between, no sample is lost, doubled or changed."""

import itertools
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from alembic.config import Config

from wallwatch.jobs import packing
from wallwatch.jobs.packing import Packing
from wallwatch.settings import Settings

from .conftest import until
from .late_hours import OLD, RNICS, Connection, connect, kill_while_packing, without_samples

pytestmark = pytest.mark.integration
MASKS = "SELECT time, rnic_id, direction, mask, flows FROM {} ORDER BY rnic_id, time, direction, mask"


@pytest.fixture
def connection(alembic_config: Config, postgres_url: str) -> Iterator[Connection]:
    with without_samples(alembic_config, postgres_url) as connection:
        yield connection


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

    packer._join = join_and_write  # type: ignore[method-assign]  # rows arrive while it joins
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
