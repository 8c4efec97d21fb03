"""The job `classify`: telemetry in, findings out. A thin shell around `domain/symptoms`.

State is per host (the key of the topics) and in memory (`host_state`), with a changelog topic in Kafka from which any process of the group
restores it. A checkpoint writes what changed, waits until Kafka has that and the findings, and commits the offsets. This job only counts
refused messages; ingest reads the same topics and sends each refused message to the dead-letter topic once.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from wallwatch import kafka_clients
from wallwatch.domain.catalogue import local_rules
from wallwatch.domain.symptoms.host_stage import MEASUREMENTS, Message
from wallwatch.domain.symptoms.peers import Peers
from wallwatch.domain.telemetry import blocks
from wallwatch.domain.telemetry.blocks import BlockReader
from wallwatch.domain.telemetry.decode import Refused, Sender, decode
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs import kafka
from wallwatch.jobs.changelog import Changelog
from wallwatch.jobs.garbage import Garbage
from wallwatch.jobs.host_samples import IGNORED, judge
from wallwatch.jobs.host_state import HostStates
from wallwatch.jobs.metrics import DEAD_LETTERS, FINDINGS, IGNORED_SAMPLES, LAG, MESSAGES, SAMPLES, WHOLE_FLEET, serve
from wallwatch.jobs.stalled import StalledPartitions
from wallwatch.jobs.time_order import Place, TimeOrder
from wallwatch.settings import Settings
from wallwatch.store.local_rules import accepted_rules
from wallwatch.store.promoted import ProfileWatcher
from wallwatch.store.telemetry_secret import TelemetryKeys

log = logging.getLogger(__name__)

OUTPUT = "wallwatch.findings"
TOPICS = {f"wallwatch.{name}": measurements()[name] for name in MEASUREMENTS}
POLL_MESSAGES, POLL_S = 400, 0.1
FLUSH_S = 60.0
"""How long a checkpoint waits for Kafka before it reports that it waits."""
RETRY_S = 2.0
CATCHING_UP_NS = 60_000_000_000
"""Older messages are read after a break, when partitions are not read at the same pace: what peers count is then unknown."""

_read = {topic: MESSAGES.labels("classify", topic) for topic in (*TOPICS, blocks.TOPIC)}
_samples_read = SAMPLES.labels("classify")
_ignored = [IGNORED_SAMPLES.labels(why) for why in IGNORED]
_failed = IGNORED_SAMPLES.labels("failed")


class Classifier:
    """Takes messages and returns findings.

    `future_ns` is how far a sample may be ahead of this clock; `sender` returns what a message with this record key is checked with.
    """

    def __init__(
        self, states: HostStates, future_ns: int, sender: Callable[[bytes | None], Sender | None] = lambda record_key: None
    ) -> None:
        self._states = states
        self._future_ns = future_ns
        self._sender = sender
        self._peers = Peers()
        self._whole_fleet = True
        self._blocks = BlockReader(MEASUREMENTS)

    def hear(self, whole_fleet: bool) -> None:
        """Say whether the messages of all hosts come to this process."""
        if whole_fleet != self._whole_fleet:
            log.info("counters of peers are %s", "judged" if whole_fleet else "not judged: other processes read a part of the fleet")
        self._whole_fleet = whole_fleet
        WHOLE_FLEET.set(whole_fleet)

    def take(self, messages: Iterable[Any]) -> list[dict[str, Any]]:
        """The findings of some messages of Kafka, which are taken in their order."""
        found: list[dict[str, Any]] = []
        counts: Counter[str] = Counter()
        taken, now_ns = 0, time.time_ns()
        heard_from_ns = now_ns - CATCHING_UP_NS if self._whole_fleet else sys.maxsize
        for message in messages:
            topic = message.topic()
            counts[topic] += 1
            try:
                samples = self._samples(message, topic, now_ns + self._future_ns)
            except Refused as refusal:
                DEAD_LETTERS.labels("classify", topic, refusal.reason).inc()
                continue
            if not samples:
                continue
            taken += len(samples)
            state = self._states.of(message.partition(), message.key() or samples[0].tags["host"].encode())
            try:
                findings, ignored = judge(state, samples, self._peers, heard_from_ns)
            except Exception:  # a defect of ours: one host must not stop the job for all others, who would wait for ever
                log.exception("samples of the host %s cannot be judged", samples[0].tags["host"])
                _failed.inc(len(samples))
                continue
            found += findings
            if any(ignored):
                for counter, count in zip(_ignored, ignored, strict=True):
                    counter.inc(count)
        for topic, count in counts.items():
            _read[topic].inc(count)
        _samples_read.inc(taken)
        return found

    def _samples(self, message: Any, topic: str, latest_ns: int) -> list[Message]:
        """The sample of a message, or those of a block."""
        sender = self._sender(message.key())
        if topic != blocks.TOPIC:
            return [Message(TOPICS[topic].name, *decode(message.value(), TOPICS[topic], latest_ns, sender))]
        samples, refused = self._blocks.read_rows(message.value(), latest_ns, sender)
        for row in refused:
            DEAD_LETTERS.labels("classify", row.topic, row.reason).inc()
        return samples


def hears_all(places: Iterable[TopicPartition], partitions: int) -> bool:
    """Whether these are all partitions of every topic: `range` gives topics that only some processes read to those alone."""
    assigned = {(one.topic, one.partition) for one in places}
    return assigned == {(topic, number) for topic in (*TOPICS, blocks.TOPIC) for number in range(partitions)}


class Classify:
    """The running job; `run` returns after `stop`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stop = threading.Event()
        self._consumer = kafka_clients.consumer(
            settings,
            {
                "group.id": settings.classify_group,
                "client.id": "wallwatch-classify",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                # All topics have the same number of partitions and the same key: `range` assigns one host's topics to one process.
                "partition.assignment.strategy": "range",
                "session.timeout.ms": 10_000,  # how long a killed process keeps its partitions
                "queued.max.messages.kbytes": 16_384,
                # Each partition may be that much above it, and several times that once decompressed.
                "max.partition.fetch.bytes": 262_144,
                # A few large answers instead of one for each message that comes: they cost the client and the broker much.
                "fetch.wait.max.ms": 100,
                "fetch.min.bytes": 131_072,
                "enable.partition.eof": True,
            },
        )
        self._stalled = StalledPartitions("classify", self._consumer, settings)
        # What a checkpoint writes waits for Kafka without a time limit: offsets are committed only when all of it has arrived.
        self._producer = kafka_clients.producer(
            settings,
            {
                "linger.ms": 5,
                "compression.type": "zstd",  # as the topics have it
                "enable.idempotence": True,
                "message.timeout.ms": 0,
                "queue.buffering.max.kbytes": 16_384,
                "delivery.report.only.error": True,
                "on_delivery": self._delivered,
            },
        )
        self._changelog = Changelog(settings, settings.classify_group, tuple(TOPICS), self._producer, more=(blocks.TOPIC,))
        self._keys = TelemetryKeys(settings.telemetry_secret_file)
        self._states = HostStates()
        self._classifier = Classifier(self._states, settings.future_tolerance_s * 1_000_000_000, self._keys.sender)
        self._processed: dict[tuple[str, int], int] = {}
        """Topic and partition -> the last message that was taken since the last checkpoint."""
        self._order = TimeOrder()
        self._paused: set[Place] = set()
        self._partitions = 0
        """Of each topic, as Kafka has them: an installation may have another number than is declared."""
        self._changelog_ends: dict[int, int] = {}
        """Where the changelog of a partition ended when it was given up."""
        self._refused: KafkaError | None = None

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Run until `stop`; raises what only a new start can repair."""
        serve(self._settings.metrics_port)
        self._settings.state_dir.mkdir(parents=True, exist_ok=True)
        local_rules.use(accepted_rules(self._settings.libpq_url, self._settings.state_dir / "local-rules.yaml"))
        ProfileWatcher(self._settings.libpq_url, self._stop).start()
        garbage = Garbage()
        try:
            if self._keys.wait(self._stop) and self._create_changelog():
                self._consumer.subscribe([*TOPICS, blocks.TOPIC], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
                self._read_all(garbage)
                self._checkpoint()
        except BaseException:
            self._processed.clear()  # messages may be half taken: nothing of them is saved, and they are read again
            raise
        finally:
            self._consumer.close()

    def _create_changelog(self) -> bool:
        """Wait until Kafka answers and has the topics; False after `stop`."""
        while not self._stop.is_set():
            try:
                self._partitions = self._changelog.create()
                return True
            except KafkaException as error:
                log.error("waiting for Kafka: %s", error.args[0].str())
                self._stop.wait(RETRY_S)
        return False

    def _read_all(self, garbage: Garbage) -> None:
        next_checkpoint = time.monotonic() + self._settings.classify_commit_s
        while not self._stop.is_set():
            messages = self._consume()
            if self._stop.is_set():
                return  # perhaps while the state was being restored
            for finding in self._classifier.take(messages):
                FINDINGS.labels(finding["symptom"], finding["state"]).inc()
                kafka.produce(self._producer, OUTPUT, finding["host"], orjson.dumps(finding))
            for message in messages:
                self._processed[message.topic(), message.partition()] = message.offset()
            self._producer.poll(0)
            if time.monotonic() >= next_checkpoint:
                self._checkpoint()
                LAG.labels("classify").set(kafka.lag_of(self._consumer))
                next_checkpoint = time.monotonic() + self._settings.classify_commit_s
            garbage.collect_when_due()

    def _consume(self) -> list[Any]:
        """The next messages of each partition, in the order in which they were written."""
        read = self._consumer.consume(POLL_MESSAGES, POLL_S)
        for message in read:
            error = message.error()
            if error is None:
                self._order.add(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._order.end(message.topic(), message.partition())
            else:
                kafka.report(error, self._stop)
        self._stalled.check(drained=len(read) < POLL_MESSAGES)
        taken = self._order.take(self._is_end)
        full = self._order.full()
        if full != self._paused:
            self._consumer.pause([TopicPartition(*place) for place in full - self._paused])
            self._consumer.resume([TopicPartition(*place) for place in self._paused - full])
            self._paused = full
        return taken

    def _is_end(self, topic: str, partition: int, offset: int) -> bool:
        """Whether a partition ends here, as far as the client knows."""
        return bool(offset == self._consumer.get_watermark_offsets(TopicPartition(topic, partition), cached=True)[1])

    def _checkpoint(self) -> None:
        """Write what changed, wait until Kafka has it, and commit the offsets of the messages that it rests on."""
        for partition in {partition for _, partition in self._processed}:
            last = {topic: offset for (topic, one), offset in self._processed.items() if one == partition}
            self._changelog.write(partition, self._states.take_unsaved(partition), last)
        while self._producer.flush(FLUSH_S):
            log.warning("the checkpoint waits for Kafka")
            if self._stop.is_set():
                return
        if self._refused is not None:
            raise KafkaException(self._refused)
        if not self._processed:
            return
        offsets = [TopicPartition(topic, partition, offset + 1) for (topic, partition), offset in self._processed.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            log.warning("offsets could not be committed: %s", error)  # the next checkpoint commits them, or another process reads again
        else:
            self._processed.clear()

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        """A message that Kafka refuses for good ends the process: going on would lose it."""
        self._refused = self._refused or error

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Restore the state of partitions that are new here, or that another process has changed since they were given up."""
        self._follow([(one.topic, one.partition) for one in partitions])
        assigned = {one.partition for one in partitions}
        self._classifier.hear(hears_all(partitions, self._partitions))
        for partition in self._states.partitions - assigned:
            self._states.drop(partition)
        begins = {one: self._changelog_ends.get(one, 0) for one in assigned}
        self._changelog_ends.clear()
        while not self._stop.is_set():
            try:
                self._restore(begins)
                return
            except KafkaException as error:
                log.warning("the state cannot be restored yet: %s", error)
                self._stop.wait(RETRY_S)

    def _follow(self, places: list[Place]) -> None:
        self._order.assign(places)
        self._paused = set()

    def _restore(self, begins: dict[int, int]) -> None:
        begin, parts = time.monotonic(), 0
        for part in self._changelog.read(begins, self._stop):
            self._states.at_rest(part.partition, part.host).restore(part.name, part.raw)
            parts += 1
        log.info("partitions %s: %d parts restored in %.1f s", sorted(begins), parts, time.monotonic() - begin)

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Save what changed: the next process continues there. What could not be committed is forgotten, as it will be read again."""
        self._checkpoint()
        self._follow([])
        if self._stop.is_set():
            return
        try:
            self._changelog_ends = {} if self._processed else self._changelog.ends(sorted(self._states.partitions))
        except KafkaException as error:
            log.warning("the state will be restored from its beginning: %s", error)
        if not self._changelog_ends:
            self._forget()

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Others have read on already."""
        self._follow([])
        self._forget()

    def _forget(self) -> None:
        self._processed.clear()
        self._changelog_ends = {}
        for partition in self._states.partitions:
            self._states.drop(partition)
