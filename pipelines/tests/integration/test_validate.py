"""The job `validate` against a real Kafka: events of two hosts in, a violation and the state of its policy out, also over restarts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from wallwatch import kafka_clients
from wallwatch.jobs.topics import create_topics
from wallwatch.jobs.validate import Validate
from wallwatch.kafka_settings import KafkaSettings
from wallwatch.settings import Settings

from .conftest import running_job

Send = Callable[..., None]


@pytest.fixture
def settings(kafka_bootstrap: str, tmp_path: Path) -> Settings:
    create_topics(KafkaSettings(kafka_bootstrap=kafka_bootstrap), partitions=3)
    # Nothing listens there: the catalogue's policies run.
    return Settings(
        database_url="postgresql://127.0.0.1:1/none", kafka_bootstrap=kafka_bootstrap, state_dir=tmp_path, validate_patience_s=1.0
    )


@contextmanager
def reading(bootstrap: str, topic: str) -> Iterator[Callable[[str, str], dict[str, Any]]]:
    """Gives a function that waits for the next message in which this tag has this value."""
    consumer = kafka_clients.consumer(
        KafkaSettings(kafka_bootstrap=bootstrap), {"group.id": f"test-{uuid4()}", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])

    def next_with(tag: str, value: str) -> dict[str, Any]:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is not None and message.error() is None and message.value().startswith(b"{"):
                found: dict[str, Any] = json.loads(message.value())
                if found["tags"].get(tag) == value and found["fields"].get("policy", "address-one-container") == "address-one-container":
                    return found
        raise AssertionError(f"no message whose {tag} is {value}")

    try:
        yield next_with
    finally:
        consumer.close()


def container(kind: str, host: str, at_s: float, address: str) -> dict[str, Any]:
    return {
        "name": "event",
        "timestamp": round(at_s * 1e6) * 1000,
        "tags": {"host": host, "rack": "r1", "pci": "0000:17:00.0", "kind": kind},
        "fields": {"result": "ok", "address": address, "vxlan_network": 7, "detail": "d"},
    }


def test_an_address_that_two_hosts_use_is_reported_once_in_any_order_and_across_restarts(
    settings: Settings, send: Send, kafka_bootstrap: str
) -> None:
    first, second = f"a-{uuid4().hex[:8]}", f"b-{uuid4().hex[:8]}"
    address, moved, at_s = f"10.0.0.1/{uuid4().hex}", f"10.0.0.2/{uuid4().hex}", time.time() - 60
    send("wallwatch.event", container("cni_add", first, at_s, address), container("cni_add", first, at_s, moved), key=first)
    with running_job(Validate(settings)), reading(kafka_bootstrap, "wallwatch.policy_state") as next_state:
        state = next_state("policy", "address-one-container")
        assert (state["tags"]["host"], state["fields"]["violations"]) == ("", 0)
    # A host's events come in any order to another's: the address that moved was free before it was given again.
    send("wallwatch.event", container("cni_add", second, at_s + 20, moved), container("cni_add", second, at_s + 10, address), key=second)
    # Its host reports from after the second use, so nothing earlier can still arrive.
    send("wallwatch.event", container("cni_del", first, at_s + 15, moved), key=first)
    kept = settings.state_dir / "validate" / "checkpoint.json"
    before = kept.read_bytes()
    violations = []
    for _ in range(2):
        with running_job(Validate(settings)), reading(kafka_bootstrap, "wallwatch.event") as next_event:
            violation = next_event("kind", "policy_violated")
            while violation["tags"]["host"] != second:
                violation = next_event("kind", "policy_violated")
            violations.append(violation)
        kept.write_bytes(before)  # as if it had been killed before the next checkpoint
    assert violations[0] == violations[1]
    assert violations[0]["fields"]["subject"] == f"vxlan 7 {address}"
    steps = json.loads(violations[0]["fields"]["steps"])
    assert [(step["host"], step["kinds"], step["propositions"]) for step in steps] == [
        (first, ["cni_add"], ["ADDRESS_GIVEN"]),
        (second, ["cni_add"], ["ADDRESS_GIVEN"]),
    ]
    assert violations[0]["tags"] == {"host": second, "rack": "r1", "pci": "0000:17:00.0", "kind": "policy_violated"}
    assert 500_000 <= violations[0]["timestamp"] - round((at_s + 10) * 1e6) * 1000 < 100_000_000


def test_a_checkpoint_that_is_damaged_counts_as_none(settings: Settings, send: Send, kafka_bootstrap: str) -> None:
    kept = settings.state_dir / "validate" / "checkpoint.json"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b'{"offs')
    first, second, at_s = f"a-{uuid4().hex[:8]}", f"b-{uuid4().hex[:8]}", time.time() - 60
    address = f"10.0.0.3/{uuid4().hex}"
    for host, after in ((first, 0), (second, 1)):
        send("wallwatch.event", container("cni_add", host, at_s + after, address), b"not json", key=host)
    send("wallwatch.event", container("cni_check", first, at_s + 10, address), key=first)
    with running_job(Validate(settings)), reading(kafka_bootstrap, "wallwatch.event") as next_event:
        while next_event("kind", "policy_violated")["tags"]["host"] != second:
            pass
    assert set(json.loads(kept.read_bytes())) == {"offsets", "policies"}
