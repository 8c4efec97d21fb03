"""Up to which message a job that reads some minutes again has settled refusals. Kept with the committed offsets, as their metadata."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from confluent_kafka import Consumer, KafkaException, TopicPartition

log = logging.getLogger(__name__)

ANSWER_S = 5.0


class SettledOffsets:
    """What was refused below an offset has its dead letter and is counted; a message above may be refused twice, by a crash in between.

    >>> settled = SettledOffsets()
    >>> settled.read(0, 41)
    >>> settled.note(0)
    ''
    >>> settled.settle()
    >>> settled.note(0)
    'settled=42'
    """

    def __init__(self) -> None:
        self._before: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self._settled: dict[int, int] = {}

    def resume(self, consumer: Consumer, partitions: Iterable[TopicPartition]) -> None:
        """Continue where the group committed; without an answer, what is refused again is sent again: rather twice than never."""
        self._before, self._next, self._settled = {}, {}, {}
        try:
            committed = consumer.committed(list(partitions), timeout=ANSWER_S)
        except KafkaException as error:
            log.warning("it is unknown which refused messages were settled before: %s", error)
            return
        for one in committed:
            name, _, offset = (one.metadata or "").partition("=")
            if name == "settled" and offset.isdecimal():
                self._before[one.partition] = int(offset)
        self._settled = dict(self._before)

    def is_settled(self, partition: int, offset: int) -> bool:
        """Whether an earlier process has dealt with the message."""
        return offset < self._before.get(partition, 0)

    def read(self, partition: int, offset: int) -> None:
        """Note a message that was read."""
        self._next[partition] = max(offset + 1, self._next.get(partition, 0))

    def settle(self) -> None:
        """Everything that was read so far has been dealt with."""
        for partition, offset in self._next.items():
            self._settled[partition] = max(offset, self._settled.get(partition, 0))

    def note(self, partition: int) -> str:
        """What to commit with the offset of a partition."""
        offset = self._settled.get(partition)
        return "" if offset is None else f"settled={offset}"
