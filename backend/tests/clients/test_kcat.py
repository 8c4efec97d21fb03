"""The command lines of docs/contracts.md that read topics with kcat, as a reader would copy them."""

import os
import subprocess
import time
from uuid import uuid4

import orjson
import pytest
from confluent_kafka import Producer

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.envelope import headers_of
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.blocks import block
from wallwatch_testing.documented_commands import blocks, commands

BROKER = "localhost:9092"
[FINDINGS, SINGLES, HEADERS] = [
    command for text in blocks(REPOSITORY / "docs/contracts.md") if "kcat" in text for command in commands(text)
]


@pytest.fixture(scope="module")
def producer(kafka_bootstrap: str) -> Producer:
    return kafka_clients.producer(KafkaSettings(kafka_bootstrap=kafka_bootstrap))


def run(command: str, kafka_bootstrap: str) -> str:
    assert BROKER in command
    environment = {**os.environ, "PATH": f"{REPOSITORY}/.venv/bin:{os.environ['PATH']}"}
    shell = ["bash", "-o", "pipefail", "-c", command.replace(BROKER, kafka_bootstrap)]
    done = subprocess.run(shell, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_findings_are_printed_by_host(producer: Producer, kafka_bootstrap: str) -> None:
    host = f"kc-{uuid4().hex[:6]}"
    value = orjson.dumps({"finding_id": str(uuid4()), "host": host, "symptom": "S1"})
    producer.produce("wallwatch.findings", key=host, value=value, headers=headers_of("wallwatch.findings", host, value))
    assert producer.flush(60) == 0
    found = [line.split(" ", 1) for line in run(FINDINGS, kafka_bootstrap).splitlines()]
    assert [orjson.loads(text)["symptom"] for key, text in found if key == host] == ["S1"]
    headers = [line for line in run(HEADERS, kafka_bootstrap).splitlines() if f"ce_subject={host}" in line]
    assert len(headers) == 1
    assert "ce_type=wallwatch.findings" in headers[0]
    assert "ce_dataschema=urn:wallwatch:message:wallwatch.findings:1" in headers[0]


def test_blocks_are_printed_as_single_messages(producer: Producer, kafka_bootstrap: str) -> None:
    host = f"kc-{uuid4().hex[:6]}"
    samples = [
        {"name": "rnic", "timestamp": time.time_ns(), "tags": {"host": host, "rack": "r1", "pci": pci}, "fields": {"port_xmit_data": 7}}
        for pci in ("0000:3b:00.0", "0000:3b:00.1")
    ]
    producer.produce("wallwatch.blocks", key=host, value=block(samples))
    assert producer.flush(60) == 0
    found = [orjson.loads(line) for line in run(SINGLES, kafka_bootstrap).splitlines()]
    assert [one["tags"]["pci"] for one in found if one["tags"]["host"] == host] == ["0000:3b:00.0", "0000:3b:00.1"]
