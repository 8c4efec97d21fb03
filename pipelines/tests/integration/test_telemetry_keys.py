"""What arrives under a wrong name is not stored, is counted, and leaves no key behind: ingest and classify on real Kafka."""

import base64
import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from wallwatch import kafka_clients
from wallwatch.cli.status import check_senders
from wallwatch.domain.telemetry.keys import PREFIX, key_of
from wallwatch.jobs.ingest import Ingest
from wallwatch.jobs.isolation import IsolationJob
from wallwatch.kafka_settings import KafkaSettings
from wallwatch.settings import Settings
from wallwatch.store import telemetry_secret

from .conftest import running_job, until

pytestmark = pytest.mark.integration

Send = Callable[..., None]
Connection = psycopg.Connection[Any]
PCI = "0000:3b:00.0"


@pytest.fixture
def checking(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of jobs that check telemetry keys; the secret exists."""
    monkeypatch.setattr(telemetry_secret, "LOOK_EVERY_S", 0.1)
    file = tmp_path / "secrets" / "telemetry.secret"
    telemetry_secret.read_or_create(file)
    return settings.model_copy(update={"telemetry_secret_file": file})


def file_of(settings: Settings) -> Path:
    assert settings.telemetry_secret_file is not None
    return settings.telemetry_secret_file


def key(settings: Settings, host: str) -> str:
    return key_of(telemetry_secret.read(file_of(settings))[0], host)


def ingest(settings: Settings) -> AbstractContextManager[Ingest]:
    return running_job(Ingest(settings))


def rnic(host: str, second: float, telemetry_key: str | None, **tags: str) -> dict[str, Any]:
    at_ns = time.time_ns() - 600 * 10**9 + int(second * 1e9)
    every = {"host": host, "rack": "r1", "pci": PCI, **tags} | ({} if telemetry_key is None else {"telemetry_key": telemetry_key})
    return {"name": "rnic", "timestamp": at_ns, "tags": every, "fields": {"tx_gbps": 5}}


def count(connection: Connection, host: str) -> int:
    row = connection.execute("SELECT count(*) FROM rnic_sample JOIN rnic USING (rnic_id) WHERE host = %s", [host]).fetchone()
    assert row is not None
    return int(row[0])


def refused(connection: Connection, reason: str) -> int:
    row = connection.execute("SELECT coalesce(sum(count), 0)::int FROM dead_letter_count WHERE reason = %s", [reason]).fetchone()
    assert row is not None
    return int(row[0])


def dead_letters(bootstrap: str, marker: str, enough: int) -> list[dict[str, Any]]:
    """The dead letters whose record key begins with a marker."""
    consumer = kafka_clients.consumer(
        KafkaSettings(kafka_bootstrap=bootstrap), {"group.id": f"letters-{marker}", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["wallwatch.dead_letter"])
    found: list[dict[str, Any]] = []
    try:
        deadline = time.monotonic() + 90
        while len(found) < enough and time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is not None and message.error() is None and (message.key() or b"").startswith(marker.encode()):
                found.append(json.loads(message.value() or b""))
    finally:
        consumer.close()
    return found


def test_a_host_cannot_write_in_the_name_of_another(checking: Settings, send: Send, connection: Connection, host: str) -> None:
    thief, mute = f"{host}-thief", f"{host}-mute"
    before = refused(connection, "wrong_principal")
    good = key(checking, host)
    send("wallwatch.rnic", rnic(host, 1, good), key=host)
    send("wallwatch.rnic", rnic(host, 2, key(checking, thief)), key=host)  # the name of another, its own key
    send("wallwatch.rnic", rnic(thief, 2, key(checking, thief)), key=host)  # its own name, in the place of another
    send("wallwatch.rnic", rnic(mute, 2, None), key=mute)
    broken = rnic(host, 3, good) | {"timestamp": 1}  # a good host's message that cannot be used for another reason
    send("wallwatch.rnic", broken, json.dumps(rnic(host, 4, good)).encode()[:-9], key=host)
    with ingest(checking):
        assert until(lambda: refused(connection, "wrong_principal") >= before + 3)
        assert until(lambda: count(connection, host) == 1)
        send("wallwatch.rnic", rnic(host, 5, good), key=host)
        assert until(lambda: count(connection, host) == 2)
    assert count(connection, thief) == 0
    known = "SELECT host FROM host UNION SELECT host FROM rnic"
    assert connection.execute(f"SELECT 1 FROM ({known}) k WHERE host = ANY(%s)", [[thief, mute]]).fetchone() is None
    letters = dead_letters(checking.kafka_bootstrap, host, 5)
    assert sorted(letter["reason"] for letter in letters) == [
        "bad_timestamp",
        "not_json",
        "wrong_principal",
        "wrong_principal",
        "wrong_principal",
    ]
    for letter in letters:
        everything = json.dumps(letter) + base64.b64decode(letter["value_base64"]).decode()
        assert good.removeprefix(PREFIX) not in everything, "a key of a good host was stored"
    details = connection.execute("SELECT string_agg(last_detail, ' ') FROM dead_letter_count").fetchone()
    assert details is not None
    assert PREFIX not in (details[0] or "")
    found = check_senders(checking)
    assert found is not None
    assert not found[1]
    assert "messages under a wrong name" in found[2]


def test_traffic_in_the_name_of_another_is_a_dead_letter_and_counted_once_however_often_it_is_read(
    checking: Settings, jobs_url: str, isolation_group: str, send: Send, connection: Connection, host: str
) -> None:
    topic, forged = "wallwatch.vf_traffic", {"vfs": "[]"}
    settings = checking.model_copy(update={"database_url": jobs_url, "isolation_group": isolation_group})

    def counted() -> int:
        query = "SELECT coalesce(sum(count), 0)::int FROM dead_letter_count WHERE topic = %s AND reason = 'wrong_principal'"
        row = connection.execute(query, [topic]).fetchone()
        assert row is not None
        return int(row[0])

    every = {"host": host, "rack": "r1", "pci": PCI, "telemetry_key": key(checking, f"{host}-thief")}
    before = counted()
    for second in (1, 2, 3):
        send(topic, {"name": "vf_traffic", "timestamp": time.time_ns() - second * 10**9, "tags": every, "fields": forged}, key=host)
    with running_job(IsolationJob(settings)):
        assert until(lambda: counted() == before + 3)
    with running_job(IsolationJob(settings)):  # it reads two minutes again
        send(topic, {"name": "vf_traffic", "timestamp": time.time_ns(), "tags": every, "fields": forged}, key=host)
        assert until(lambda: counted() >= before + 4)
    assert counted() == before + 4
    letters = dead_letters(checking.kafka_bootstrap, host, 4)
    assert [(letter["topic"], letter["reason"]) for letter in letters] == [(topic, "wrong_principal")] * 4
    found = check_senders(checking)
    assert found is not None
    assert not found[1]


def test_a_rotated_secret_counts_while_ingest_runs(checking: Settings, send: Send, connection: Connection, host: str) -> None:
    old = key(checking, host)
    with ingest(checking):
        send("wallwatch.rnic", rnic(host, 1, old), key=host)
        assert until(lambda: count(connection, host) == 1)
        telemetry_secret.rotate(file_of(checking))
        new = key(checking, host)
        assert new != old

        def both() -> bool:
            send("wallwatch.rnic", rnic(host, 2, old), rnic(host, 3, new), key=host)
            return count(connection, host) >= 3

        assert until(both)
        telemetry_secret.retire_former(file_of(checking))
        last = "SELECT 1 FROM dead_letter_count WHERE reason = 'wrong_principal' AND last_detail LIKE %s"

        def old_is_refused() -> bool:
            send("wallwatch.rnic", rnic(host, 4, old), key=host)
            return connection.execute(last, [f"%{host}"]).fetchone() is not None

        assert until(old_is_refused)


def test_hostile_names_reach_no_table(checking: Settings, send: Send, connection: Connection, host: str) -> None:
    """With and without keys: the form of a name is checked first."""
    names = [f"{host}<img src=x>", f"{host}\n", f"{host}\x1b[2J", f"{host}-\u043e", host + "a" * 10_240]
    before = refused(connection, "bad_identity")
    send("wallwatch.rnic", *(rnic(name, 1, key(checking, name)) for name in names), key=host)
    send("wallwatch.rnic", rnic(host, 1, key(checking, host), pci="zz:<b>"), rnic(host, 1, key(checking, host)), key=host)
    forged = {
        "finding_id": "6a2f1a49-4ac2-5c4e-8a60-4b7a3a9c2e5d", "host": names[0], "pci": PCI, "rack": "r1", "symptom": "S1",
        "state": "active", "started_at": "2026-09-21T14:13:20Z", "at": "2026-09-21T14:13:20Z", "severity": "critical",
        "blast_radius": "host", "rule": "S1/1", "title": "t", "summary": "s", "evidence": [], "hypotheses": [], "remedies": [],
    }  # fmt: skip
    send("wallwatch.findings", forged, key=host)
    with ingest(checking):
        assert until(lambda: refused(connection, "bad_identity") >= before + len(names) + 2)
        assert until(lambda: count(connection, host) == 1)
    assert connection.execute("SELECT host, pci FROM rnic WHERE host LIKE %s", [f"{host}%"]).fetchall() == [(host, PCI)]
    assert connection.execute("SELECT count(*) FROM host WHERE host LIKE %s", [f"{host}_%"]).fetchone() == (0,)


def test_a_refused_message_of_a_megabyte_stops_nothing(checking: Settings, send: Send, connection: Connection, host: str) -> None:
    send("wallwatch.rnic", rnic(host + "x" * 900_000, 1, None), rnic(host, 1, key(checking, host)), key=host)
    with ingest(checking):
        assert until(lambda: count(connection, host) == 1)
    (letter,) = dead_letters(checking.kafka_bootstrap, host, 1)
    assert letter["value_bytes"] > 900_000
    assert len(base64.b64decode(letter["value_base64"])) == 256 * 1024


def test_ingest_waits_for_the_secret_and_loses_nothing(
    settings: Settings, send: Send, connection: Connection, host: str, tmp_path: Path
) -> None:
    waiting = settings.model_copy(update={"telemetry_secret_file": tmp_path / "secrets" / "later"})
    with ingest(waiting):
        telemetry_secret.read_or_create(file_of(waiting))
        send("wallwatch.rnic", rnic(host, 1, key(waiting, host)), key=host)
        assert until(lambda: count(connection, host) == 1)
