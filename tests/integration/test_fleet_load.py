"""`fleetsim load` writes into a real Kafka what the pipelines can read: every message, with the host as its key, in both forms."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wallwatch import kafka_clients
from wallwatch.domain.telemetry import blocks
from wallwatch.domain.telemetry.blocks import BlockReader
from wallwatch.domain.telemetry.decode import Decoded, decode
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs.topics import create_topics
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import hosts, kafka, ports
from wallwatch_local.paths import binary

COUNT, RNICS = 6000, 40
LATEST_NS = 2**63 - 1


@pytest.fixture(scope="module", params=["blocks", "single"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A fleet in which one host in two plays a host that crashes."""
    folder = tmp_path_factory.mktemp("t")
    for scenario in ("healthy", "s3"):
        command = [str(binary("fleetsim")), "record", "--scenario", str(hosts.scenario_file(scenario)), "--out", str(folder / scenario)]
        subprocess.run([*command, "--for", "90s", "--interval", "10s"], check=True, capture_output=True, timeout=300)
    return f"{folder / 'healthy'},{folder / 's3'}"


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory, form: str) -> Iterator[str]:
    with kafka.start(tmp_path_factory.mktemp("k"), ports.free_ports(1)[0]) as address:
        create_topics(KafkaSettings(kafka_bootstrap=address), partitions=2)
        yield address


@pytest.fixture(scope="module")
def load_report(bootstrap: str, recordings: str, form: str) -> dict[str, Any]:
    """The load's own report, after it has sent the fleet."""
    command = [str(binary("fleetsim")), "load", "--kafka", bootstrap, "--tapes", recordings, *(["--single"] if form == "single" else [])]
    arguments = ["--rnics", str(RNICS), "--rate", "-1", "--count", str(COUNT)]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True, timeout=300)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def received(bootstrap: str, load_report: dict[str, Any]) -> list[tuple[str, str, bytes]]:
    """Topic, key and value of every message."""
    consumer = kafka_clients.consumer(KafkaSettings(kafka_bootstrap=bootstrap), {"group.id": "test", "auto.offset.reset": "earliest"})
    consumer.subscribe([blocks.TOPIC, *(f"wallwatch.{name}" for name in measurements())])
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


@pytest.fixture(scope="module")
def samples(received: list[tuple[str, str, bytes]]) -> list[tuple[str, str, Decoded]]:
    """Measurement, key and content of every sample: what ingest would put into the dead letters is an error."""
    reader = BlockReader()
    found = []
    for topic, key, value in received:
        if topic == blocks.TOPIC:
            name, good, bad, _ = reader.read(value, LATEST_NS)
            assert bad == []
            found += [(name, key, one) for one in good]
        else:
            name = topic.removeprefix("wallwatch.")
            found.append((name, key, decode(value, measurements()[name], LATEST_NS)))
    return found


def test_as_many_messages_and_samples_arrive_as_were_asked_for(
    load_report: dict[str, Any], received: list[tuple[str, str, bytes]], samples: list[tuple[str, str, Decoded]], form: str
) -> None:
    assert COUNT <= len(samples) == load_report["samples"] < COUNT + blocks.MOST_ROWS
    assert len(received) == load_report["messages"]
    assert (len(received) < 0.5 * len(samples)) == (form == "blocks")
    by_measurement = Counter(topic.removeprefix("wallwatch.") for topic, _, _ in received)
    assert dict(by_measurement) == load_report["by_measurement"]
    assert load_report["rnics"] >= RNICS
    assert len({key for _, key, _ in received}) == load_report["hosts"]
    assert load_report["rnic_samples"] == sum(name == "rnic" for name, _, _ in samples)


def test_every_sample_is_of_the_host_that_sent_it(samples: list[tuple[str, str, Decoded]]) -> None:
    for _, key, one in samples:
        assert one.tags["host"] == key
        assert one.tags["rack"].startswith("r")


def test_one_rnic_has_one_sample_at_one_time(samples: list[tuple[str, str, Decoded]]) -> None:
    seen: set[tuple[str, str, int]] = set()
    for name, key, one in samples:
        if name == "rnic":
            identity = (key, one.tags["pci"], one.at_ns)
            assert identity not in seen
            seen.add(identity)
    assert len({host for host, _, _ in seen}) > 5


def test_a_count_that_kafka_cannot_take_is_an_error_that_says_why(tmp_path: Path) -> None:
    port = ports.free_ports(1)[0]
    command = [str(binary("fleetsim")), "load", "--kafka", f"127.0.0.1:{port}", "--rnics", "5", "--count", "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path)
    assert done.returncode == 1
    assert f"kafka at 127.0.0.1:{port}" in done.stderr
