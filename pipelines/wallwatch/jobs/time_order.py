"""Messages of several topics in the order in which they were written, partition by partition.

A consumer that is behind gets long runs of one topic. The stage needs what a host sent at one time together, so a message waits until each
topic of its partition has shown a later one, or has no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

MOST_WAITING = 1000
"""Messages of one topic and partition that wait for other topics, before no more are read."""

Place = tuple[str, int]
"""Topic and partition."""


class _Waiting(NamedTuple):
    written_ms: int
    message: Any


class _Lane:
    """One topic of a partition."""

    __slots__ = ("ended", "newest_ms", "next_offset", "waiting")

    def __init__(self) -> None:
        self.waiting: list[_Waiting] = []
        self.newest_ms = 0
        self.next_offset: int | None = None
        self.ended = False
        """Nothing more was there when it was read last."""


class TimeOrder:
    """Holds messages back until their turn comes.

    Times are those of Kafka's records; one that is earlier than its predecessor's in the same topic counts as that one, so that the order
    of each topic stays as it is.
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
        lane.newest_ms = max(lane.newest_ms, message.timestamp()[1])
        lane.next_offset = message.offset() + 1
        lane.ended = False
        lane.waiting.append(_Waiting(lane.newest_ms, message))

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
    """The messages of one partition that are not later than the newest of any topic that has more."""
    open_ms = [lane.newest_ms if lane.waiting else -1 for lane in lanes if not lane.ended]
    until_ms = min(open_ms, default=None)
    found: list[_Waiting] = []
    for lane in lanes:
        if until_ms is None:
            ready, lane.waiting = lane.waiting, []
        else:
            count = next((i for i, one in enumerate(lane.waiting) if one.written_ms > until_ms), len(lane.waiting))
            ready, lane.waiting = lane.waiting[:count], lane.waiting[count:]
        found += ready
    found.sort(key=lambda one: one.written_ms)
    return [one.message for one in found]
