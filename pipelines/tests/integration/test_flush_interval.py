"""How long a process of `ingest` collects follows from its share of the partitions, as a real broker assigns them."""

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import NewTopic

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.blocks import TOPIC
from wallwatch.jobs.flush_interval import ENOUGH_ROWS, FlushInterval
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local.ports import free_ports

from .conftest import until

pytestmark = pytest.mark.integration


def member(bootstrap: str, group: str) -> Consumer:
    made = kafka_clients.consumer(KafkaSettings(kafka_bootstrap=bootstrap), {"group.id": group, "auto.offset.reset": "latest"})
    made.subscribe([TOPIC])
    return made


def polled(consumers: list[Consumer], ask: Callable[[], Any]) -> bool:
    """Poll as jobs do until the answer is true."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for consumer in consumers:
            consumer.poll(0.05)
        if ask():
            return True
    return False


def test_a_process_collects_for_longer_while_another_has_half_of_the_partitions(kafka_bootstrap: str) -> None:
    group, interval = f"flush-{uuid4()}", FlushInterval(0.25, TOPIC)
    first = member(kafka_bootstrap, group)
    assert polled([first], lambda: len(first.assignment()) == 2)
    interval.follow(first)
    assert (interval.processes, interval.seconds) == (1, 0.25)
    second = member(kafka_bootstrap, group)
    try:
        assert polled([first, second], lambda: len(first.assignment()) == len(second.assignment()) == 1)
        interval.follow(first)
        assert (interval.processes, interval.seconds) == (2, 0.5)
        interval.collected(ENOUGH_ROWS, 0.25)
        assert interval.seconds == 0.25, "what comes in an interval is enough"
    finally:
        second.close()
    assert polled([first], lambda: len(first.assignment()) == 2)
    interval.follow(first)
    assert interval.processes == 1
    first.close()


class Noted:
    """A consumer of which it is noted how often the broker is asked."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self.asked = 0

    def assignment(self) -> list[TopicPartition]:
        return self._consumer.assignment()

    def list_topics(self, topic: str, timeout: float) -> Any:
        self.asked += 1
        return self._consumer.list_topics(topic, timeout=timeout)


def a_consumer(bootstrap: str) -> Consumer:
    return kafka_clients.consumer(KafkaSettings(kafka_bootstrap=bootstrap), {"group.id": "g", "log_level": 0})


def noted(bootstrap: str, topic: str = TOPIC) -> Any:
    made = a_consumer(bootstrap)
    made.assign([TopicPartition(topic, 0)])
    return Noted(made)


def test_while_the_broker_does_not_answer_the_interval_stays_and_it_is_asked_seldom(kafka_bootstrap: str) -> None:
    now_s = 0.0
    interval = FlushInterval(0.25, TOPIC, lambda: now_s)
    away = noted(f"127.0.0.1:{free_ports(1)[0]}")
    began = time.monotonic()
    for _ in range(12):  # of the 5 s after which a process looks
        interval.follow(away)
        now_s += 5.0
    assert (away.asked, interval.processes) == (1, 1)
    assert time.monotonic() - began < 2.0, "the thread that reads has waited for one short answer"
    interval.follow(away)
    assert away.asked == 2
    there = noted(kafka_bootstrap)
    interval.follow(there)
    assert (there.asked, interval.processes) == (0, 1), "not yet"
    now_s += 60.0
    for _ in range(3):
        interval.follow(there)
        now_s += 60.0
    assert (there.asked, interval.processes) == (1, 2), "once it has answered, it is not asked again"


def test_a_topic_without_partitions_is_not_one_process(kafka_bootstrap: str) -> None:
    topic, now_s = f"later-{uuid4()}", 0.0
    interval = FlushInterval(0.25, topic, lambda: now_s)
    consumer = noted(kafka_bootstrap, topic)
    interval.follow(consumer)
    assert (consumer.asked, interval.processes) == (1, 1)
    admin = kafka_clients.admin(KafkaSettings(kafka_bootstrap=kafka_bootstrap))
    admin.create_topics([NewTopic(topic, 3)])[topic].result(30)
    try:

        def found() -> bool:
            nonlocal now_s
            now_s += 60.0
            interval.follow(consumer)
            return interval.processes == 3

        assert until(found)
    finally:
        admin.delete_topics([topic])[topic].result(30)


def test_the_former_number_holds_until_the_broker_says_another(kafka_bootstrap: str) -> None:
    interval = FlushInterval(0.25, TOPIC)
    interval.follow(noted(kafka_bootstrap))
    assert interval.processes == 2
    away = a_consumer(f"127.0.0.1:{free_ports(1)[0]}")
    away.assign([TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)])
    interval.follow(away)
    assert interval.processes == 1
    away.unassign()
    interval.follow(away)
    assert interval.processes == 1


@pytest.mark.parametrize(("processes", "rows_per_s", "seconds"), [(1, 10, 0.25), (8, 10, 0.75), (8, 4_000, 0.5), (8, 80_000, 0.25)])
def test_collecting_ends_with_enough_rows_and_never_before_the_interval(processes: int, rows_per_s: int, seconds: float) -> None:
    interval = FlushInterval(0.25, TOPIC)
    interval.processes = processes
    interval.collected(rows_per_s, 1.0)
    assert interval.seconds == seconds
