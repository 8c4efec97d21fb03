"""The job's watch over functions: from samples and the active model in the store to findings on Kafka."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
from prometheus_client import REGISTRY

from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.profile_files import ProfileFile, read_profiles, train_profiles
from wallwatch.jobs.contention import ContentionWatch

EXAMPLES = Path(__file__).resolve().parents[3] / "docs/examples/functions"
MINUTE = int(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()) // 60


class Sink:
    """Keeps what would go to Kafka."""

    def __init__(self) -> None:
        self.findings: list[dict[str, Any]] = []

    def produce(self, topic: str, key: bytes, value: bytes, headers: list[tuple[str, bytes]]) -> None:
        assert topic == "wallwatch.findings"
        assert ("ce_type", b"wallwatch.findings") in headers
        self.findings.append(orjson.loads(value))


@pytest.fixture
def rnic_id(connection: psycopg.Connection[Any], host: str) -> int:
    """A card with an active model of `firewall` on it."""
    files = [ProfileFile(file.name, file.read_text()) for file in sorted((EXAMPLES / "firewall").iterdir())]
    profiles = read_profiles(files)
    model, own = train_profiles("firewall", profiles, Pattern.PIPELINE), profiles.own_load
    assert own is not None
    connection.execute("DELETE FROM nf_model_version")
    connection.execute(
        """INSERT INTO nf_model_version (id, function, nic_model, number, state, model, card, own_load, note, created_by)
           VALUES (gen_random_uuid(), 'firewall', 'BF-2', 1, 'active', %s, '{}', %s, '', 'test')""",
        [orjson.dumps(model.as_json()).decode(), orjson.dumps(own.as_json()).decode()],
    )
    row = connection.execute("INSERT INTO rnic (host, pci, model) VALUES (%s, '0000:03:00.0', 'BF-2') RETURNING rnic_id", [host]).fetchone()
    assert row is not None
    return int(row[0])


def sample(connection: psycopg.Connection[Any], rnic_id: int, minute: int, kpps: float) -> None:
    for second in (5, 35):
        at = datetime.fromtimestamp(minute * 60, UTC) + timedelta(seconds=second)
        connection.execute(
            """INSERT INTO function_sample (time, rnic_id, function, container, pod, flows, packet_bytes, throughput_kpps, offered_kpps)
               VALUES (%s, %s, 'firewall', 'c1', 'net/fw-0', 8000, 1518, %s, 5000)""",
            [at, rnic_id, kpps],
        )


def prediction_errors() -> tuple[float, float]:
    """Number and sum of what the job counted for `firewall`."""
    name, labels = "wallwatch_function_prediction_error_ratio", {"function": "firewall"}
    return REGISTRY.get_sample_value(f"{name}_count", labels) or 0.0, REGISTRY.get_sample_value(f"{name}_sum", labels) or 0.0


def test_a_function_that_is_slower_than_its_model_for_five_minutes_is_reported_until_it_recovers(
    connection: psycopg.Connection[Any], rnic_id: int, host: str
) -> None:
    sink = Sink()
    watch = ContentionWatch(sink)  # type: ignore[arg-type]
    sampled, summed = prediction_errors()
    for minute in range(MINUTE, MINUTE + 5):
        sample(connection, rnic_id, minute, 700.0)
        watch.step(connection, minute)
    (raised,) = sink.findings
    more, sum_of_more = (now - then for now, then in zip(prediction_errors(), (sampled, summed), strict=True))
    assert more == 5, "the metric that shows how a model ages counts each minute"
    assert sum_of_more / more > 0.1
    assert (raised["host"], raised["symptom"], raised["state"], raised["model"]) == (host, "contention", "active", "BF-2")
    assert raised["summary"].startswith("net/fw-0 gets 700 kpps")
    assert watch.step(connection, MINUTE + 4) == 0

    again = ContentionWatch(sink)  # type: ignore[arg-type]  # a new process reads the history, and judges the newest minute only
    assert again.step(connection, MINUTE + 4) == 0

    for minute in range(MINUTE + 5, MINUTE + 12):
        sample(connection, rnic_id, minute, 1300.0)
        watch.step(connection, minute)
    assert [finding["state"] for finding in sink.findings] == ["active", "cleared"]


def test_without_any_model_nothing_is_judged(connection: psycopg.Connection[Any], rnic_id: int) -> None:
    connection.execute("UPDATE nf_model_version SET state = 'retired'")
    sink = Sink()
    watch = ContentionWatch(sink)  # type: ignore[arg-type]
    for minute in range(MINUTE, MINUTE + 6):
        sample(connection, rnic_id, minute, 1.0)
        watch.step(connection, minute)
    assert sink.findings == []
