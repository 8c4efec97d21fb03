"""How far a consumer group is behind, and reading a topic to its present end."""

from collections.abc import Sequence

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Message, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

REQUEST_TIMEOUT_S = 15


def _partitions(admin: AdminClient, topics: Sequence[str]) -> list[TopicPartition]:
    known = admin.list_topics(timeout=REQUEST_TIMEOUT_S).topics
    return [TopicPartition(topic, number) for topic in topics for number in known[topic].partitions]


def ends(bootstrap: str, topics: Sequence[str]) -> dict[tuple[str, int], int]:
    """The next offset of every partition."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    partitions = _partitions(admin, topics)
    answers = admin.list_offsets(dict.fromkeys(partitions, OffsetSpec.latest()))
    return {(one.topic, one.partition): future.result(REQUEST_TIMEOUT_S).offset for one, future in answers.items()}


def committed(bootstrap: str, group: str) -> dict[tuple[str, int], int]:
    """The committed offset of every partition that the group has committed."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    [future] = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    found = future.result(REQUEST_TIMEOUT_S).topic_partitions or []
    return {(one.topic, one.partition): one.offset for one in found if one.offset >= 0}


def lag(bootstrap: str, group: str, topics: Sequence[str]) -> int:
    """Messages in the topics that the group has not committed yet."""
    done = committed(bootstrap, group)
    return sum(end - done.get(place, 0) for place, end in ends(bootstrap, topics).items())


def read_all(bootstrap: str, topic: str) -> list[Message]:
    """Every message of the topic up to its present end."""
    last = ends(bootstrap, [topic])
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reads-all", "enable.auto.commit": False, "enable.partition.eof": False}
    )
    found: list[Message] = []
    try:
        consumer.assign([TopicPartition(name, number, 0) for (name, number), end in last.items() if end > 0])
        missing = sum(last.values())
        while len(found) < missing:
            got = [message for message in consumer.consume(500, REQUEST_TIMEOUT_S) if message.error() is None]
            assert got, f"{topic}: {len(found)} of {missing} messages were read"
            found += got
    finally:
        consumer.close()
    return found
