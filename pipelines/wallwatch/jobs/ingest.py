"""The job `ingest`: writes all telemetry topics and the findings to the store.

Two threads: this one reads Kafka, decodes and encodes; the other writes. At most two batches wait between them. While both are full
(the database is slow or unreachable), the partitions are paused and Kafka keeps the rest. Offsets are committed after the transaction
that holds their rows.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

from confluent_kafka import KafkaException, TopicPartition

from wallwatch import kafka_clients
from wallwatch.domain.isolation.messages import TOPIC as ISOLATION_TOPIC
from wallwatch.domain.telemetry.blocks import TOPIC as BLOCKS_TOPIC
from wallwatch.jobs import ingest_isolation, kafka
from wallwatch.jobs.dead_letter import DeadLetters
from wallwatch.jobs.flush_interval import FlushInterval
from wallwatch.jobs.garbage import Garbage
from wallwatch.jobs.ingest_batch import FINDINGS_TOPIC, TELEMETRY_TOPICS, Batch, BatchBuilder
from wallwatch.jobs.ingest_forecasts import TOPIC as FORECASTS_TOPIC
from wallwatch.jobs.ingest_forecasts import keep_s
from wallwatch.jobs.ingest_writer import Database, Stopped, Writer
from wallwatch.jobs.maintenance import Maintenance
from wallwatch.jobs.metrics import LAG, MESSAGES, SAMPLES, serve
from wallwatch.jobs.packing import Packing
from wallwatch.jobs.silence import SilenceWatch
from wallwatch.jobs.stalled import StalledPartitions
from wallwatch.settings import Settings
from wallwatch.store.identities import Identities
from wallwatch.store.promoted import ProfileWatcher
from wallwatch.store.state import StateKeeper
from wallwatch.store.telemetry_secret import TelemetryKeys

log = logging.getLogger(__name__)

POLL_MESSAGES = 400
"""Messages decoded and encoded together: as many as stay in the processor's caches (measured: 250 to 1,000 cost half of 20,000)."""

POLL_S = 1.0
"""Longest wait for as many. What comes within a flush interval is read at once: each call has its price, whatever it reads."""

LAG_EVERY_S = 5.0

IDLE_S = 1.0
"""The writing thread looks so seldom whether the process stops; a batch wakes it up at once."""


class Ingest:
    """The running job; `run` returns after `stop`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._batches: queue.Queue[Batch] = queue.Queue(maxsize=2)
        identities = Identities()
        self._reader_database = Database(settings.libpq_url, self._stop)
        self._writer_database = Database(settings.libpq_url, self._stop)
        self._maintenance = Maintenance(settings, self._stop)
        self._packing = Packing(settings, self._stop, self._maintenance.joined)
        self._identities = identities
        self._consumer = kafka_clients.consumer(
            settings,
            {
                "group.id": settings.ingest_group,
                "client.id": "wallwatch-ingest",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                # All topics have the same number of partitions and the same key: `range` assigns one host's topics to one process.
                "partition.assignment.strategy": "range",
                # After this time, the partitions of a killed process go to another process or to its restart.
                "session.timeout.ms": 10_000,
                "queued.max.messages.kbytes": 65_536,
                # A few large answers instead of one for each message that comes: they cost the client and the broker much.
                "fetch.wait.max.ms": 100,
                "fetch.min.bytes": 131_072,
            },
        )
        self._stalled = StalledPartitions("ingest", self._consumer, settings)
        self._drained = False
        self._flush = FlushInterval(settings.ingest_flush_ms / 1000, BLOCKS_TOPIC)
        producer = kafka_clients.producer(settings, {"linger.ms": 5})
        self._letters = DeadLetters("ingest", producer)
        self._silence = SilenceWatch(kafka_clients.producer(settings, {"linger.ms": 5}), FINDINGS_TOPIC, self._reader_database.run)
        future_ns = settings.future_tolerance_s * 1_000_000_000
        self._keys = TelemetryKeys(settings.telemetry_secret_file)
        self._builder = BatchBuilder(identities, self._reader_database.run, future_ns, self._silence.on_decoded, self._keys.sender)
        self._writer = Writer(
            self._writer_database,
            StateKeeper(identities),
            self._letters,
            self._commit,
            lambda: keep_s(settings.forecast_keep_s, len(identities.rnics)),
        )

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        """Run until `stop`; raises the error that ended the writing thread."""
        serve(self._settings.metrics_port)
        ProfileWatcher(self._settings.libpq_url, self._stop).start()
        garbage = Garbage()  # otherwise every waiting row would be walked
        writer = threading.Thread(target=self._guarded, args=(self._write_all,), name="writer")
        maintenance = threading.Thread(target=self._guarded, args=(self._maintenance.run,), name="maintenance")
        packing = threading.Thread(target=self._guarded, args=(self._packing.run,), name="packing")
        try:
            if not self._keys.wait(self._stop):
                raise Stopped
            self._reader_database.run(self._identities.load)
            self._reader_database.run(self._silence.load)
            self._consumer.subscribe([*TELEMETRY_TOPICS, BLOCKS_TOPIC, FINDINGS_TOPIC, FORECASTS_TOPIC, ISOLATION_TOPIC])
            writer.start()
            maintenance.start()
            packing.start()
            self._read_all(garbage)
        except Stopped:
            pass
        finally:
            self._stop.set()
            self._packing.cancel()
            for thread in (writer, maintenance, packing):
                if thread.is_alive():
                    thread.join()
            self._silence.close()
            self._consumer.close()
            self._reader_database.close()
            self._writer_database.close()
        if self._failure is not None:
            raise self._failure

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Stopped:
            pass
        except BaseException as error:
            # Exit and let the supervisor restart the process: when one half dies, the other must not keep running.
            self._failure = error
            self._stop.set()

    def _read_all(self, garbage: Garbage) -> None:
        next_lag = 0.0
        while not self._stop.is_set():
            batch = self._collect()
            if batch.messages:
                self._hand_over(batch)
            self._stalled.check(drained=self._drained)
            self._silence.check()
            garbage.collect_when_due()
            if time.monotonic() >= next_lag:
                next_lag = time.monotonic() + LAG_EVERY_S
                LAG.labels("ingest").set(kafka.lag_of(self._consumer))
                self._flush.follow(self._consumer)

    def _collect(self) -> Batch:
        """Collect one batch: the messages of one flush interval, up to the maximum number of rows."""
        batch = Batch()
        began = time.monotonic()
        deadline = began + self._flush.seconds
        while not self._stop.is_set():
            wait = max(0.0, min(POLL_S, deadline - time.monotonic()))
            messages = kafka.consume(self._consumer, POLL_MESSAGES, wait, self._stop)
            self._drained = len(messages) < POLL_MESSAGES
            self._builder.add(batch, messages)
            if not batch.messages or batch.samples >= self._settings.ingest_batch_rows or time.monotonic() >= deadline:
                break
        self._flush.collected(batch.samples, time.monotonic() - began)
        return batch

    def _hand_over(self, batch: Batch) -> None:
        """Hand a batch to the writer. While two are waiting already, stay in the consumer group without reading."""
        MESSAGES.labels("ingest", "all").inc(batch.messages)
        SAMPLES.labels("ingest").inc(batch.samples)
        try:
            self._batches.put(batch, timeout=1.0)
            return
        except queue.Full:
            pass
        while not self._stop.is_set():
            self._consumer.pause(self._consumer.assignment())
            self._consumer.poll(0)
            try:
                self._batches.put(batch, timeout=1.0)
                break
            except queue.Full:
                continue
        self._consumer.resume(self._consumer.assignment())
        self._stalled.forget()

    def _write_all(self) -> None:
        while not (self._stop.is_set() and self._batches.empty()):
            try:
                batch = self._batches.get(timeout=0.1 if self._writer.owes_states else IDLE_S)
            except queue.Empty:
                self._writer.idle()
                continue
            self._writer.write(batch)
            tables = batch.tables.items()
            self._maintenance.touched({table: one.minutes for table, one in tables}, {table: one.late for table, one in tables})
            self._maintenance.minutes_touched(ingest_isolation.minutes(batch.isolation))

    def _commit(self, batch: Batch) -> None:
        offsets = [TopicPartition(topic, partition, offset) for (topic, partition), offset in batch.offsets.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as error:
            # The rows are stored; reading these messages again adds nothing.
            log.warning("offsets could not be committed: %s", error)
