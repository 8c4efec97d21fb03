"""Puts events of all hosts in the order of their times. Hosts share partitions of a stream, and partitions are read at different paces."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

from wallwatch.domain.policies.step import Event


class Waiting(NamedTuple):
    """An event and its place in the stream, which settles the order of events of one time."""

    at_us: int
    partition: int
    offset: int
    event: Event


class Ordered:
    """Holds events until no earlier one is expected.

    A partition that was read to its end can only deliver current events; any other, none older than its newest one so far.
    Both may be wrong by `patience_us`: hosts send at intervals. What comes later still is late.
    """

    def __init__(self, partitions: Iterable[int], patience_us: int) -> None:
        self._patience_us = patience_us
        self._newest = dict.fromkeys(partitions, 0)
        self._ended: set[int] = set()
        self._waiting: list[Waiting] = []

    def advance(self, partition: int, at_us: int) -> None:
        """Something of this time was read, whatever it was."""
        self._ended.discard(partition)
        self._newest[partition] = max(self._newest[partition], at_us)

    def add(self, partition: int, offset: int, event: Event) -> None:
        heapq.heappush(self._waiting, Waiting(event.at_us, partition, offset, event))

    def ended(self, partition: int) -> None:
        """All of the partition has been read."""
        self._ended.add(partition)

    def settled_us(self, now_us: int) -> int:
        """Nothing from before this time is expected."""
        return min(now_us if one in self._ended else min(newest, now_us) for one, newest in self._newest.items()) - self._patience_us

    def ready(self, now_us: int) -> list[Event]:
        """The events from before `settled_us`, in order; they wait no more."""
        settled_us, found = self.settled_us(now_us), []
        while self._waiting and self._waiting[0].at_us < settled_us:
            found.append(heapq.heappop(self._waiting).event)
        return found

    @property
    def waiting(self) -> list[Waiting]:
        """What waits, in no order."""
        return self._waiting
