"""Messages of several topics in the order in which they were written, partition by partition.

A consumer that is behind gets long runs of one topic. The stage needs what a host sent at one time together, so a message waits until each
topic of its partition has shown a later one, or has no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

MOST_WAITING = 500
"""Messages of one topic and partition that wait for other topics, before no more are read."""

Place = tuple[str, int]
"""Topic and partition."""


class _Lane:
    """One topic of a partition."""

    __slots__ = ("ended", "next_offset", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[tuple[int, Any]] = deque()
        """When each was written, ms, and the message."""
        self.next_offset: int | None = None
        self.ended = False
        """Nothing more was there when it was read last."""


class TimeOrder:
    """Holds messages back until their turn comes.

    Times are those of Kafka's records, so the clocks of hosts. The order of each topic stays as it is, whatever they say.
    """

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._most_waiting = most_waiting
        self._lanes: dict[int, dict[str, _Lane]] = {}

    def assign(self, places: Iterable[Place]) -> None:
        """Begin with these partitions; what waited is forgotten."""
        self._lanes = {}
        for topic, partition in places:
            self._lanes.setdefault(partition, {})[topic] = _Lane()

    def add(self, message: Any) -> None:
        """Take a message that was read; one of a partition that was not assigned is left out: another process has it."""
        lane = self._lanes.get(message.partition(), {}).get(message.topic())
        if lane is None:
            return
        lane.next_offset = message.offset() + 1
        lane.ended = False
        lane.waiting.append((message.timestamp()[1], message))

    def end(self, topic: str, partition: int) -> None:
        """Note that a partition had no more messages."""
        lane = self._lanes.get(partition, {}).get(topic)
        if lane is not None:
            lane.ended = True

    def take(self, is_end: Callable[[str, int, int], bool] = lambda topic, partition, offset: False) -> list[Any]:
        """The messages whose turn has come. `is_end` returns whether nothing is known at an offset or after it."""
        found: list[Any] = []
        for partition, lanes in self._lanes.items():
            for topic, lane in lanes.items():
                if not lane.ended and lane.next_offset is not None and is_end(topic, partition, lane.next_offset):
                    lane.ended = True
            if any(lane.waiting for lane in lanes.values()):
                found += _take(list(lanes.values()))
        return found

    def full(self) -> set[Place]:
        """Where so many messages wait that no more should be read."""
        return {
            (topic, partition)
            for partition, lanes in self._lanes.items()
            for topic, lane in lanes.items()
            if len(lane.waiting) >= self._most_waiting
        }


def _take(lanes: list[_Lane]) -> list[Any]:
    """The messages of one partition, the earliest first, until a topic that may have more has none at hand."""
    found: list[Any] = []
    while True:
        earliest: _Lane | None = None
        for lane in lanes:
            if lane.waiting:
                if earliest is None or lane.waiting[0][0] < earliest.waiting[0][0]:
                    earliest = lane
            elif not lane.ended:
                return found
        if earliest is None:
            return found
        found.append(earliest.waiting.popleft()[1])
