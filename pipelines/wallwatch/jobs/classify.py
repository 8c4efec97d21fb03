"""The job `classify`: telemetry in, findings out. A thin shell of Quix Streams around `domain/symptoms`.

State is per host (the key of the topics) in RocksDB, with changelog topics: one entry for the host and one per RNIC, in
MessagePack, which takes a fifth of JSON's time to write. This job only counts refused messages; ingest reads the same topics and sends
each refused message to the dead-letter topic once.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import orjson

# Quix's schema registry client, unused here, emits a deprecation warning of its own dependency that bypasses every filter.
with warnings.catch_warnings(record=True):
    from quixstreams import Application, State, message_context
    from quixstreams.kafka.configuration import ConnectionConfig

from wallwatch import kafka_clients
from wallwatch.domain.catalogue import local_rules
from wallwatch.domain.symptoms.host_stage import HOST, MEASUREMENTS, Message, step
from wallwatch.domain.symptoms.peers import Peers
from wallwatch.domain.telemetry.decode import Refused, Sender, decode
from wallwatch.domain.telemetry.envelope import headers_of
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs.host_state import DecodedValues, HostState
from wallwatch.jobs.metrics import DEAD_LETTERS, FINDINGS, IGNORED_SAMPLES, MESSAGES, WHOLE_FLEET, serve
from wallwatch.settings import Settings
from wallwatch.store.local_rules import accepted_rules
from wallwatch.store.promoted import ProfileWatcher
from wallwatch.store.telemetry_secret import TelemetryKeys

log = logging.getLogger(__name__)

OUTPUT = "wallwatch.findings"

CATCHING_UP_NS = 60_000_000_000
"""Older messages are read after a break, when partitions are not read at the same pace: what peers count is then unknown."""
ASK_EVERY_S = 2.0
"""How often the process looks which partitions it has. Chosen: shorter than the time between two samples of a host."""

_read = {name: MESSAGES.labels("classify", f"wallwatch.{name}") for name in MEASUREMENTS}
_ignored = {why: IGNORED_SAMPLES.labels(why) for why in ("late", "flooded", "wrong")}


class Classifier:
    """The function that Quix calls per message.

    `future_ns` is how far a sample may be ahead of this clock; `sender` returns what a message with this record key is checked with;
    `hears_all` says whether this process reads the messages of all hosts.
    """

    def __init__(
        self,
        future_ns: int,
        sender: Callable[[bytes | None], Sender | None] = lambda record_key: None,
        hears_all: Callable[[], bool] = lambda: True,
    ) -> None:
        self._future_ns = future_ns
        self._sender = sender
        self._hears_all = hears_all
        self._asked_at = -float("inf")
        self._whole_fleet = False
        self._decoded = DecodedValues()
        self._peers = Peers()
        self._measurements = {f"wallwatch.{name}": measurements()[name] for name in MEASUREMENTS}

    def __call__(
        self, value: bytes | None, key: bytes | None, timestamp: int, headers: Any, state: State[str, Any]
    ) -> list[dict[str, Any]]:
        topic = message_context().topic
        measurement = self._measurements[topic]
        _read[measurement.name].inc()
        try:
            tags, at_ns, fields = decode(value, measurement, time.time_ns() + self._future_ns, self._sender(key))
        except Refused as refusal:
            DEAD_LETTERS.labels("classify", topic, refusal.reason).inc()
            return []
        self._peers.all_heard = self._hears_whole_fleet() and time.time_ns() - at_ns <= CATCHING_UP_NS
        parts = HostState(state, self._decoded, tags["host"])
        host = parts.get(HOST) or {}
        before = {why: host.get(why, 0) for why in _ignored}
        _, findings = step(parts, Message(measurement.name, tags, at_ns, fields), self._peers)
        parts.save()
        after = parts.get(HOST) or {}
        for why, count in before.items():
            if after.get(why, 0) != count:
                _ignored[why].inc(after[why] - count)
        for finding in findings:
            FINDINGS.labels(finding["symptom"], finding["state"]).inc()
        return findings

    def _hears_whole_fleet(self) -> bool:
        now = time.monotonic()
        if now - self._asked_at >= ASK_EVERY_S:
            self._asked_at = now
            whole_fleet = self._hears_all()
            if whole_fleet != self._whole_fleet:
                log.info("counters of peers are %s", "judged" if whole_fleet else "not judged: other processes read a part of the fleet")
            self._whole_fleet = whole_fleet
            WHOLE_FLEET.set(whole_fleet)
        return self._whole_fleet


def connection(settings: Settings) -> ConnectionConfig:
    """How Quix reaches Kafka: as every other client."""
    return ConnectionConfig.from_librdkafka_dict(kafka_clients.client_settings(settings))


def application(settings: Settings, keys: TelemetryKeys) -> Application:
    """The job as a Quix application, not yet running."""
    app = Application(
        broker_address=connection(settings),
        consumer_group=settings.classify_group,
        auto_offset_reset="earliest",
        auto_create_topics=True,  # for changelog topics; all others are declared and exist
        state_dir=settings.state_dir / "classify",
        commit_interval=settings.classify_commit_s,
        consumer_poll_timeout=0.1,
        consumer_extra_config={"fetch.wait.max.ms": 100, "session.timeout.ms": 10_000},  # how long a killed process keeps its partitions
        producer_extra_config={"linger.ms": 5, "compression.type": "lz4"},
        loglevel=None,
    )
    topics = [app.topic(f"wallwatch.{name}", key_deserializer="bytes", value_deserializer="bytes") for name in MEASUREMENTS]
    stream = app.dataframe(topics[0])
    for topic in topics[1:]:
        stream = stream.concat(app.dataframe(topic))

    def hears_all() -> bool:
        samples = topics[MEASUREMENTS.index("rnic")]
        assigned = {one.partition for one in app._consumer.assignment() if one.topic == samples.name}
        return len(assigned) == samples.broker_config.num_partitions

    classifier = Classifier(settings.future_tolerance_s * 1_000_000_000, keys.sender, hears_all)
    findings = stream.apply(classifier, stateful=True, expand=True, metadata=True)
    findings = findings.set_headers(lambda finding, *_: headers_of(OUTPUT, finding["host"], orjson.dumps(finding)))
    findings.to_topic(app.topic(OUTPUT, key_serializer="str", value_serializer="json"), key=lambda finding: finding["host"])
    return app


def run(settings: Settings) -> None:
    """Run until SIGINT or SIGTERM."""
    serve(settings.metrics_port)
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    local_rules.use(accepted_rules(settings.libpq_url, settings.state_dir / "local-rules.yaml"))
    ProfileWatcher(settings.libpq_url, threading.Event()).start()  # it ends with the process
    # The state holds thousands of lists and dicts, none in a cycle: collecting cycles over all of them takes long.
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    keys = TelemetryKeys(settings.telemetry_secret_file)
    if keys.wait(threading.Event()):
        application(settings, keys).run()
