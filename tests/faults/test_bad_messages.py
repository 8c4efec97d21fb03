"""Malformed and truncated Kafka messages go to the dead-letter topic with a reason and are counted; the jobs continue."""

import base64
import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from wallwatch import kafka_clients
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_testing import telemetry_path
from wallwatch_testing.kafka_lag import lag, read_all
from wallwatch_testing.stack import random_name, wait_for
from wallwatch_testing.telemetry_path import TelemetryPath

pytestmark = pytest.mark.faults

TOPICS = ("wallwatch.rnic", "wallwatch.rnic_offload")


def sample(**changes: Any) -> dict[str, Any]:
    """A message of measurement rnic that is right unless changed."""
    right = {
        "name": "rnic",
        "timestamp": time.time_ns(),
        "tags": {"host": "bad-host", "rack": "r1", "pci": "0000:3b:00.0", "pci_id": "15b3:101b"},
        "fields": {"port_xmit_data": 1, "tx_gbps": 1.5, "port_state": "ACTIVE"},
    }
    return right | changes


def encoded(**changes: Any) -> bytes:
    return json.dumps(sample(**changes)).encode()


BAD: dict[str, bytes] = {
    "not JSON": b"\xff\xfe garbage",
    "empty": b"",
    "truncated": encoded()[:60],
    "not an object": b"[1, 2, 3]",
    "nested a thousand times": b"[" * 1000,
    "no tags": json.dumps({key: value for key, value in sample().items() if key != "tags"}).encode(),
    "no host": encoded(tags={"pci": "0000:3b:00.0"}),
    "an unknown measurement": encoded(name="surprise"),
    "a timestamp that is text": encoded(timestamp="yesterday"),
    "a timestamp in the far future": encoded(timestamp=time.time_ns() + 10**18),
    "a text where a number belongs": encoded(fields={"port_xmit_data": "many"}),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TelemetryPath]:
    with telemetry_path.start(tmp_path_factory.mktemp("d")) as started:
        yield started


def letters(path: TelemetryPath) -> list[dict[str, Any]]:
    return [json.loads(one.value() or b"{}") for one in read_all(path.kafka.address, "wallwatch.dead_letter")]


def send(path: TelemetryPath, topic: str, values: list[bytes]) -> None:
    producer = kafka_clients.producer(KafkaSettings(kafka_bootstrap=path.kafka.address))
    for value in values:
        producer.produce(topic, value, key=b"bad-host")
    assert producer.flush(90) == 0


def test_ingest_puts_each_bad_message_aside_with_a_reason_and_goes_on(path: TelemetryPath) -> None:
    with path.job("ingest"):
        send(path, "wallwatch.rnic", [encoded(), *BAD.values(), encoded()])
        wait_for("the two good samples", lambda: len(path.rows("rnic")) == 2, timeout_s=60)
        found = wait_for("the dead letters", lambda: len(got := letters(path)) >= len(BAD) and got, timeout_s=60)
    aside = {base64.b64decode(one["value_base64"]) for one in found}
    assert aside == set(BAD.values())
    for one in found:
        assert one["topic"] == "wallwatch.rnic"
        assert one["reason"], one
        assert isinstance(one["offset"], int)
    assert len({one["reason"] for one in found}) >= 4, "different mistakes should have different reasons"


def test_classify_goes_on_and_leaves_the_dead_letters_to_ingest(path: TelemetryPath, free_port: int) -> None:
    """Both jobs read these topics; one dead letter per message is enough."""
    before = len(letters(path))
    url = f"http://127.0.0.1:{free_port}/metrics"

    def refused() -> float:
        try:
            text = httpx.get(url, timeout=3).text
        except httpx.HTTPError:
            return 0
        counted = re.findall(r'dead_letters_total\{[^}]*job="classify"[^}]*\} ([0-9.]+)', text)
        return sum(float(one) for one in counted)

    with path.job("classify", WALLWATCH_METRICS_PORT=str(free_port)) as process:
        send(path, "wallwatch.rnic_offload", [b"\xff\xfe garbage", b"{", b"[]"])
        wait_for("three refused messages", lambda: refused() >= 3, timeout_s=120)
        assert process.poll() is None, "classify ended"
    assert len(letters(path)) == before


@pytest.mark.parametrize("job", ["ingest", "classify"])
def test_no_key_or_value_ends_a_job(path: TelemetryPath, job: str) -> None:
    producer = kafka_clients.producer(KafkaSettings(kafka_bootstrap=path.kafka.address))
    for key, value in ((None, encoded()), (b"\xff\xfe", encoded()), (b"bad-host", None)):
        for topic in TOPICS:
            producer.produce(topic, value, key=key)
    assert producer.flush(90) == 0
    # Classify's group is part of the name of its changelog topic, so it holds nothing but letters, digits and dashes.
    group = random_name(job)
    often = {f"WALLWATCH_{job.upper()}_GROUP": group, "WALLWATCH_CLASSIFY_COMMIT_S": "0.5"}
    with path.job(job, **often) as process:
        wait_for("the topics' end", lambda: process.poll() is not None or lag(path.kafka.address, group, TOPICS) == 0, timeout_s=90)
        assert process.poll() is None, f"{job} ended"
