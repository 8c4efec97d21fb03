"""Partitions whose messages stay away, on a real broker: a paused partition looks to the watch like one that the client has lost."""

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import NewTopic

from wallwatch import kafka_clients
from wallwatch.jobs import stalled
from wallwatch.jobs.stalled import PartitionsStalled, StalledPartitions
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local.ports import free_ports

pytestmark = pytest.mark.integration
PATIENCE_S = 60.0


@pytest.fixture
def broker(kafka_bootstrap: str) -> KafkaSettings:
    return KafkaSettings(kafka_bootstrap=kafka_bootstrap)


@pytest.fixture
def topic(broker: KafkaSettings) -> str:
    name = f"stalled-{uuid4().hex[:8]}"
    admin = kafka_clients.admin(broker)
    for made in admin.create_topics([NewTopic(name, 2, 1)]).values():
        made.result(PATIENCE_S)
    producer = kafka_clients.producer(broker)
    for partition in (0, 1):
        producer.produce(name, b"1", partition=partition)
    assert producer.flush(PATIENCE_S) == 0
    return name


@pytest.fixture
def consumer(broker: KafkaSettings, topic: str) -> Iterator[Consumer]:
    made = kafka_clients.consumer(broker, {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    made.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])
    yield made
    made.close()


def read_until(consumer: Consumer, watch: StalledPartitions, count: int) -> None:
    deadline, found = time.monotonic() + PATIENCE_S, 0
    while found < count:
        messages = consumer.consume(10, 0.05)
        found += len(messages)
        watch.check(drained=len(messages) < 10)
        assert time.monotonic() < deadline


def test_a_partition_whose_messages_stay_away_is_named(consumer: Consumer, broker: KafkaSettings, topic: str) -> None:
    consumer.pause([TopicPartition(topic, 1)])
    read_until(consumer, StalledPartitions("test", consumer, broker, after_s=1e6), 1)
    with pytest.raises(PartitionsStalled, match=f"^{topic}/1: "):
        read_until(consumer, StalledPartitions("test", consumer, broker, after_s=0.5, ask_every_s=0.1), 1)


def test_partitions_that_have_been_read_to_the_end_are_none(consumer: Consumer, broker: KafkaSettings, topic: str) -> None:
    read_until(consumer, StalledPartitions("test", consumer, broker, after_s=1e6), 2)
    watch = StalledPartitions("test", consumer, broker, after_s=0.0, ask_every_s=0.0)
    for _ in range(5):
        watch.check(drained=True)


def test_what_was_committed_counts_as_read(consumer: Consumer, broker: KafkaSettings, topic: str) -> None:
    consumer.commit(offsets=[TopicPartition(topic, 0, 1), TopicPartition(topic, 1, 1)], asynchronous=False)
    consumer.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])
    watch = StalledPartitions("test", consumer, broker, after_s=0.0, ask_every_s=0.0)
    watch.check(drained=True)


def test_a_wait_that_the_job_caused_is_forgotten(consumer: Consumer, broker: KafkaSettings, topic: str) -> None:
    watch = StalledPartitions("test", consumer, broker, after_s=1e-9, ask_every_s=0.0)
    consumer.pause([TopicPartition(topic, 1)])
    for _ in range(3):
        watch.check(drained=True)
        watch.forget()
    watch.check(drained=True)
    with pytest.raises(PartitionsStalled):
        watch.check(drained=True)


def test_a_job_that_has_messages_at_hand_has_lost_none(consumer: Consumer, broker: KafkaSettings, topic: str) -> None:
    consumer.pause([TopicPartition(topic, 1)])
    watch = StalledPartitions("test", consumer, broker, after_s=1e-9, ask_every_s=0.0)
    for _ in range(3):
        watch.check(drained=False)
    watch.check(drained=True)
    with pytest.raises(PartitionsStalled):
        watch.check(drained=True)


def test_a_broker_that_does_not_answer_stalls_nothing(consumer: Consumer, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalled, "_ANSWER_S", 0.5)
    consumer.pause([TopicPartition(topic, 0), TopicPartition(topic, 1)])
    [port] = free_ports(1)
    watch = StalledPartitions("test", consumer, KafkaSettings(kafka_bootstrap=f"127.0.0.1:{port}"), after_s=0.0, ask_every_s=0.0)
    for _ in range(2):
        watch.check(drained=True)
