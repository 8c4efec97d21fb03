"""Counts unusable messages and sends them to `wallwatch.dead_letter` with the reason."""

from __future__ import annotations

import base64
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from confluent_kafka import Producer

from wallwatch.domain.telemetry.envelope import headers_of
from wallwatch.domain.telemetry.keys import without_keys
from wallwatch.jobs.metrics import DEAD_LETTERS

TOPIC = "wallwatch.dead_letter"
LOG_EVERY_S = 10.0
MOST_VALUE_BYTES = 256 * 1024
"""Longest part of a message that is kept: a whole one of a megabyte would, in base64, be refused by the broker."""
MOST_KEY_BYTES = 512

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rejected:
    """One message with the reason why it was refused: a short code for counting, and a sentence."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    reason: str
    detail: str

    def as_json(self, at: datetime) -> bytes:
        return orjson.dumps(
            {
                "topic": self.topic,
                "partition": self.partition,
                "offset": self.offset,
                "key": None if self.key is None else self.key.decode(errors="replace"),
                "reason": self.reason,
                "detail": self.detail[:500],
                "value_base64": base64.b64encode((self.value or b"")[:MOST_VALUE_BYTES]).decode(),
                "value_bytes": len(self.value or b""),
                "at": at.isoformat().replace("+00:00", "Z"),
            }
        )


class DeadLetters:
    """Sends rejected messages. Call `flush` before committing the offsets of their sources."""

    def __init__(self, job: str, producer: Producer) -> None:
        self._job = job
        self._producer = producer
        self._logged_s: dict[tuple[str, str], float] = {}

    def send(self, rejected: Rejected) -> None:
        DEAD_LETTERS.labels(self._job, rejected.topic, rejected.reason).inc()
        self._log(rejected)
        payload = rejected.as_json(datetime.now(UTC))
        headers = headers_of(TOPIC, (rejected.key or b"").decode(errors="replace"), payload)
        while True:
            try:
                self._producer.produce(TOPIC, key=rejected.key, value=payload, headers=headers)
                return
            except BufferError:  # a flood of bad messages: wait until the producer has sent some
                self._producer.poll(0.1)

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until the broker has all of them; False on timeout."""
        return bool(self._producer.flush(timeout_s) == 0)

    def _log(self, rejected: Rejected) -> None:
        kind = (rejected.topic, rejected.reason)
        now = time.monotonic()
        if now - self._logged_s.get(kind, -LOG_EVERY_S) >= LOG_EVERY_S:  # one line per kind; the counter has the total
            self._logged_s[kind] = now
            log.warning(
                "message refused: %s (%s) at %s[%d]@%d",
                rejected.reason,
                rejected.detail[:200],
                rejected.topic,
                rejected.partition,
                rejected.offset,
            )


@dataclass(frozen=True, slots=True)
class RowMessage:
    """A row of a block as the message that stands for it alone, at the place of the block."""

    block: Any
    """The Kafka message with the block."""
    of_topic: str
    content: Callable[[], bytes]

    def topic(self) -> str:
        return self.of_topic

    def partition(self) -> int:
        return int(self.block.partition())

    def offset(self) -> int:
        return int(self.block.offset())

    def key(self) -> bytes | None:
        found: bytes | None = self.block.key()
        return found

    def value(self) -> bytes:
        return self.content()


def rejected(message: Any, reason: str, detail: str) -> Rejected:
    """From a Kafka message, either of confluent-kafka or of the same shape. Telemetry keys in it are removed: they must not be stored."""
    key, value = message.key(), message.value()
    return Rejected(
        message.topic(),
        message.partition(),
        message.offset(),
        None if key is None else without_keys(key)[:MOST_KEY_BYTES],
        None if value is None else without_keys(value),
        reason,
        without_keys(detail.encode(errors="replace")).decode(),
    )
