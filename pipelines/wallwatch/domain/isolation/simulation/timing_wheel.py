"""A time-indexed queue: packets wait in the slot of their departure (PicNIC, section 5.4.1; Carousel)."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

SLOT_US = 8.0

Item = TypeVar("Item")


class TimingWheel(Generic[Item]):
    """Slots by number; only slots that hold something exist, so that the horizon needs no bound.

    >>> wheel = TimingWheel[str]()
    >>> wheel.add(17.0, "late")
    >>> wheel.add(3.0, "soon")
    >>> list(wheel.release(until_us=8.0)), len(wheel), wheel.next_us()
    (['soon'], 1, 16.0)
    """

    def __init__(self) -> None:
        self._slots: dict[int, list[Item]] = {}
        self._numbers: list[int] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, departure_us: float, item: Item) -> None:
        """Keep the item until its slot begins: the earliest departure rounded down to the slot."""
        number = int(departure_us / SLOT_US)
        if number not in self._slots:
            self._slots[number] = []
            heappush(self._numbers, number)
        self._slots[number].append(item)
        self._size += 1

    def next_us(self) -> float:
        """When the first slot begins; infinity when the wheel is empty."""
        return self._numbers[0] * SLOT_US if self._numbers else float("inf")

    def release(self, until_us: float) -> Iterator[Item]:
        """Take out the items of all slots that have begun, in order."""
        while self._numbers and self._numbers[0] * SLOT_US <= until_us:
            items = self._slots.pop(heappop(self._numbers))
            self._size -= len(items)
            yield from items
