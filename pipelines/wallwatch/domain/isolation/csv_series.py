"""Readings from the rows of a CSV series: rows of one time belong together, and rows that come a little late get their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from wallwatch.domain.isolation.counters import COUNTERS
from wallwatch.domain.isolation.csv_rows import Row, read_rows
from wallwatch.domain.isolation.readings import PORT, Counters, Reading, VfCounters

WINDOW = 6
"""Readings that wait for late rows. More would only help files whose rows are in no order at all."""

LOST_IN_A_ROW = 3
"""As many rows of one entity that come too late, in order, and with nothing in between: the host restarted and its clock went back."""


def read_series(lines: Iterable[str], counts: Counter[str]) -> Iterator[Reading]:
    """Read a series as a stream.

    Parameters
    ----------
    lines
        Lines of the file, the header first.
    counts
        `rows`, `bad_rows`, `bad_delays`, `duplicate_rows`, `late_rows` (they got their place) and `lost_rows` (too late) are counted here.

    Raises
    ------
    BadSeries
        See `read_rows`.
    """
    window = _Window(counts)
    for row in read_rows(lines, counts):
        yield from window.add(row)
    yield from window.flush()


class _Window:
    """The newest readings, in the order of time."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._waiting: list[dict[str, VfCounters]] = []
        self._times: list[float] = []
        self._released = float("-inf")
        self._newest: dict[str, tuple[float, VfCounters]] = {}
        self._lost: dict[str, list[float]] = {}

    def add(self, row: Row) -> Iterator[Reading]:
        """Take a row; yields the readings that no longer wait."""
        t, entity, counters = row
        last_t, last = self._newest.get(entity, (float("-inf"), None))
        if last is not None and t <= last_t:
            change = _direction(last, counters)
            if t == last_t and change == 0:
                self._counts["duplicate_rows"] += 1
                return
            if change > 0:
                yield from self._stepped(row)
                return
            if self._late(row):
                yield from self._stepped(row)
            return
        self._lost.clear()
        self._newest[entity] = (t, counters)
        place = self._place(t)
        if place is not None:
            self._waiting[place].setdefault(entity, counters)
            return
        if t <= self._released:
            self._counts["lost_rows"] += 1
            return
        self._insert(t, entity, counters)
        while len(self._waiting) > WINDOW:
            yield self._release()

    def flush(self) -> Iterator[Reading]:
        """The readings that still wait."""
        while self._waiting:
            yield self._release()

    def _stepped(self, row: Row) -> Iterator[Reading]:
        """The time went back while the counter went on: the host's clock was set, and what follows has its own order."""
        yield from self.flush()
        self._lost.clear()
        self._released = float("-inf")
        self._newest = {row.entity: (row.t, row.counters)}
        self._insert(*row)

    def _late(self, row: Row) -> bool:
        """Put a late row in its place; True when it is not late, but the first of a clock that went back with the host's counters."""
        place = self._place(row.t)
        if place is not None and row.entity in self._waiting[place]:
            self._counts["duplicate_rows"] += 1
        elif place is not None:
            self._counts["late_rows"] += 1
            self._waiting[place][row.entity] = row.counters
        elif row.t > self._released:
            self._counts["late_rows"] += 1
            self._insert(*row)
        else:
            self._counts["lost_rows"] += 1
            times = self._lost.setdefault(row.entity, [])
            times.append(row.t)
            return len(times) >= LOST_IN_A_ROW and times == sorted(set(times))
        return False

    def _place(self, t: float) -> int | None:
        """Position of the reading of this time among those that wait; the newest is the usual case."""
        for position in range(len(self._times) - 1, -1, -1):
            if self._times[position] == t:
                return position
        return None

    def _insert(self, t: float, entity: str, counters: VfCounters) -> None:
        position = len(self._times)
        while position and self._times[position - 1] > t:
            position -= 1
        self._times.insert(position, t)
        self._waiting.insert(position, {entity: counters})

    def _release(self) -> Reading:
        self._released = self._times.pop(0)
        entities = self._waiting.pop(0)
        port: Counters | None = entities.pop(PORT, None)
        return Reading(self._released, port, entities)


def _direction(old: Counters, new: Counters) -> int:
    """1 when the counters went up, -1 when any went down, 0 when all are the same."""
    up = False
    for name in COUNTERS:
        before, after = getattr(old, name), getattr(new, name)
        if before is None or after is None or before == after:
            continue
        if after < before:
            return -1
        up = True
    return 1 if up else 0
