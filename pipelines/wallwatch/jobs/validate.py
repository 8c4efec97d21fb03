"""The job `validate`: policies that cross hosts, over the events of all of them. A thin shell around `domain/policies/centre`.

One process reads all partitions: an address may move between any two hosts. It keeps what it knows in a file of its state folder, with the
offsets that it has come to, and begins there again; without the file it begins with the oldest event that Kafka has. What it reads again
it says again, in the same words and with the same times, so that the store keeps it once; a second process beside it would do no harm and
no good.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any

import orjson
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition

from wallwatch.domain.policies.event import event_of
from wallwatch.domain.policies.messages import VIOLATED
from wallwatch.domain.policies.server_side import ServerSidePolicies
from wallwatch.domain.telemetry.decode import Refused, decode
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs import validate_policies
from wallwatch.jobs.metrics import DEAD_LETTERS, LAG, MESSAGES, VIOLATIONS, serve
from wallwatch.settings import Settings

log = logging.getLogger(__name__)

TOPIC, STATE_TOPIC = "wallwatch.event", "wallwatch.policy_state"
POLICIES_EVERY_S = 30.0
HOSTS_EVERY_S = 5.0
CHECKPOINT_SHARE = 0.05
"""Most of the time that may go into checkpoints: with a million subjects one takes seconds."""


class Validate:
    """The running job; `run` returns after `stop`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stop = threading.Event()
        self._file = settings.state_dir / "validate" / "checkpoint.json"
        self._consumer = Consumer(
            {
                "bootstrap.servers": settings.kafka_bootstrap,
                "group.id": "wallwatch-validate",  # asked for by the library; partitions are assigned here, and offsets kept in the file
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 100,
            }
        )
        self._producer = Producer({"bootstrap.servers": settings.kafka_bootstrap, "linger.ms": 5, "enable.idempotence": True})
        self._measurement = measurements()["event"]
        self._read = MESSAGES.labels("validate", TOPIC)
        self._offsets: dict[int, int] = {}
        self._next_checkpoint_s = self._next_policies_s = self._next_hosts_s = 0.0
        self._away = False
        """Kafka does not answer: time stands still, for what happens meanwhile comes later."""

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Work until `stop`."""
        serve(self._settings.metrics_port)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        partitions = self._partitions()
        if partitions is None:
            return
        centre = ServerSidePolicies(
            validate_policies.of_catalogue(),
            partitions,
            round(self._settings.validate_patience_s * 1e6),
            self._settings.validate_most_subjects,
        )
        self._begin(centre, partitions)
        try:
            while not self._stop.is_set():
                self._turn(centre)
        finally:
            self._checkpoint(centre)
            self._consumer.close()

    def _partitions(self) -> list[int] | None:
        """Wait until the topic is there."""
        while not self._stop.is_set():
            try:
                topic = self._consumer.list_topics(TOPIC, timeout=5).topics[TOPIC]
                if topic.error is None:
                    return sorted(topic.partitions)
                log.error("a topic is missing: run `wallwatch topics create` (%s)", topic.error.str())
            except KafkaException as error:
                log.warning("Kafka does not answer, waiting: %s", error)
            self._stop.wait(1.0)
        return None

    def _begin(self, centre: ServerSidePolicies, partitions: list[int]) -> None:
        kept = _kept(self._file)
        if kept is not None:
            self._offsets = {int(partition): offset for partition, offset in kept["offsets"].items()}
            found = validate_policies.read(self._settings.libpq_url)
            if found is not None:
                centre.use(found)
            centre.load(kept["centre"])
        else:
            log.info("no checkpoint in %s: events are read from the oldest that Kafka has", self._file)
        self._consumer.assign([TopicPartition(TOPIC, one, self._offsets.get(one, OFFSET_BEGINNING)) for one in partitions])

    def _turn(self, centre: ServerSidePolicies) -> None:
        for message in self._consumer.consume(400, 0.2):
            error = message.error()
            if error is None:
                self._hear(centre, message)
            elif error.code() == KafkaError._PARTITION_EOF:
                centre.ended(message.partition())
            else:
                log.warning("Kafka: %s", error.str())
                self._away = self._away or error.code() in (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT)
        if self._away and not self._is_back():
            return
        now_us = time.time_ns() // 1000
        for one in centre.work(now_us):
            VIOLATIONS.labels(one["fields"]["policy"]).inc()
            self._produce(TOPIC, one["tags"]["host"], one)
        for one in centre.states(now_us):
            self._produce(STATE_TOPIC, one["tags"]["policy"], one)
        self._producer.poll(0)
        now_s = time.monotonic()
        if now_s >= self._next_hosts_s and (hosts := centre.waits_for()):
            self._next_hosts_s = now_s + HOSTS_EVERY_S
            for host, at_us in validate_policies.heard_of(self._settings.libpq_url, hosts).items():
                centre.heard_of(host, at_us)
        if now_s >= self._next_policies_s:
            self._next_policies_s = now_s + POLICIES_EVERY_S
            found = validate_policies.read(self._settings.libpq_url)
            if found is not None and centre.use(found):
                log.info("policies over all hosts: %s", ", ".join(policy.id for policy in found) or "none")
        if now_s >= self._next_checkpoint_s:
            self._checkpoint(centre)
            LAG.labels("validate").set(self._lag())

    def _is_back(self) -> bool:
        try:
            self._consumer.list_topics(TOPIC, timeout=2)
        except KafkaException:
            return False
        log.info("Kafka answers again")
        self._away = False
        return False  # only the next turn has read what came meanwhile

    def _hear(self, centre: ServerSidePolicies, message: Any) -> None:
        self._read.inc()
        self._offsets[message.partition()] = message.offset() + 1
        latest_ns = time.time_ns() + self._settings.future_tolerance_s * 1_000_000_000
        try:
            tags, at_ns, fields = decode(message.value(), self._measurement, latest_ns)
        except Refused as refusal:
            DEAD_LETTERS.labels("validate", TOPIC, refusal.reason).inc()  # ingest sends it on
            return
        event = event_of({"name": "event", "timestamp": at_ns, "tags": tags, "fields": fields})
        if event is not None and event.kind != VIOLATED:
            centre.hear(message.partition(), message.offset(), event, tags.get("rack", ""))

    def _produce(self, topic: str, key: str, message: dict[str, Any]) -> None:
        value = orjson.dumps(message)
        while True:
            try:
                self._producer.produce(topic, key=key, value=value)
                return
            except BufferError:
                self._producer.poll(0.5)  # the broker is away or slow: wait for room rather than lose one

    def _checkpoint(self, centre: ServerSidePolicies) -> None:
        """First what was said must be in Kafka, then the file may say that it has been said."""
        begin = time.monotonic()
        while self._producer.flush(5) and not self._stop.is_set():
            log.warning("messages wait for the broker")
        if len(self._producer):
            return
        new = self._file.with_suffix(".new")
        new.write_bytes(orjson.dumps({"offsets": {str(one): at for one, at in self._offsets.items()}, "centre": centre.dump()}))
        new.replace(self._file)
        now = time.monotonic()
        self._next_checkpoint_s = now + max(self._settings.validate_checkpoint_s, (now - begin) / CHECKPOINT_SHARE)

    def _lag(self) -> int:
        lag = 0
        for position in self._consumer.position(self._consumer.assignment()):
            _, high = self._consumer.get_watermark_offsets(position, cached=True)
            if position.offset >= 0 and high >= 0:
                lag += max(high - position.offset, 0)
        return lag


def _kept(file: Path) -> dict[str, Any] | None:
    """The last checkpoint; one that cannot be read counts as none."""
    try:
        found: dict[str, Any] = orjson.loads(file.read_bytes())
        if set(found) >= {"offsets", "centre"}:
            return found
        log.error("%s is no checkpoint; it is left aside", file)
    except FileNotFoundError:
        pass
    except (OSError, orjson.JSONDecodeError) as error:
        log.error("the checkpoint %s cannot be read and is left aside: %s", file, error)
    return None
