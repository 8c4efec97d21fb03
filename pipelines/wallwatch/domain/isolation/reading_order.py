"""The place of a reading in time: next, duplicate, late, or after a step of the host's clock."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise

from wallwatch.domain.isolation.counters import COUNTERS
from wallwatch.domain.isolation.readings import Counters, Reading

SHORTEST = 0.5
"""Seconds: closer readings are not a second of traffic; their rates would be those of jitter."""

LONGEST_CADENCE = 15.0
"""Seconds: the usual interval is 10 s; what follows a step of the clock within this follows it directly."""

LATE_IN_A_ROW = 10
"""As many late readings in a row, in order among themselves, are no late readings: the clock went back and the host restarted."""


class Order(StrEnum):
    """The place of a reading."""

    FIRST = "first"
    NEXT = "next"
    DUPLICATE = "duplicates"
    LATE = "late"
    STEP = "clock_steps"


class ReadingOrder:
    """Place readings one after the other, by their time and by their counters.

    A time that does not advance has three causes, and the counters show which: the same counters are a duplicate, smaller ones
    a late reading, larger ones a clock that was set back. The next reading shows whether the clock stays back or one time was wrong.
    """

    __slots__ = ("_interval", "_last", "_late", "_step", "previous_t", "stepped")

    def __init__(self) -> None:
        self._last: Reading | None = None
        self._interval = 1.0
        self._step: Reading | None = None
        self._late: list[Reading] = []
        self.previous_t = 0.0
        """Time of the reading before the one that was placed as next."""
        self.stepped: Reading | None = None
        """Set when the clock stepped before the placed reading: the interval begins with this one."""

    def place(self, reading: Reading) -> Order:
        """Place a reading; only FIRST and NEXT become the one that the following ones are compared with."""
        last = self._last
        self.stepped = None
        if last is None:
            self._last = reading
            return Order.FIRST
        interval = reading.t - last.t
        if self._step is not None:
            return self._after_step(reading, last, self._step, interval)
        if interval >= SHORTEST:
            return self._next(reading, last.t, interval)
        return self._backwards(reading, last)

    def _next(self, reading: Reading, previous_t: float, interval: float) -> Order:
        self.previous_t = previous_t
        self._last, self._interval = reading, interval
        if self._late:
            self._late = []
        return Order.NEXT

    def _backwards(self, reading: Reading, last: Reading) -> Order:
        change = _direction(last, reading)
        if change == 0:
            return Order.DUPLICATE
        if change > 0:
            self._step = reading
            return Order.STEP
        self._late.append(reading)
        if len(self._late) >= LATE_IN_A_ROW:
            if all(later.t > earlier.t and _direction(earlier, later) >= 0 for earlier, later in pairwise(self._late)):
                self._step, self._late = reading, []
                return Order.STEP
            del self._late[0]
        return Order.LATE

    def _after_step(self, reading: Reading, last: Reading, step: Reading, interval: float) -> Order:
        """The reading after one whose time went back: does it follow that one, or the one before?"""
        since_step = reading.t - step.t
        follows_step = SHORTEST <= since_step <= LONGEST_CADENCE
        odd_row = interval >= SHORTEST
        if follows_step and odd_row:
            follows_step = abs(since_step - self._interval) <= abs(interval - 2 * self._interval)
        if follows_step:
            self._step, self.stepped = None, step
            return self._next(reading, step.t, since_step)
        if odd_row:
            self._step = None
            return self._next(reading, last.t, interval)
        change = _direction(step, reading)
        if change <= 0:
            return Order.DUPLICATE if change == 0 else Order.LATE
        self._step = reading
        return Order.STEP


def _direction(old: Reading, new: Reading) -> int:
    """1 when counters went up, -1 when any went down, 0 when all are the same."""
    up = False
    pairs: list[tuple[Counters | None, Counters | None]] = [(old.port, new.port)]
    pairs.extend((old.vfs.get(name), counters) for name, counters in new.vfs.items())
    for before, after in pairs:
        if before is None or after is None:
            continue
        for name in COUNTERS:
            one, other = getattr(before, name), getattr(after, name)
            if one is None or other is None or one == other:
                continue
            if other < one:
                return -1
            up = True
    return 1 if up else 0
