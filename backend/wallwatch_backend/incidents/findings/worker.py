"""Consumes `wallwatch.findings` and applies each message.

An offset is committed after the database's transaction; unusable messages go to the dead-letter topic.
"""

import asyncio
import base64
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial

import orjson
import structlog
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, KafkaException, Message, Producer
from prometheus_client import Counter, Histogram
from pydantic import ValidationError

from wallwatch import kafka_clients
from wallwatch.domain.telemetry.envelope import headers_of
from wallwatch_backend.incidents.findings.message_batch import apply_all
from wallwatch_backend.incidents.findings.outcomes import Applied
from wallwatch_backend.incidents.findings.schemas import Finding
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
FINDINGS = Counter("wallwatch_incident_findings", "Findings that were applied to incidents", ["outcome"])
DELAY = Histogram(
    "wallwatch_finding_delay_seconds", "From a finding's event time to its incident", buckets=(0.5, 1, 2, 5, 10, 30, 60, 300, 3600)
)

TOPIC = "wallwatch.findings"
DEAD_LETTERS = "wallwatch.dead_letter"
_BATCH = 100
_POLL_S = 0.5


class FindingConsumer:
    """Runs on one replica at a time; a restart continues after the last committed offset."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings

    async def run(self) -> None:
        """Consume until cancelled.

        Any failure of the database or of Kafka raises; the caller restarts it at the last committed offset.
        """
        consumer = kafka_clients.consumer(
            self._settings,
            {
                "group.id": self._settings.kafka_group,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "earliest",
                "client.id": "wallwatch-backend",
                "session.timeout.ms": 10000,
                # otherwise librdkafka prints to stderr between our JSON lines
                "log_level": 2,
            },
        )
        producer = kafka_clients.producer(self._settings, {"enable.idempotence": True, "log_level": 2})
        # One thread for every call on the client: a cancelled wait leaves its call running, and a concurrent close would free what it uses.
        thread, loop = ThreadPoolExecutor(1, "findings"), asyncio.get_running_loop()
        try:
            consumer.subscribe([TOPIC])
            while True:
                messages = await loop.run_in_executor(thread, consumer.consume, _BATCH, _POLL_S)
                if messages:
                    await self._process(messages, consumer, producer, thread)
        finally:
            # Shielded from cancellation: an unclosed consumer keeps its partitions until the session times out.
            await asyncio.shield(loop.run_in_executor(thread, consumer.close))
            thread.shutdown(wait=False)

    async def _process(self, messages: Sequence[Message], consumer: Consumer, producer: Producer, thread: ThreadPoolExecutor) -> None:
        newest: dict[tuple[str, int], Message] = {}
        good: list[tuple[Message, Finding]] = []
        dead: list[tuple[Message, str, str]] = []
        for message in messages:
            error = message.error()
            if error is not None:
                if error.code() in (KafkaError._PARTITION_EOF, KafkaError.UNKNOWN_TOPIC_OR_PART):
                    continue  # another component creates the topic, perhaps later
                raise KafkaException(error)
            newest[(str(message.topic()), int(message.partition() or 0))] = message
            parsed = parse(message.value())
            if isinstance(parsed, Finding):
                good.append((message, parsed.model_copy(update={"received_at": received_at(message)})))
            else:
                dead.append((message, *parsed))
        outcomes = await apply_all(self._database, [finding for _, finding in good], timedelta(seconds=self._settings.reopen_within_s))
        for (message, finding), outcome in zip(good, outcomes, strict=True):
            if isinstance(outcome, Applied):
                _count(finding, outcome)
            else:
                dead.append((message, "rejected", outcome))
        for message, reason, detail in dead:
            FINDINGS.labels(reason).inc()
            value = dead_letter(message, reason, detail)
            headers = headers_of(DEAD_LETTERS, (message.key() or b"").decode(errors="replace"), value)
            producer.produce(DEAD_LETTERS, value=value, key=message.key(), headers=headers)
        if dead:
            unsent = await asyncio.to_thread(producer.flush, 30)
            if unsent:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "dead letters could not be written"))
        for message in newest.values():
            await asyncio.get_running_loop().run_in_executor(thread, partial(consumer.commit, message=message, asynchronous=False))


def parse(raw: bytes | str | None) -> Finding | tuple[str, str]:
    """Parse a message's value; for an unusable one return the reason and the detail of its dead letter."""
    if raw is None:
        return "empty", "the message has no value"
    try:
        return Finding.model_validate_json(raw)
    except ValidationError as bad:
        first = bad.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return ("malformed" if first["type"] == "json_invalid" else "invalid"), f"{where}: {first['msg']}".removeprefix(": ")


def received_at(message: Message) -> datetime | None:
    """When the message was written to Kafka."""
    kind, since_epoch_ms = message.timestamp()
    return None if kind == TIMESTAMP_NOT_AVAILABLE else datetime.fromtimestamp(since_epoch_ms / 1000, UTC)


def _count(finding: Finding, outcome: Applied) -> None:
    FINDINGS.labels(str(outcome)).inc()
    DELAY.observe(max((clock.now() - finding.at).total_seconds(), 0.0))
    if outcome not in (Applied.refreshed, Applied.repeated):  # too many to log
        names = {"finding_id": str(finding.finding_id), "host": finding.host, "pci": finding.pci, "symptom": finding.symptom}
        log.info("finding", outcome=str(outcome), **names)


def dead_letter(message: Message, reason: str, detail: str) -> bytes:
    """The record that the dead-letter topic keeps of a message (docs/contracts.md)."""
    key, value = message.key(), message.value()
    return orjson.dumps(
        {
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "key": key.decode("utf-8", "replace") if isinstance(key, bytes) else key,
            "reason": reason,
            "detail": detail[:1000],
            "value_base64": base64.b64encode(value).decode() if isinstance(value, bytes) else None,
            "at": clock.now(),
        }
    )
