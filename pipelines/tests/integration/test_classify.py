"""The stream job as a process of its own, on real Kafka: findings out, state kept over a restart."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest
from cloudevents.kafka import KafkaMessage, from_binary
from confluent_kafka import Message

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.keys import key_of
from wallwatch.settings import Settings
from wallwatch.store import telemetry_secret
from wallwatch_testing.kafka_lag import read_all

pytestmark = [pytest.mark.integration, pytest.mark.long]
Send = Callable[..., None]
PCI = "0000:3b:00.0"
S1 = {
    "flows_offloaded": 7300, "flow_insertions_per_s": 40.0, "reoffloads_per_s": 36.0, "reoffload_ratio": 0.9,
    "stale_reoffload_share": 0.9, "counter_gap_p95_s": 11.0, "counter_gap_max_s": 12.0, "max_idle_ms": 10_000,
    "packets_per_s": 1e5, "q_egress": 1.0, "q_ingress": 1.0, "software_packets_per_s": 10.0,
}  # fmt: skip
HEALTHY = {**S1, "reoffloads_per_s": 0.0, "reoffload_ratio": 0.0, "max_idle_ms": 60_000}


@contextmanager
def classify(settings: Settings) -> Iterator[subprocess.Popen[str]]:
    """The job until the end of the block; the test may kill it before."""
    environment = {
        **os.environ,
        "WALLWATCH_KAFKA_BOOTSTRAP": settings.kafka_bootstrap,
        "WALLWATCH_CLASSIFY_GROUP": settings.classify_group,
        "WALLWATCH_STATE_DIR": str(settings.state_dir),
        "WALLWATCH_CLASSIFY_COMMIT_S": "1",
    }
    if settings.telemetry_secret_file is not None:
        environment["WALLWATCH_TELEMETRY_SECRET_FILE"] = str(settings.telemetry_secret_file)
    command = [sys.executable, "-c", "from wallwatch.cli.main import app; app()", "job", "classify"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        yield process
        assert process.poll() in (None, -signal.SIGKILL), process.stderr.read() if process.stderr else ""
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def check_envelope(message: Message) -> None:
    """A finding is a CloudEvent to a reader that we did not write."""
    headers = dict(message.headers() or [])
    event = from_binary(KafkaMessage(headers=headers, key=message.key(), value=message.value()))
    assert (event["type"], event["specversion"]) == ("wallwatch.findings", "1.0")
    assert event["dataschema"] == "urn:wallwatch:message:wallwatch.findings:1"
    assert event["subject"].encode() == message.key()
    assert event.data == json.loads(message.value() or b"")


@pytest.fixture
def findings(settings: Settings, host: str) -> Iterator[Callable[[Callable[[list[dict[str, Any]]], bool]], list[dict[str, Any]]]]:
    """Collect this host's findings until a condition holds."""
    consumer = kafka_clients.consumer(settings, {"group.id": f"findings-{host}", "auto.offset.reset": "earliest"})
    consumer.subscribe(["wallwatch.findings"])
    found: list[dict[str, Any]] = []

    def collect(enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        deadline = time.monotonic() + 120
        while not enough(found) and time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is not None and message.error() is None and message.key() == host.encode():
                found.append(json.loads(message.value() or b""))
                check_envelope(message)
        return found

    yield collect
    consumer.close()


def samples(host: str, start_ns: int, seconds: range, fields: dict[str, Any]) -> list[dict[str, Any]]:
    tags = {"host": host, "pci": PCI, "rack": "r1"}
    return [{"name": "rnic_offload", "timestamp": start_ns + s * 10**9, "tags": tags, "fields": fields} for s in seconds]


def test_s1_is_found_survives_a_restart_and_clears(
    settings: Settings, send: Send, host: str, findings: Callable[[Callable[[list[dict[str, Any]]], bool]], list[dict[str, Any]]]
) -> None:
    start_ns = time.time_ns() - 200 * 10**9
    tags = {"host": host, "pci": PCI, "pci_id": "15b3:101d"}
    send("wallwatch.rnic", {"name": "rnic", "timestamp": start_ns, "tags": tags, "fields": {"tx_gbps": 1.0}}, key=host)
    for second in range(80):
        at_ns, datapath = start_ns + second * 10**9, {"host": host, "datapath": "system@ovs-system"}
        send(
            "wallwatch.ovs_datapath",
            {"name": "ovs_datapath", "timestamp": at_ns, "tags": datapath, "fields": {"lookups_missed": second * 40}},
            key=host,
        )
    send("wallwatch.rnic_offload", b"{broken", *samples(host, start_ns, range(80), S1), b"[]", key=host)

    with classify(settings):
        active = findings(lambda found: bool(found))
        assert active, "no finding came"
        first = active[0]
        assert (first["symptom"], first["state"], first["host"], first["pci"]) == ("S1", "active", host, PCI)
        assert first["hypotheses"][0]["cause"] == "C5"
        assert {e["signal"] for e in first["evidence"]} >= {"flows_wall_share", "datapath_misses_per_s"}

    send("wallwatch.rnic_offload", *samples(host, start_ns, range(80, 150), HEALTHY), key=host)
    with classify(settings):
        found = findings(lambda found: any(f["state"] == "cleared" for f in found))
    assert found[-1]["state"] == "cleared"
    assert {f["finding_id"] for f in found} == {first["finding_id"]}


def test_another_process_takes_over_what_a_killed_one_had_found(
    settings: Settings, send: Send, host: str, findings: Callable[[Callable[[list[dict[str, Any]]], bool]], list[dict[str, Any]]]
) -> None:
    """What the first one took after its last checkpoint is read again, and adds nothing: the finding is the same."""
    start_ns = time.time_ns() - 300 * 10**9
    send("wallwatch.rnic_offload", *samples(host, start_ns, range(80), S1), key=host)
    with classify(settings) as first:
        active = findings(lambda found: bool(found))
        assert active, "no finding came"
        with classify(settings):
            send("wallwatch.rnic_offload", *samples(host, start_ns, range(80, 110), S1), key=host)
            first.kill()
            first.wait(60)
            send("wallwatch.rnic_offload", *samples(host, start_ns, range(110, 200), HEALTHY), key=host)
            found = findings(lambda found: any(f["state"] == "cleared" for f in found))
    assert found[-1]["state"] == "cleared"
    assert {f["finding_id"] for f in found} == {active[0]["finding_id"]}


def test_what_comes_under_a_wrong_name_raises_and_clears_nothing(
    settings: Settings, send: Send, host: str, findings: Callable[[Callable[[list[dict[str, Any]]], bool]], list[dict[str, Any]]]
) -> None:
    """A host's own S1 is found; another host's S1 in its name is not, and health in its name or its place clears nothing."""
    checking = settings.model_copy(update={"telemetry_secret_file": settings.state_dir.parent / "telemetry.secret"})
    assert checking.telemetry_secret_file is not None
    (secret,) = telemetry_secret.read_or_create(checking.telemetry_secret_file)
    thief, victim, start_ns = f"{host}-thief", f"{host}-victim", time.time_ns() - 200 * 10**9

    def proven(name: str, key_host: str, seconds: range, fields: dict[str, Any]) -> list[dict[str, Any]]:
        key = key_of(secret, key_host)
        return [{**one, "tags": {**one["tags"], "telemetry_key": key}} for one in samples(name, start_ns, seconds, fields)]

    send("wallwatch.rnic_offload", *proven(victim, thief, range(80), S1), key=victim)
    send("wallwatch.rnic_offload", *proven(host, host, range(80), S1), key=host)
    send("wallwatch.rnic_offload", *proven(host, thief, range(80, 150), HEALTHY), key=host)
    send("wallwatch.rnic_offload", *proven(thief, thief, range(80, 150), HEALTHY), key=host)
    with classify(checking):
        assert findings(lambda found: bool(found)), "no finding came of the host that proves its name"
        send("wallwatch.rnic_offload", *proven(host, host, range(150, 170), S1), key=host)
        last = (start_ns + 165 * 10**9) // 10**9
        found = findings(lambda found: any(datetime.fromisoformat(f["at"]).timestamp() >= last - 20 for f in found))
    assert {(f["host"], f["symptom"], f["state"]) for f in found if f["symptom"] == "S1"} == {(host, "S1", "active")}
    keys = {message.key() for message in read_all(settings.kafka_bootstrap, "wallwatch.findings")}
    assert host.encode() in keys
    assert victim.encode() not in keys
