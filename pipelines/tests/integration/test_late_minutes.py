"""Minutes of packed hours with late samples are computed some RNICs at a time: whatever happens between, each sample counts once."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from alembic.config import Config

from wallwatch.jobs import late_minutes, packing
from wallwatch.jobs import maintenance as jobs_maintenance
from wallwatch.jobs.maintenance import Maintenance
from wallwatch.jobs.packing import Packing
from wallwatch.settings import Settings
from wallwatch.store.encode import LateRnics

from .conftest import until
from .late_hours import OLD, RNICS, Connection, connect, kill_while_packing, without_samples

pytestmark = pytest.mark.integration


@pytest.fixture
def connection(alembic_config: Config, postgres_url: str) -> Iterator[Connection]:
    with without_samples(alembic_config, postgres_url) as connection:
        yield connection


@pytest.fixture
def packer(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Packing:
    monkeypatch.setattr(packing, "RNICS_AT_ONCE", 2)
    return Packing(Settings(database_url=postgres_url), threading.Event(), lambda *_: None)


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
