"""The job `validate`: cross-host policies over the events of all hosts. A thin shell around `domain/policies/server_side`.

One process reads all partitions, because an address may move between any two hosts. It keeps its state and Kafka offsets in a checkpoint
file of its state folder and resumes there; without the file it starts with the oldest event in Kafka. Events that it reads again produce
identical messages with identical times, so the store keeps each violation once; a second process would be harmless but useless.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any

import orjson
from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, TopicPartition

from wallwatch import kafka_clients
from wallwatch.domain.policies.event import event_of
from wallwatch.domain.policies.messages import VIOLATED
from wallwatch.domain.policies.server_side import ServerSidePolicies
from wallwatch.domain.telemetry.decode import Refused, decode
from wallwatch.domain.telemetry.keys import TAG
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs import kafka, validate_policies
from wallwatch.jobs.garbage import Garbage
from wallwatch.jobs.metrics import DEAD_LETTERS, LAG, MESSAGES, VIOLATIONS, serve
from wallwatch.jobs.stalled import StalledPartitions
from wallwatch.settings import Settings
from wallwatch.store.telemetry_secret import TelemetryKeys

log = logging.getLogger(__name__)

TOPIC, STATE_TOPIC = "wallwatch.event", "wallwatch.policy_state"
POLL_MESSAGES = 400
POLICIES_EVERY_S = 30.0
HOSTS_EVERY_S = 5.0
CHECKPOINT_SHARE = 0.05
"""Largest share of time spent on checkpoints: with a million subjects one takes seconds."""


class Validate:
    """The running job; `run` returns after `stop`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stop = threading.Event()
        self._file = settings.state_dir / "validate" / "checkpoint.json"
        self._consumer = kafka_clients.consumer(
            settings,
            {
                "group.id": "wallwatch-validate",  # required by the library; partitions are assigned here, and the file has the offsets
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                # A few large answers instead of one for each message that comes: they cost the client and the broker much.
                "fetch.wait.max.ms": 100,
                "fetch.min.bytes": 131_072,
            },
        )
        self._stalled = StalledPartitions(
            "validate", self._consumer, settings, began=lambda: {(TOPIC, one): offset for one, offset in self._offsets.items()}
        )
        self._producer = kafka_clients.producer(settings, {"linger.ms": 5, "enable.idempotence": True})
        self._keys = TelemetryKeys(settings.telemetry_secret_file)
        self._measurement = measurements()["event"]
        self._read = MESSAGES.labels("validate", TOPIC)
        self._offsets: dict[int, int] = {}
        self._next_checkpoint_s = self._next_policies_s = self._next_hosts_s = 0.0
        self._kafka_down = False
        """Kafka does not answer: time stands still, because the events of this time arrive later."""

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Run until `stop`."""
        serve(self._settings.metrics_port)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        partitions = self._partitions() if self._keys.wait(self._stop) else None
        if partitions is None:
            return
        server_side = ServerSidePolicies(
            validate_policies.of_catalogue(),
            partitions,
            round(self._settings.validate_patience_s * 1e6),
            self._settings.validate_most_subjects,
        )
        self._begin(server_side, partitions)
        garbage = Garbage()
        try:
            while not self._stop.is_set():
                self._turn(server_side)
                garbage.collect_when_due()
        finally:
            self._checkpoint(server_side)
            self._consumer.close()

    def _partitions(self) -> list[int] | None:
        """Wait until the topic exists."""
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

    def _begin(self, server_side: ServerSidePolicies, partitions: list[int]) -> None:
        kept = _kept(self._file)
        if kept is not None:
            self._offsets = {int(partition): offset for partition, offset in kept["offsets"].items()}
            found = validate_policies.read(self._settings.libpq_url)
            if found is not None:
                server_side.use(found)
            server_side.load(kept["policies"])
        else:
            log.info("no checkpoint in %s: reading from the oldest event in Kafka", self._file)
        self._consumer.assign([TopicPartition(TOPIC, one, self._offsets.get(one, OFFSET_BEGINNING)) for one in partitions])

    def _turn(self, server_side: ServerSidePolicies) -> None:
        messages = self._consumer.consume(POLL_MESSAGES, 0.2)
        for message in messages:
            error = message.error()
            if error is None:
                self._receive(server_side, message)
            elif error.code() == KafkaError._PARTITION_EOF:
                server_side.ended(message.partition())
            else:
                log.warning("Kafka: %s", error.str())
                self._kafka_down = self._kafka_down or error.code() in (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT)
        self._stalled.check(drained=len(messages) < POLL_MESSAGES)
        if self._kafka_down and not self._is_back():
            return
        now_us = time.time_ns() // 1000
        for one in server_side.work(now_us):
            VIOLATIONS.labels(one["fields"]["policy"]).inc()
            kafka.produce(self._producer, TOPIC, one["tags"]["host"], self._signed(one))
        for one in server_side.states(now_us):
            kafka.produce(self._producer, STATE_TOPIC, one["tags"]["policy"], self._signed(one))
        self._producer.poll(0)
        now_s = time.monotonic()
        if now_s >= self._next_hosts_s and (hosts := server_side.waits_for()):
            self._next_hosts_s = now_s + HOSTS_EVERY_S
            for host, at_us in validate_policies.last_samples(self._settings.libpq_url, hosts).items():
                server_side.heard_of(host, at_us)
        if now_s >= self._next_policies_s:
            self._next_policies_s = now_s + POLICIES_EVERY_S
            found = validate_policies.read(self._settings.libpq_url)
            if found is not None and server_side.use(found):
                log.info("cross-host policies: %s", ", ".join(policy.id for policy in found) or "none")
        if now_s >= self._next_checkpoint_s:
            self._checkpoint(server_side)
            LAG.labels("validate").set(kafka.lag_of(self._consumer))

    def _signed(self, message: dict[str, Any]) -> bytes:
        """Encode a message that this job writes in the name of a host, or of no host, with the key that proves the name."""
        key = self._keys.of(message["tags"]["host"])
        return orjson.dumps(message if key is None else {**message, "tags": {**message["tags"], TAG: key}})

    def _is_back(self) -> bool:
        try:
            self._consumer.list_topics(TOPIC, timeout=2)
        except KafkaException:
            return False
        log.info("Kafka answers again")
        self._kafka_down = False
        return False  # only the next turn has read the events of the meantime

    def _receive(self, server_side: ServerSidePolicies, message: Any) -> None:
        self._read.inc()
        self._offsets[message.partition()] = message.offset() + 1
        latest_ns = time.time_ns() + self._settings.future_tolerance_s * 1_000_000_000
        try:
            tags, at_ns, fields = decode(message.value(), self._measurement, latest_ns, self._keys.sender(message.key()))
        except Refused as refusal:
            DEAD_LETTERS.labels("validate", TOPIC, refusal.reason).inc()  # ingest sends it on
            return
        event = event_of({"name": "event", "timestamp": at_ns, "tags": tags, "fields": fields})
        if event is not None and event.kind != VIOLATED:
            server_side.hear(message.partition(), message.offset(), event, tags.get("rack", ""))

    def _checkpoint(self, server_side: ServerSidePolicies) -> None:
        """Write the checkpoint only after Kafka has all messages that it covers."""
        begin = time.monotonic()
        while self._producer.flush(5) and not self._stop.is_set():
            log.warning("messages wait for the broker")
        if len(self._producer):
            return
        new = self._file.with_suffix(".new")
        new.write_bytes(orjson.dumps({"offsets": {str(one): at for one, at in self._offsets.items()}, "policies": server_side.dump()}))
        new.replace(self._file)
        now = time.monotonic()
        self._next_checkpoint_s = now + max(self._settings.validate_checkpoint_s, (now - begin) / CHECKPOINT_SHARE)


def _kept(file: Path) -> dict[str, Any] | None:
    """The last checkpoint; None when it is missing or cannot be read."""
    try:
        found: dict[str, Any] = orjson.loads(file.read_bytes())
        if set(found) >= {"offsets", "policies"}:
            return found
        log.error("%s is not a checkpoint and is ignored", file)
    except FileNotFoundError:
        pass
    except (OSError, orjson.JSONDecodeError) as error:
        log.error("the checkpoint %s cannot be read and is ignored: %s", file, error)
    return None
