"""Readings from the rows of a CSV series: rows of one time belong together, and rows that come a little late get their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from wallwatch.domain.isolation.counters import COUNTERS
from wallwatch.domain.isolation.csv_rows import Row, read_rows
from wallwatch.domain.isolation.readings import PORT, Counters, Reading, VfCounters

COUNTS = ("rows", "bad_rows", "bad_delays", "duplicate_rows", "late_rows", "lost_rows", "odd_times")
"""What is counted while a series is read."""

WINDOW = 6
"""Readings that wait for late rows. More would only help files whose rows are in no order at all."""

LEAP_S = 5.0
"""Seconds: a single row whose time is further from the others has a wrong time; several of them are a gap or a step of the clock."""

LOST_IN_A_ROW = 3
"""As many rows of one entity that come too late, in order, and with nothing in between: the host restarted and its clock went back."""


def read_series(lines: Iterable[str], counts: Counter[str]) -> Iterator[Reading]:
    """Read a series as a stream.

    Parameters
    ----------
    lines
        Lines of the file, the header first.
    counts
        `rows`, `bad_rows`, `bad_delays`, `duplicate_rows`, `late_rows` (they got their place), `lost_rows` (too late) and
        `odd_times` (the time of one row leaps) are counted here.

    Raises
    ------
    BadSeries
        See `read_rows`.
    """
    window = _Window(counts)
    for row in read_rows(lines, counts):
        yield from window.add(row)
    yield from window.flush()
    counts["odd_times"] += window.holds


class _Window:
    """The newest readings, in the order of time."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._waiting: list[dict[str, VfCounters]] = []
        self._times: list[float] = []
        self._released = float("-inf")
        self._newest: dict[str, tuple[float, VfCounters]] = {}
        self._lost: dict[str, list[float]] = {}
        self._held: Row | None = None
        """A row whose time leaps; the next one says whether the others leap as well."""
        self._top = float("inf")
        """Largest time in this order; infinite before the first row, which cannot leap."""

    def add(self, row: Row) -> Iterator[Reading]:
        """Take a row; yields the readings that no longer wait."""
        last_t, last = self._newest.get(row.entity, (float("-inf"), None))
        change = _direction(last, row.counters) if last is not None and row.t <= last_t else 0
        if change > 0 or row.t > self._top + LEAP_S:
            held, self._held = self._held, row
            if held is None or abs(row.t - held.t) > LEAP_S:
                self._counts["odd_times"] += held is not None
                return
            self._held = None
            yield from self._leapt(held)
            last_t, last = self._newest.get(row.entity, (float("-inf"), None))
            change = 0
        yield from self._placed(row, last_t, last, change)

    def _placed(self, row: Row, last_t: float, last: VfCounters | None, change: int) -> Iterator[Reading]:
        """Put a row into its reading."""
        t, entity, counters = row
        if last is not None and t <= last_t:
            if t == last_t and change == 0:
                self._counts["duplicate_rows"] += 1
            elif self._late(row):
                yield from self._leapt(row)
            return
        if self._held is not None:
            self._held = None  # the time of one row was wrong: the others go on
            self._counts["odd_times"] += 1
        self._lost.clear()
        self._newest[entity] = (t, counters)
        self._top = t if self._top == float("inf") else max(self._top, t)
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

    @property
    def holds(self) -> bool:
        """Whether a row with a leaping time still waits for a second one."""
        return self._held is not None

    def flush(self) -> Iterator[Reading]:
        """The readings that still wait."""
        while self._waiting:
            yield self._release()

    def _leapt(self, row: Row) -> Iterator[Reading]:
        """A second row confirms a leap of the time: what follows has its own order.

        Forward it is a gap; back, while the counters went on, the host's clock was set.
        """
        if row.t <= self._top:
            yield from self.flush()
            self._released = float("-inf")
            self._newest.clear()
        self._lost.clear()
        self._newest[row.entity] = (row.t, row.counters)
        self._top = row.t
        self._insert(*row)
        while len(self._waiting) > WINDOW:
            yield self._release()

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
