"""`fleetsim load` writes into a real Kafka what the pipelines can read: every message, with the host as its key."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.decode import decode
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs.topics import create_topics
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import hosts, kafka, ports
from wallwatch_local.paths import binary

COUNT, RNICS = 6000, 40
LATEST_NS = 2**63 - 1


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka.start(tmp_path_factory.mktemp("k"), ports.free_ports(1)[0]) as address:
        create_topics(KafkaSettings(kafka_bootstrap=address), partitions=2)
        yield address


@pytest.fixture(scope="module")
def load_report(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The load's own report, after it has sent a fleet in which one host in two plays a host that crashes."""
    folder = tmp_path_factory.mktemp("t")
    for scenario in ("healthy", "s3"):
        command = [str(binary("fleetsim")), "record", "--scenario", str(hosts.scenario_file(scenario)), "--out", str(folder / scenario)]
        subprocess.run([*command, "--for", "90s", "--interval", "10s"], check=True, capture_output=True, timeout=300)
    command = [str(binary("fleetsim")), "load", "--kafka", bootstrap, "--tapes", f"{folder / 'healthy'},{folder / 's3'}"]
    arguments = ["--rnics", str(RNICS), "--rate", "-1", "--count", str(COUNT)]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True, timeout=300)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def received(bootstrap: str, load_report: dict[str, Any]) -> list[tuple[str, str, bytes]]:
    """Topic, key and value of every message."""
    consumer = kafka_clients.consumer(KafkaSettings(kafka_bootstrap=bootstrap), {"group.id": "test", "auto.offset.reset": "earliest"})
    consumer.subscribe([f"wallwatch.{name}" for name in measurements()])
    found: list[tuple[str, str, bytes]] = []
    try:
        while len(found) < load_report["messages"]:
            batch = consumer.consume(1000, timeout=30)
            assert batch, f"{len(found)} of {load_report['messages']} messages came"
            for message in batch:
                assert message.error() is None
                found.append((message.topic() or "", (message.key() or b"").decode(), message.value() or b""))
    finally:
        consumer.close()
    return found


def test_as_many_messages_arrive_as_were_asked_for(load_report: dict[str, Any], received: list[tuple[str, str, bytes]]) -> None:
    assert len(received) == load_report["messages"] == COUNT
    by_measurement = Counter(topic.removeprefix("wallwatch.") for topic, _, _ in received)
    assert dict(by_measurement) == load_report["by_measurement"]
    assert load_report["rnics"] >= RNICS
    assert len({key for _, key, _ in received}) == load_report["hosts"]


def test_the_pipelines_can_read_every_message(received: list[tuple[str, str, bytes]]) -> None:
    for topic, key, value in received:
        # Raises for what ingest would put into the dead letters.
        one = decode(value, measurements()[topic.removeprefix("wallwatch.")], LATEST_NS)
        assert one.tags["host"] == key
        assert one.tags["rack"].startswith("r")


def test_one_rnic_has_one_sample_at_one_time(received: list[tuple[str, str, bytes]]) -> None:
    seen: set[tuple[str, str, int]] = set()
    for topic, key, value in received:
        if topic == "wallwatch.rnic":
            message = json.loads(value)
            identity = (key, message["tags"]["pci"], message["timestamp"])
            assert identity not in seen
            seen.add(identity)
    assert len({host for host, _, _ in seen}) > 5


def test_a_count_that_kafka_cannot_take_is_an_error_that_says_why(tmp_path: Path) -> None:
    port = ports.free_ports(1)[0]
    command = [str(binary("fleetsim")), "load", "--kafka", f"127.0.0.1:{port}", "--rnics", "5", "--count", "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path)
    assert done.returncode == 1
    assert f"kafka at 127.0.0.1:{port}" in done.stderr
