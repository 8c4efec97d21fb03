"""The changelog of a job's state: a compacted topic in Kafka that has the newest content of each part, by partition of the input.

A checkpoint writes the parts that changed and then commits the offsets of the messages that changed them. Each record names the last of
these messages (`__processed_tp_offsets__`), so a process that died between the two leaves nothing that its successor would apply twice.
Topic, keys and headers are those of Quix Streams, which earlier versions were built on: their state is read on.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewTopic
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from wallwatch import kafka_clients
from wallwatch.kafka_settings import KafkaSettings

log = logging.getLogger(__name__)

TIMEOUT_S = 30.0
POLL_RECORDS, POLL_S = 1000, 1.0
OFFSETS, FAMILY = "__processed_tp_offsets__", ("__column_family__", b"default")
OFFSETS_OF_MORE = "wallwatch_offsets_of_more"
"""Offsets of topics that former versions do not read: in the header above, they would take these records for ones not committed."""
_SEPARATOR = b"|"


class ChangelogMismatch(Exception):
    """The changelog cannot be that of these topics; the message says what to do."""


class Part(NamedTuple):
    """One record: the content of a part of one host's state, None when it was deleted."""

    partition: int
    host: bytes
    name: str
    raw: bytes | None


def name_of(group: str, topics: Sequence[str]) -> str:
    """The changelog of a consumer group that reads these topics.

    >>> name_of("wallwatch-classify", ["b", "a"])
    'changelog__wallwatch-classify--a--b--default'
    """
    return f"changelog__{group}--{'--'.join(sorted(topics))}--default"


def key_of(host: bytes, name: str) -> bytes:
    """The key of a part.

    >>> key_of(b"host01", "0000:3b:00.0"), host_and_name(key_of(b"host01", "0000:3b:00.0"))
    (b'host01|"0000:3b:00.0"', (b'host01', '0000:3b:00.0'))
    """
    return host + _SEPARATOR + orjson.dumps(name)


def host_and_name(key: bytes) -> tuple[bytes, str]:
    """The host and the part that a key names."""
    host, _, name = key.rpartition(_SEPARATOR)
    return host, str(orjson.loads(name))


class Changelog:
    """Writes and reads the changelog of the state that a job derives from `topics`, after which it is named, and from `more`."""

    def __init__(self, settings: KafkaSettings, group: str, topics: Sequence[str], producer: Producer, more: Sequence[str] = ()) -> None:
        self._settings, self._group, self._topics, self._producer = settings, group, (*topics, *more), producer
        self._more = frozenset(more)
        self.topic = name_of(group, topics)

    def create(self) -> int:
        """Create the topic if it is missing, with as many partitions and replicas as the input.

        Returns
        -------
        int
            How many partitions each of these topics has.

        Raises
        ------
        ChangelogMismatch
            When it exists with another number of partitions, or the topics of the input differ in theirs.
        KafkaException
            When the broker does not answer, or a topic of the input is missing.
        """
        admin = kafka_clients.admin(self._settings)
        known = admin.list_topics(timeout=TIMEOUT_S).topics
        for topic in self._topics:
            if topic not in known or known[topic].error is not None:
                raise KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, f"{topic} is missing: run `wallwatch topics create`"))
        partitions = one_number({topic: len(known[topic].partitions) for topic in self._topics})
        if self.topic not in known:
            replicas = max(len(one.replicas) for topic in self._topics for one in known[topic].partitions.values())
            wanted = NewTopic(self.topic, num_partitions=partitions, replication_factor=replicas, config={"cleanup.policy": "compact"})
            try:
                admin.create_topics([wanted], request_timeout=TIMEOUT_S)[self.topic].result(TIMEOUT_S)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
        elif len(known[self.topic].partitions) != partitions:
            raise ChangelogMismatch(
                f"{self.topic} has {len(known[self.topic].partitions)} partitions and the input {partitions}: delete that topic while no "
                "classify runs; the state then begins again"
            )
        return partitions

    def write(self, partition: int, parts: Iterator[tuple[bytes, str, bytes]], processed: Mapping[str, int]) -> int:
        """Hand parts to the producer; the caller flushes it. `processed` has the last offset of each topic that was taken.

        Returns
        -------
        int
            How many parts there were.
        """
        headers = [FAMILY, *_offsets_headers(processed, self._more)]
        count = 0
        for host, name, raw in parts:
            key = key_of(host, name)
            while True:
                try:
                    self._producer.produce(self.topic, key=key, value=raw, partition=partition, headers=headers)
                    break
                except BufferError:  # the broker is slow or down: wait rather than lose it
                    self._producer.poll(0.1)
            count += 1
        return count

    def ends(self, partitions: Sequence[int]) -> dict[int, int]:
        """The offset after the last record of each partition."""
        reader = self._reader()
        try:
            return {one: reader.get_watermark_offsets(TopicPartition(self.topic, one), timeout=TIMEOUT_S)[1] for one in partitions}
        finally:
            reader.close()

    def read(self, begins: Mapping[int, int], stop: threading.Event) -> Iterator[Part]:
        """The records of some partitions from these offsets on, up to the present end: those whose messages were committed.

        Raises
        ------
        KafkaException
            When the broker does not answer.
        """
        if not begins:
            return
        reader = self._reader()
        try:
            committed = self._committed(reader, sorted(begins))
            ends = {one: reader.get_watermark_offsets(TopicPartition(self.topic, one), timeout=TIMEOUT_S)[1] for one in begins}
            waiting = {one for one, begin in begins.items() if ends[one] > begin}
            reader.assign([TopicPartition(self.topic, one, begins[one]) for one in sorted(waiting)])
            while waiting and not stop.is_set():
                for record in reader.consume(POLL_RECORDS, POLL_S):
                    partition = record.partition()
                    error = record.error()
                    if error is not None:
                        if error.code() == KafkaError._PARTITION_EOF:
                            waiting.discard(partition)
                        elif error.fatal():
                            raise KafkaException(error)
                        continue
                    if _is_committed(record.headers(), committed[partition]):
                        host, name = host_and_name(record.key())
                        yield Part(partition, host, name, record.value())
                    if record.offset() + 1 >= ends[partition]:
                        waiting.discard(partition)
        finally:
            reader.close()

    def _reader(self) -> Consumer:
        """A consumer that belongs to the group by name only: partitions are assigned here."""
        more = {"group.id": self._group, "enable.auto.commit": False, "auto.offset.reset": "earliest", "enable.partition.eof": True}
        return kafka_clients.consumer(self._settings, more)

    # A broker that has just started, or a group that moved, says for a moment that it is not the coordinator.
    @retry(retry=retry_if_exception_type(KafkaException), wait=wait_fixed(0.3), stop=stop_after_delay(TIMEOUT_S), reraise=True)
    def _committed(self, reader: Consumer, partitions: Sequence[int]) -> dict[int, dict[str, int]]:
        """By partition, the next offset of each topic that the group will read."""
        asked = [TopicPartition(topic, partition) for partition in partitions for topic in self._topics]
        found: dict[int, dict[str, int]] = {partition: {} for partition in partitions}
        for one in reader.committed(asked, timeout=TIMEOUT_S):
            if one.error is not None:
                raise KafkaException(one.error)  # without its offset, records that count would be left out
            found[one.partition][one.topic] = one.offset
        return found


def one_number(partitions: Mapping[str, int]) -> int:
    """The number of partitions that all these topics have.

    >>> one_number({"a": 12, "b": 12})
    12

    Raises
    ------
    ChangelogMismatch
        When they differ: messages of one host would then be in different partitions of them, and its state in several processes.
    """
    usual = Counter(partitions.values()).most_common(1)[0][0]
    others = {topic: number for topic, number in sorted(partitions.items()) if number != usual}
    if others:
        found = ", ".join(f"{topic} has {number}" for topic, number in others.items())
        remedies = [f"`kafka-topics.sh --alter --partitions {usual} --topic {name}`" for name, number in others.items() if number < usual]
        remedies += [
            f"delete {name} while no collector writes to it, and run `wallwatch topics create --partitions {usual}`"
            for name, number in others.items()
            if number > usual
        ]
        raise ChangelogMismatch(
            f"the topics of classify must have the same number of partitions, as most with {usual}; but {found}: {'; '.join(remedies)}; "
            "then start classify again"
        )
    return usual


def _offsets_headers(processed: Mapping[str, int], more: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    """What a record rests on.

    >>> list(_offsets_headers({"a": 4, "new": 7}, frozenset({"new"})))
    [('__processed_tp_offsets__', b'{"a":4}'), ('wallwatch_offsets_of_more', b'{"new":7}')]
    """
    yield OFFSETS, orjson.dumps({topic: offset for topic, offset in processed.items() if topic not in more})
    of_more = {topic: offset for topic, offset in processed.items() if topic in more}
    if of_more:
        yield OFFSETS_OF_MORE, orjson.dumps(of_more)


def _is_committed(headers: Any, committed: Mapping[str, int]) -> bool:
    """Whether the offsets of all messages that a record rests on were committed.

    >>> _is_committed([(OFFSETS, b'{"a": 4}')], {"a": 5}), _is_committed([(OFFSETS, b'{"a": 5}')], {"a": 5}), _is_committed(None, {})
    (True, False, True)
    """
    rests_on = [orjson.loads(value) or {} for name, value in headers or () if name in (OFFSETS, OFFSETS_OF_MORE) and value]
    return all(offset < committed.get(topic, -1) for offsets in rests_on for topic, offset in offsets.items())
