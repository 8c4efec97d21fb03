"""How long a process of `ingest` collects follows from its share of the partitions, as a real broker assigns them."""

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, TopicPartition

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.blocks import TOPIC
from wallwatch.jobs import flush_interval
from wallwatch.jobs.flush_interval import ENOUGH_ROWS, FlushInterval
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local.ports import free_ports

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


def test_while_the_broker_does_not_answer_the_interval_stays_and_it_is_asked_again(
    kafka_bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush_interval, "_ANSWER_S", 0.2)
    interval = FlushInterval(0.25, TOPIC)
    away = Consumer({"bootstrap.servers": f"127.0.0.1:{free_ports(1)[0]}", "group.id": "g", "log_level": 0})
    away.assign([TopicPartition(TOPIC, 0)])
    interval.follow(away)
    assert interval.processes == 1
    there = Consumer({"bootstrap.servers": kafka_bootstrap, "group.id": "g"})
    there.assign([TopicPartition(TOPIC, 0)])
    interval.follow(there)
    assert interval.processes == 2
    for consumer in (away, there):
        consumer.close()


@pytest.mark.parametrize(("processes", "rows_per_s", "seconds"), [(1, 10, 0.25), (8, 10, 0.75), (8, 4_000, 0.5), (8, 80_000, 0.25)])
def test_collecting_ends_with_enough_rows_and_never_before_the_interval(processes: int, rows_per_s: int, seconds: float) -> None:
    interval = FlushInterval(0.25, TOPIC)
    interval.processes = processes
    interval.collected(rows_per_s, 1.0)
    assert interval.seconds == seconds
