"""Notices partitions whose messages stay away although the broker has them.

After a broker's crash the client can wait for ever for an answer about one partition's epoch (librdkafka issue 4492): the others go on, no
error is reported, and the lag that the client itself knows stays as it was. A process that starts again reads on where it had committed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from confluent_kafka import Consumer, IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from wallwatch import kafka_clients
from wallwatch.jobs.metrics import STALLED
from wallwatch.kafka_settings import KafkaSettings

_ASK_EVERY_S = 15.0
_ANSWER_S = 10.0

Place = tuple[str, int]


class PartitionsStalled(Exception):
    """Messages of these partitions do not arrive; only a new consumer gets them."""


class StalledPartitions:
    """To be asked after each read of a consumer; it asks the broker now and then, when the consumer has nothing more at hand.

    A job that catches up has messages of some partitions waiting while it works on those of others: only one that reads nothing although
    there is more has lost a partition.
    """

    def __init__(
        self,
        job: str,
        consumer: Consumer,
        settings: KafkaSettings,
        *,
        began: Callable[[], Mapping[Place, int]] | None = None,
        after_s: float = 90.0,
        ask_every_s: float = _ASK_EVERY_S,
    ) -> None:
        """`began` returns the offsets with which a job began that keeps them itself; others begin at what their group has committed."""
        self._job, self._consumer, self._began, self._after_s, self._ask_every_s = job, consumer, began, after_s, ask_every_s
        self._broker = kafka_clients.admin(settings)
        self._asked_at = time.monotonic()
        self._waiting: dict[Place, tuple[int, float]] = {}
        """Partition that has more than was read -> the next offset to read, and since when that is so."""

    def check(self, drained: bool) -> None:
        """Raise `PartitionsStalled` if the broker has had more of a partition for `after_s`, and nothing of it was read in that time.

        `drained` tells whether the last read found less than it may return.
        """
        now = time.monotonic()
        if not drained or now - self._asked_at < self._ask_every_s:
            return
        self._asked_at = now
        try:
            behind = self._behind()
        except KafkaException:
            behind = {}  # the broker does not answer: nothing is known
        self._waiting = {
            place: (offset, self._waiting[place][1] if self._waiting.get(place, (None,))[0] == offset else now)
            for place, offset in behind.items()
        }
        stalled = sorted(place for place, (_, since) in self._waiting.items() if now - since >= self._after_s)
        if stalled:
            STALLED.labels(self._job).inc(len(stalled))
            names = ", ".join(f"{topic}/{partition}" for topic, partition in stalled)
            raise PartitionsStalled(f"{names}: Kafka has messages that have not arrived for {self._after_s:.0f} s; a new start reads them")

    def forget(self) -> None:
        """Begin again: the job itself has not read for a while, as when the database is away."""
        self._waiting = {}

    def _behind(self) -> dict[Place, int]:
        """Next offset to read of each assigned partition that has more."""
        assigned = self._consumer.assignment()
        positions = {(one.topic, one.partition): one.offset for one in self._consumer.position(assigned)}
        positions |= self._beginnings([place for place, offset in positions.items() if offset < 0])  # nothing of them has been read yet
        firsts = self._offsets([place for place, offset in positions.items() if offset < 0], OffsetSpec.earliest())
        lasts = self._offsets(list(positions), OffsetSpec.latest())
        nexts = {place: max(offset, firsts.get(place, 0)) for place, offset in positions.items()}
        return {place: offset for place, offset in nexts.items() if lasts[place] > offset}

    def _beginnings(self, places: list[Place]) -> dict[Place, int]:
        if not places:
            return {}
        if self._began is not None:
            known = self._began()
            return {place: known.get(place, -1) for place in places}
        committed = self._consumer.committed([TopicPartition(*place) for place in places], timeout=_ANSWER_S)
        return {(one.topic, one.partition): one.offset for one in committed}

    def _offsets(self, places: list[Place], which: OffsetSpec) -> dict[Place, int]:
        if not places:
            return {}
        asked = {TopicPartition(*place): which for place in places}
        answers = self._broker.list_offsets(asked, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=_ANSWER_S)
        return {(one.topic, one.partition): future.result().offset for one, future in answers.items()}
