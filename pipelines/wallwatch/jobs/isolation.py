"""The job `isolation`: whose traffic broke whose promise. A thin shell around `domain/isolation/live` and `domain/symptoms/isolation`.

The state of each RNIC is in memory only. Offsets are committed two minutes late, so that a process that starts again reads two minutes
again and knows what is usual before it judges; what it sends again has the same keys, and the store keeps it once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson
import psycopg
from confluent_kafka import Consumer, KafkaException, TopicPartition

from wallwatch import kafka_clients
from wallwatch.domain.isolation.assignment import Book, Facts, assigned
from wallwatch.domain.isolation.holders import Holder
from wallwatch.domain.isolation.live import RnicStream
from wallwatch.domain.isolation.messages import TOPIC as OUTPUT
from wallwatch.domain.telemetry.decode import Refused, decode
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs import kafka
from wallwatch.jobs.dead_letter import DeadLetters, rejected
from wallwatch.jobs.garbage import Garbage
from wallwatch.jobs.isolation_findings import IsolationFindings
from wallwatch.jobs.metrics import BROKEN_SECONDS, FINDINGS, ISOLATION_ODDITIES, ISOLATION_READINGS, LAG, MESSAGES, serve
from wallwatch.jobs.refusal_counter import RefusalCounter
from wallwatch.jobs.rewind import Marks
from wallwatch.jobs.settled import SettledOffsets
from wallwatch.jobs.stalled import StalledPartitions
from wallwatch.settings import Settings
from wallwatch.store.promises import SloWatcher
from wallwatch.store.refusals import Refusal
from wallwatch.store.telemetry_secret import TelemetryKeys
from wallwatch.store.vf_holders import HolderWatcher

log = logging.getLogger(__name__)

TOPIC, FINDINGS_TOPIC = "wallwatch.vf_traffic", "wallwatch.findings"
POLL_MESSAGES, POLL_S = 400, 0.1
KEPT_BACK_S = 120.0
"""How far behind the newest message offsets are committed."""
FOLLOW_EVERY_S = 1.0
UPKEEP_EVERY_S = 5.0
COUNT_EVERY_S = 30.0
"""How often the counts of 40,000 streams are summed for the metrics, which takes some 20 ms."""
FORGET_EVERY_S = 3_600.0
SILENT_TURNS = 24
"""After so many hours without a message an RNIC is forgotten: it was taken out, or its host has another name now."""
RETRY_S = 2.0
LATE_NS = 600_000_000_000
"""An older sample comes from a host or a broker that was unreachable. A job that starts again reads two minutes back."""
MOST_PROBLEMS = 10_000
"""Unusable SLOs of pods that are remembered, so that each is logged once."""


class Rnics:
    """The streams of all RNICs of this process, and the promises to their VFs."""

    def __init__(self, slos: SloWatcher, holders: HolderWatcher) -> None:
        self._slos, self._watched = slos, holders
        self._streams: dict[tuple[str, str], RnicStream] = {}
        self._versions: dict[str, int] = {}
        self._book: Book | None = None
        self._book_version = 0
        self._turn = 0
        self._problems: set[tuple[str, str]] = set()
        self._ended: Counter[str] = Counter()
        self._assign = self._assigned
        self._read_for: RnicStream | None = None
        self._held: Mapping[int, Holder] = {}
        """Who holds the VFs of `_read_for`."""

    def follow(self) -> None:
        """Take what the watchers have read: new SLOs concern every RNIC, other holders those of their hosts."""
        if self._slos.book is not self._book:
            self._book = self._slos.book
            self._book_version += 1
        for host in self._watched.take_changed():
            self._versions[host] = self._versions.get(host, 0) + 1

    def stream(self, host: str, pci: str, rack: str) -> RnicStream:
        """The stream of one RNIC, with the newest promises."""
        found = self._streams.get((host, pci))
        if found is None:
            found = self._streams[host, pci] = RnicStream(host, pci, rack)
        found.heard = self._turn
        version = (self._book_version, self._versions.get(host, 0), self._watched.rnic(host, pci))
        if found.version != version:
            self._read_for = None
            found.promise(partial(self._facts, found), self._assign, version)
        return found

    def model(self, host: str, pci: str) -> str:
        """The RNIC's model; empty when unknown."""
        return self._watched.rnic(host, pci)[1]

    def clear(self) -> None:
        """Start all streams again: after a rebalance, other messages come next."""
        self._ended = self.counts()
        self._streams.clear()

    def forget(self) -> None:
        """Forget the RNICs that were silent since a number of calls."""
        self._turn += 1
        for key in [key for key, stream in self._streams.items() if stream.heard < self._turn - SILENT_TURNS]:
            for kind, count in self._streams.pop(key).counts.items():
                self._ended[kind] += count

    def counts(self) -> Counter[str]:
        """What the detectors of all streams have met since the process began, by kind."""
        counts = self._ended.copy()
        for stream in self._streams.values():
            for kind, count in stream.counts.items():
                if count:
                    counts[kind] += count
        return counts

    def _facts(self, stream: RnicStream, vf: int) -> Facts:
        """What rules match on. A stream asks for all of its VFs one after the other, so who holds them is read once and not kept."""
        if self._read_for is not stream:
            self._read_for, self._held = stream, self._watched.held(stream.host, stream.pci)
        rack, model = self._watched.rnic(stream.host, stream.pci)
        holder = self._held.get(vf)
        who = ("", "") if holder is None else (holder.pod, holder.slo)
        return Facts(stream.host, stream.pci, vf, stream.rack or rack, model, *who)

    def _assigned(self, facts: Facts) -> Any:
        found, problem = assigned(facts, self._book or Book())
        if problem and (facts.pod, problem) not in self._problems:
            if len(self._problems) >= MOST_PROBLEMS:  # pods come and go for as long as the process runs
                self._problems.clear()
            self._problems.add((facts.pod, problem))
            log.warning("VF %d of RNIC %s, host %s, pod %s: %s; the SLO rules apply", facts.vf, facts.pci, facts.host, facts.pod, problem)
        return found, problem


class IsolationJob:
    """The running job; `run` returns after `stop`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stop = threading.Event()
        self._consumer = kafka_clients.consumer(
            settings,
            {
                "group.id": settings.isolation_group,
                "client.id": "wallwatch-isolation",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 10_000,
                # A few large answers instead of one for each message that comes: they cost the client and the broker much.
                "fetch.wait.max.ms": 100,
                "fetch.min.bytes": 131_072,
            },
        )
        self._stalled = StalledPartitions("isolation", self._consumer, settings)
        # Messages wait for Kafka without a time limit: offsets are committed only when all of them have arrived.
        self._producer = kafka_clients.producer(settings, {"linger.ms": 20, "compression.type": "zstd", "message.timeout.ms": 0})
        self._letters = DeadLetters("isolation", kafka_clients.producer(settings, {"linger.ms": 5}))
        self._refusals = RefusalCounter(settings.libpq_url, "wallwatch-isolation")
        self._settled = SettledOffsets()
        self._slos = SloWatcher(settings.libpq_url, self._stop)
        self._holders = HolderWatcher(settings.libpq_url, self._stop)
        self.rnics = Rnics(self._slos, self._holders)
        self._findings = IsolationFindings()
        self._measurement = measurements()["vf_traffic"]
        self._read = MESSAGES.labels("isolation", TOPIC)
        self._keys = TelemetryKeys(settings.telemetry_secret_file)
        self._marks = Marks(KEPT_BACK_S)
        self._counted: Counter[str] = Counter()
        self._next_count = 0.0
        self._next_forget = time.monotonic() + FORGET_EVERY_S
        self._judged, self._not_judged, self._refused = (
            ISOLATION_READINGS.labels(outcome) for outcome in ("judged", "not_judged", "refused")
        )

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Run until `stop`. Starts once the promises have been read: without them, nothing could be broken."""
        serve(self._settings.metrics_port)
        for watcher in (self._slos, self._holders):
            watcher.start()
        if not (self._slos.wait() and self._holders.wait() and self._keys.wait(self._stop)):
            self._consumer.close()
            return
        garbage = Garbage()
        self._refusals.start()
        self._consumer.subscribe([TOPIC], on_assign=self._assigned)
        next_follow = next_upkeep = 0.0
        try:
            while not self._stop.is_set():
                now = time.monotonic()
                if now >= next_follow:
                    next_follow = now + FOLLOW_EVERY_S
                    self.rnics.follow()
                messages = kafka.consume(self._consumer, POLL_MESSAGES, POLL_S, self._stop)
                for message in messages:
                    self._receive(message)
                self._stalled.check(drained=len(messages) < POLL_MESSAGES)
                self._producer.poll(0)
                if now >= next_upkeep:
                    next_upkeep = now + UPKEEP_EVERY_S
                    self._upkeep()
                garbage.collect_when_due()
        finally:
            self._refusals.close()
            self._commit()
            self._consumer.close()

    def _resume(self) -> None:
        """Read the active findings; waits for the database, because without them a finding would be raised twice."""
        self._findings = IsolationFindings()
        while not self._stop.is_set():
            try:
                with psycopg.connect(self._settings.libpq_url, connect_timeout=5, application_name="wallwatch-isolation") as connection:
                    self._findings.resume(connection)
                return
            except psycopg.Error as error:
                log.warning("waiting for the active findings: %s", str(error).strip())
                self._stop.wait(RETRY_S)

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Other partitions: what is known of RNICs may have gaps now, and begins again two minutes back."""
        self.rnics.clear()
        self._marks.clear()
        self._settled.resume(consumer, partitions)
        self._resume()

    def _receive(self, message: Any) -> None:
        self._read.inc()
        self._marks.add(message.partition(), message.offset(), time.monotonic())
        self._settled.read(message.partition(), message.offset())
        now_ns = time.time_ns()
        try:
            tags, at_ns, fields = decode(
                message.value(),
                self._measurement,
                now_ns + self._settings.future_tolerance_s * 1_000_000_000,
                self._keys.sender(message.key()),
            )
            if at_ns < now_ns - LATE_NS:  # what its host says of pods came as late
                self._holders.expect_late()
            stream = self.rnics.stream(tags["host"], tags["pci"], tags.get("rack", ""))
            for one in stream.step(at_ns / 1e9, fields):
                kafka.produce(self._producer, OUTPUT, stream.host, orjson.dumps(one))
        except Refused as refusal:
            self._refuse(message, refusal.reason, str(refusal))
            return
        except (ValueError, TypeError) as error:  # of the field `vfs`, or a counter that is no number
            self._refuse(message, "wrong_type", str(error))
            return
        verdict = stream.take_verdict()
        if verdict is None:
            self._not_judged.inc()
            return
        self._judged.inc()
        if verdict.victims:
            BROKEN_SECONDS.labels("unknown" if verdict.mechanism is None else verdict.mechanism.value).inc(verdict.interval_s)
        self._send_findings(self._findings.take(stream, verdict, self.rnics.model(stream.host, stream.pci) if verdict.victims else ""))

    def _refuse(self, message: Any, reason: str, detail: str) -> None:
        if self._settled.is_settled(message.partition(), message.offset()):
            return  # read again after a start: its dead letter is there, and it is counted
        self._refused.inc()
        letter = rejected(message, reason, detail)
        self._letters.send(letter)
        self._refusals.add(Refusal(letter.topic, letter.reason, letter.detail))

    def _send_findings(self, findings: list[dict[str, Any]]) -> None:
        for finding in findings:
            FINDINGS.labels(finding["symptom"], finding["state"]).inc()
            kafka.produce(self._producer, FINDINGS_TOPIC, finding["host"], orjson.dumps(finding))

    def _upkeep(self) -> None:
        self._send_findings(self._findings.forget(self._reads_all()))
        LAG.labels("isolation").set(kafka.lag_of(self._consumer))
        if time.monotonic() >= self._next_count:
            self._next_count = time.monotonic() + COUNT_EVERY_S
            self._count()
        if time.monotonic() >= self._next_forget:
            self._next_forget = time.monotonic() + FORGET_EVERY_S
            self.rnics.forget()
        self._commit()

    def _count(self) -> None:
        """Add what the detectors have met since the last time to the metrics."""
        counts = self.rnics.counts()
        for kind, count in (counts - self._counted).items():
            if kind != "readings":  # ISOLATION_READINGS has them
                ISOLATION_ODDITIES.labels(kind).inc(count)
        self._counted = counts

    def _reads_all(self) -> bool:
        """Whether no other process reads a part of the topic; unknown counts as no."""
        try:
            return len(self._consumer.assignment()) == len(self._consumer.list_topics(TOPIC, timeout=2).topics[TOPIC].partitions)
        except KafkaException:
            return False

    def _commit(self) -> None:
        """Commit where each partition was two minutes before its newest message, once Kafka has all that was made of it."""
        if self._producer.flush(5.0) or not self._letters.flush(5.0):
            return
        if self._refusals.all_written():
            self._settled.settle()
        behind = self._marks.behind().items()
        offsets = [TopicPartition(TOPIC, partition, offset, metadata=self._settled.note(partition)) for partition, offset in behind]
        if not offsets:
            return
        try:
            self._consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as error:
            log.warning("offsets could not be committed: %s", error)
