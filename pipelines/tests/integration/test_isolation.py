"""The job `isolation` on a real Kafka and store: promises from the tables, a storm in, broken seconds and a finding in the tables."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from wallwatch.jobs.ingest import Ingest
from wallwatch.jobs.isolation import IsolationJob
from wallwatch.settings import Settings
from wallwatch_testing.vf_traffic import SharedRnic

from .conftest import running_job, until

PCI = "0000:3b:00.0"
TOPIC = "wallwatch.vf_traffic"
Send = Callable[..., None]


@pytest.fixture
def mine(job_settings: Settings, isolation_group: str) -> Settings:
    return job_settings.model_copy(update={"isolation_group": isolation_group})


@pytest.fixture
def promises(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """One class for every VF of tenant a."""
    connection.execute("INSERT INTO slo_class VALUES ('gold', 50, 2000, NULL, 200, 0.001, '', 1, now(), 'ada')")
    connection.execute("""INSERT INTO slo_rule VALUES (0, '[{"name": "namespace", "op": "=", "value": "a"}]', 'gold')""")
    yield
    connection.execute("DELETE FROM slo_rule")
    connection.execute("DELETE FROM slo_class")


def held(connection: psycopg.Connection[Any], host: str, at_s: float) -> None:
    """Every VF of the RNIC is held by a pod of tenant a, but VF 3 by one of tenant b."""
    host_id = (connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [host]).fetchone() or (0,))[0]
    rnic_id = (connection.execute("INSERT INTO rnic (host, pci) VALUES (%s, %s) RETURNING rnic_id", [host, PCI]).fetchone() or (0,))[0]
    at = datetime.fromtimestamp(at_s, UTC)
    for vf in range(8):
        device, pod = f"0000:3b:01.{vf}", f"{'b' if vf == 3 else 'a'}/pod-{vf}"
        connection.execute("INSERT INTO vf_sample (time, rnic_id, vf, vf_pci) VALUES (%s, %s, %s, %s)", [at, rnic_id, vf, device])
        other = json.dumps({"device": device, "pod": pod, "container": f"c{vf}", "interface": "net1", "result": "ok"})
        when = datetime.fromtimestamp(at_s + vf / 1000, UTC)
        connection.execute(
            "INSERT INTO event (time, host_id, pci, kind, other) VALUES (%s, %s, %s, 'cni_add', %s)", [when, host_id, PCI, other]
        )


@contextmanager
def isolation(mine: Settings) -> Iterator[IsolationJob]:
    with running_job(IsolationJob(mine)) as job:
        yield job


def rows(connection: psycopg.Connection[Any], query: str, host: str) -> list[tuple[Any, ...]]:
    return connection.execute(query.replace("RNIC", "(SELECT rnic_id FROM rnic WHERE host = %s)").encode(), [host]).fetchall()


def test_a_storm_becomes_broken_seconds_minutes_a_state_and_a_finding_and_a_restart_adds_nothing(
    mine: Settings,
    connection: psycopg.Connection[Any],
    ingest: Callable[[], AbstractContextManager[Ingest]],
    send: Send,
    promises: None,
    host: str,
) -> None:
    start = float(int(time.time()) // 60 * 60 - 600)
    held(connection, host, start - 100)
    shared = SharedRnic(host)
    series = list(shared.series(start, 290, lambda second: 130 <= second < 150))
    minutes = "SELECT DISTINCT time FROM vf_minute WHERE rnic_id = RNIC"
    with ingest():
        with isolation(mine):
            send(TOPIC, *series, b'{"name": "vf_traffic"', {**series[0], "fields": {"vfs": "["}}, key=host)
            until(lambda: len(rows(connection, minutes, host)) >= 4, timeout_s=90)
            until(lambda: len(rows(connection, "SELECT DISTINCT time FROM vf_broken WHERE rnic_id = RNIC", host)) >= 20, timeout_s=90)
        before = counts(connection, host, start + 240)
        with isolation(mine):  # reads two minutes again, here everything
            send(TOPIC, *shared.series(start + 290, 20), key=host)
            until(lambda: len(rows(connection, minutes, host)) >= 5, timeout_s=90)
            until(lambda: rows(connection, "SELECT 1 FROM finding WHERE rnic_id = RNIC", host), timeout_s=90)
    broken = rows(
        connection, "SELECT time, vf, tenant, mechanism, estimated, aggressors FROM vf_broken WHERE rnic_id = RNIC ORDER BY time", host
    )
    assert {round(row[0].timestamp() - start) for row in broken} == set(range(130, 150))
    assert {row[1] for row in broken} <= {0, 1, 2, 4, 5, 6, 7}
    assert {row[2:5] for row in broken} == {("a", "ingress packet rate", False)}
    assert {(one["vf"], one["pod"], one["tenant"]) for one in broken[0][5]} == {(3, "b/pod-3", "b")}
    minute = rows(
        connection, "SELECT vf, broken_s, aggressor_s, slo FROM vf_minute WHERE rnic_id = RNIC AND broken_s + aggressor_s > 0", host
    )
    assert {(vf, aggressor_s, slo) for vf, _, aggressor_s, slo in minute if vf == 3} == {(3, 20.0, "")}
    assert {slo for vf, _, _, slo in minute if vf != 3} == {"gold"}
    assert counts(connection, host, start + 240) == before
    assert len(rows(connection, minutes, host)) == 5
    findings = rows(connection, "SELECT finding_id, symptom, state, rule, remedies FROM finding WHERE rnic_id = RNIC", host)
    assert {row[1:4] for row in findings} == {("isolation", "active", "I/1")}
    assert len({row[0] for row in findings}) == 1
    assert findings[0][4][0]["action"] == "limit-vf-rate"
    assert findings[0][4][0]["params"]["vf"] == 3
    [(vfs,)] = rows(connection, "SELECT vfs FROM rnic_isolation WHERE rnic_id = RNIC", host)
    assert {row["vf"]: row["slo"] is not None for row in vfs} == {vf: vf != 3 for vf in range(8)}
    counted = dict(connection.execute("SELECT reason, count FROM dead_letter_count WHERE topic = %s", [TOPIC]).fetchall())
    assert counted == {"not_json": 1, "wrong_type": 1}, "the job counts them as `ingest` does, and not again when it reads them again"


def counts(connection: psycopg.Connection[Any], host: str, before_s: float) -> list[tuple[Any, ...]]:
    where = f"WHERE rnic_id = RNIC AND time < to_timestamp({before_s})"
    return [
        *rows(connection, f"SELECT count(*) FROM vf_broken {where}", host),
        *rows(connection, f"SELECT count(*), sum(kept_s), sum(broken_s) FROM vf_minute {where}", host),
    ]


def test_unreadable_messages_of_the_job_are_counted_by_ingest_and_the_others_stay(
    connection: psycopg.Connection[Any], ingest: Callable[[], AbstractContextManager[Ingest]], send: Send, host: str
) -> None:
    at = datetime.now(UTC).isoformat()
    good = {"kind": "now", "host": host, "pci": PCI, "at": at, "vfs": []}
    bad = [
        b"{",
        {**good, "kind": "else"},
        {**good, "host": ""},
        {**good, "at": "2019-01-01T00:00:00Z"},
        {**good, "at": "9999-01-01T00:00:00Z"},
    ]
    with ingest():
        send("wallwatch.isolation", *bad, good, key=host)
        until(lambda: rows(connection, "SELECT 1 FROM rnic_isolation WHERE rnic_id = RNIC", host), timeout_s=90)
    query = "SELECT reason, count FROM dead_letter_count WHERE topic = 'wallwatch.isolation'"
    assert dict(connection.execute(query).fetchall()) == {"not_json": 1, "wrong_type": 2, "bad_timestamp": 2}


def test_the_job_waits_for_the_store_and_says_why_it_cannot_begin(mine: Settings, caplog: pytest.LogCaptureFixture) -> None:
    job = IsolationJob(mine.model_copy(update={"database_url": "postgresql+psycopg://nobody@127.0.0.1:1/none"}))
    thread = threading.Thread(target=job.run)
    thread.start()
    try:
        assert until(lambda: "waiting for SLO classes and rules" in caplog.text, timeout_s=90)
        assert thread.is_alive()
    finally:
        job.stop()
        thread.join(90)
    assert not thread.is_alive()
