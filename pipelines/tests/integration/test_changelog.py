"""The changelog of a job's state on real Kafka: what was committed comes back, and nothing else."""

import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from wallwatch import kafka_clients
from wallwatch.jobs.changelog import Changelog, ChangelogMismatch, Part
from wallwatch.settings import Settings

pytestmark = [pytest.mark.integration, pytest.mark.long]
TOPIC = "wallwatch.rnic"


@pytest.fixture
def producer(settings: Settings) -> Producer:
    return kafka_clients.producer(settings, {"compression.type": "lz4"})


@pytest.fixture
def changelog(settings: Settings, producer: Producer) -> Changelog:
    found = Changelog(settings, settings.classify_group, [TOPIC], producer)
    found.create()
    return found


@pytest.fixture
def group(settings: Settings) -> Iterator[Consumer]:
    """Commits offsets for the job."""
    consumer = kafka_clients.consumer(settings, {"group.id": settings.classify_group, "enable.auto.commit": False})
    yield consumer
    consumer.close()


def commit(group: Consumer, next_offset: int) -> None:
    group.commit(offsets=[TopicPartition(TOPIC, 0, next_offset)], asynchronous=False)


def write(changelog: Changelog, producer: Producer, last_offset: int, *parts: tuple[bytes, str, bytes]) -> None:
    assert changelog.write(0, iter(parts), {TOPIC: last_offset}) == len(parts)
    assert producer.flush(90) == 0


def read(changelog: Changelog, begin: int = 0) -> list[Part]:
    return list(changelog.read({0: begin}, threading.Event()))


def test_what_was_committed_comes_back_and_what_was_not_does_not(changelog: Changelog, producer: Producer, group: Consumer) -> None:
    assert read(changelog) == []
    write(changelog, producer, 4, (b"host01", "host", b"a"), (b"host01", "0000:3b:00.0", b"b"))
    assert read(changelog) == []  # the process died before it committed: the messages come again
    commit(group, 5)
    first = [Part(0, b"host01", "host", b"a"), Part(0, b"host01", "0000:3b:00.0", b"b")]
    assert read(changelog) == first
    write(changelog, producer, 6, (b"host01", "host", b"c"))
    assert read(changelog) == first
    commit(group, 7)
    assert read(changelog) == [*first, Part(0, b"host01", "host", b"c")]


def test_a_process_that_gave_a_partition_up_reads_only_what_came_since(changelog: Changelog, producer: Producer, group: Consumer) -> None:
    write(changelog, producer, 4, (b"host01", "host", b"a"))
    commit(group, 5)
    end = changelog.ends([0])[0]
    assert read(changelog, end) == []
    write(changelog, producer, 5, (b"host02", "host", b"b"))
    commit(group, 6)
    assert read(changelog, end) == [Part(0, b"host02", "host", b"b")]


def test_the_topic_is_created_once_and_compacted(changelog: Changelog, settings: Settings) -> None:
    partitions = changelog.create()
    known = kafka_clients.admin(settings).list_topics(timeout=60).topics
    assert len(known[changelog.topic].partitions) == len(known[TOPIC].partitions) == partitions


def test_a_changelog_of_another_number_of_partitions_is_refused(settings: Settings, producer: Producer) -> None:
    changelog = Changelog(settings, settings.classify_group, [TOPIC], producer)
    admin = kafka_clients.admin(settings)
    partitions = len(admin.list_topics(timeout=60).topics[TOPIC].partitions) + 1
    admin.create_topics([NewTopic(changelog.topic, partitions, 1)])[changelog.topic].result(60)
    with pytest.raises(ChangelogMismatch, match=f"has {partitions} partitions"):
        changelog.create()


def test_a_missing_input_is_reported(settings: Settings, producer: Producer) -> None:
    with pytest.raises(KafkaException, match="run `wallwatch topics create`"):
        Changelog(settings, settings.classify_group, ["wallwatch.no-such-topic"], producer).create()
