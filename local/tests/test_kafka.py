from pathlib import Path

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import ConfigResource

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.registry import topics
from wallwatch.jobs.topics import create_topics
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import kafka
from wallwatch_local.errors import LocalStackError


def consume_one(bootstrap: str, topic: str) -> bytes | None:
    consumer = kafka_clients.consumer(KafkaSettings(kafka_bootstrap=bootstrap), {"group.id": "test", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        message = consumer.poll(90)
        assert message is not None, "no answer"
        assert message.error() is None, message.error()
        return message.value()
    finally:
        consumer.close()


@pytest.mark.integration
def test_a_broker_keeps_its_topics_and_messages_over_a_restart(tmp_path: Path, free_port: int) -> None:
    with kafka.start(tmp_path, free_port) as bootstrap:
        assert set(create_topics(KafkaSettings(kafka_bootstrap=bootstrap), partitions=1).values()) == {"created"}
        producer = kafka_clients.producer(KafkaSettings(kafka_bootstrap=bootstrap))
        producer.produce("wallwatch.event", key="host01", value=b"hello")
        assert producer.flush(60) == 0
    assert not kafka.is_ready(bootstrap)
    with kafka.start(tmp_path, free_port) as bootstrap:
        assert set(create_topics(KafkaSettings(kafka_bootstrap=bootstrap)).values()) == {"exists"}
        assert consume_one(bootstrap, "wallwatch.event") == b"hello"


@pytest.mark.integration
def test_topics_have_the_declared_retention(kafka_bootstrap: str) -> None:
    client = kafka_clients.admin(KafkaSettings(kafka_bootstrap=kafka_bootstrap))
    resource = ConfigResource(ConfigResource.Type.TOPIC, "wallwatch.dead_letter")
    settings = client.describe_configs([resource])[resource].result(60)
    assert settings["retention.ms"].value == str(topics()["wallwatch.dead_letter"].retention_hours * 3_600_000)


@pytest.mark.integration
def test_a_misspelt_topic_is_an_error_and_never_a_new_topic(kafka_bootstrap: str) -> None:
    client = kafka_clients.admin(KafkaSettings(kafka_bootstrap=kafka_bootstrap))
    asked_for = client.list_topics("wallwatch.rnik", timeout=60).topics["wallwatch.rnik"]
    assert asked_for.error is not None
    assert asked_for.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    assert "wallwatch.rnik" not in client.list_topics(timeout=60).topics


def test_without_the_jars_the_error_says_to_run_setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLWATCH_TOOLS_DIR", str(tmp_path))
    with pytest.raises(LocalStackError, match="make setup"), kafka.start(tmp_path):
        pass
