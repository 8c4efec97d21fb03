"""What the jobs do with Kafka in the same way: produce without losing a message, report errors, measure the lag."""

from __future__ import annotations

import logging
import threading
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from wallwatch.domain.telemetry.envelope import headers_of

log = logging.getLogger(__name__)

TOPIC_RETRY_S = 1.0


def produce(producer: Producer, topic: str, key: str, value: bytes) -> None:
    """Hand a message to the producer. While its queue is full because the broker is down or slow, wait rather than lose it."""
    headers = headers_of(topic, key, value)
    while True:
        try:
            producer.produce(topic, key=key.encode(), value=value, headers=headers)
            return
        except BufferError:
            producer.poll(0.1)


def lag_of(consumer: Consumer) -> int:
    """Messages in the assigned partitions that have not been read; what is unknown counts as none."""
    lag = 0
    try:
        for position in consumer.position(consumer.assignment()):
            _, high = consumer.get_watermark_offsets(position, cached=True)
            if position.offset >= 0 and high >= 0:
                lag += max(high - position.offset, 0)
    except KafkaException:
        return lag
    return lag


def report(error: KafkaError, stop: threading.Event) -> None:
    """Log an error of the consumer; a missing topic is an order to the operator, and is waited for."""
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        log.error("a topic is missing: run `wallwatch topics create` (%s)", error.str())
        stop.wait(TOPIC_RETRY_S)
    elif error.code() != KafkaError._PARTITION_EOF:
        log.warning("Kafka: %s", error.str())


def consume(consumer: Consumer, most: int, wait_s: float, stop: threading.Event) -> list[Any]:
    """The next messages, without errors, which are reported."""
    messages = []
    for message in consumer.consume(most, wait_s):
        if message.error() is None:
            messages.append(message)
        else:
            report(message.error(), stop)
    return messages
