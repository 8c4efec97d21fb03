"""The lag of a consumer group, beginning one at the end of a topic, and reading a topic to its current end."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from wallwatch import kafka_clients
from wallwatch.kafka_settings import KafkaSettings

REQUEST_TIMEOUT_S = 15
READY_S = 90
Place = tuple[str, int]
Kafka = str | KafkaSettings
"""Addresses of brokers that ask nobody, or settings with credentials."""


@contextmanager
def _consumer(kafka: Kafka, group: str) -> Iterator[Consumer]:
    """A client that reads a group's offsets without joining it."""
    settings = kafka if isinstance(kafka, KafkaSettings) else KafkaSettings(kafka_bootstrap=kafka)
    consumer = kafka_clients.consumer(settings, {"group.id": group, "enable.auto.commit": False})
    try:
        yield consumer
    finally:
        consumer.close()


def _partitions(consumer: Consumer, topics: Sequence[str]) -> list[TopicPartition]:
    known = consumer.list_topics(timeout=REQUEST_TIMEOUT_S).topics
    return [TopicPartition(topic, number) for topic in topics if topic in known for number in known[topic].partitions]


# A broker that has just started says that it does not lead the partition, is not the group's coordinator, or is not ready to be.
_until_ready = retry(retry=retry_if_exception_type(KafkaException), wait=wait_fixed(0.3), stop=stop_after_delay(READY_S), reraise=True)


@_until_ready
def _ends(consumer: Consumer, topics: Sequence[str]) -> dict[Place, int]:
    partitions = _partitions(consumer, topics)
    return {(one.topic, one.partition): consumer.get_watermark_offsets(one, timeout=REQUEST_TIMEOUT_S)[1] for one in partitions}


@_until_ready
def _committed(consumer: Consumer, topics: Sequence[str]) -> dict[Place, int]:
    found = consumer.committed(_partitions(consumer, topics), timeout=REQUEST_TIMEOUT_S)
    return {(one.topic, one.partition): one.offset for one in found if one.offset >= 0}


def ends(kafka: Kafka, topics: Sequence[str]) -> dict[Place, int]:
    """The next offset of every partition."""
    with _consumer(kafka, "asks-only") as consumer:
        return _ends(consumer, topics)


def committed(kafka: Kafka, group: str, topics: Sequence[str]) -> dict[Place, int]:
    """The committed offset of every partition that the group has committed."""
    with _consumer(kafka, group) as consumer:
        return _committed(consumer, topics)


def begin_at_ends(kafka: Kafka, group: str, topic: str) -> None:
    """Commit the current ends of a topic for a group, so that it reads what is sent from now on."""
    with _consumer(kafka, group) as consumer:
        offsets = [TopicPartition(*place, end) for place, end in _ends(consumer, [topic]).items()]
        assert offsets, f"there is no topic {topic}"
        _until_ready(consumer.commit)(offsets=offsets, asynchronous=False)


def lag(kafka: Kafka, group: str, topics: Sequence[str]) -> int:
    """Messages in the topics that the group has not committed yet."""
    with _consumer(kafka, group) as consumer:
        done = _committed(consumer, topics)
        return sum(end - done.get(place, 0) for place, end in _ends(consumer, topics).items())


def read_all(kafka: Kafka, topic: str) -> list[Message]:
    """Every message of the topic up to its current end."""
    last = ends(kafka, [topic])
    found: list[Message] = []
    with _consumer(kafka, "reads-all") as consumer:
        consumer.assign([TopicPartition(name, number, 0) for (name, number), end in last.items() if end > 0])
        missing = sum(last.values())
        while len(found) < missing:
            # `consume` waits for as many as it is asked for, so it is never asked for more than there are.
            asked = min(500, missing - len(found))
            got = [message for message in consumer.consume(asked, REQUEST_TIMEOUT_S) if message.error() is None]
            assert got, f"{topic}: {len(found)} of {missing} messages were read"
            found += got
    return found
