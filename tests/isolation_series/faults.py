"""What goes wrong with telemetry: wraps, restarts, gaps, clocks set back, rows twice and rows late."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from tests.isolation_series.rows import PORT, Row, Snapshot
from tests.isolation_series.truth import Interval

UNSIGNED_64 = 2**64
UNSIGNED_32 = 2**32
BYTE_COLUMNS = (0, 3)


@dataclass
class Entry:
    """A reading and the interval that it ends; None for the baseline and for a copy."""

    reading: Snapshot
    interval: Interval | None


@dataclass
class Telemetry:
    """The readings in the order of the file, the intervals that lost theirs, and what was done, in words."""

    entries: list[Entry]
    absent: list[Interval] = field(default_factory=list)
    scripted: list[str] = field(default_factory=list)
    modulus: list[int] = field(default_factory=lambda: [UNSIGNED_64] * 6)

    def intervals(self) -> list[Interval]:
        """All intervals, also those whose rows are missing, by time."""
        there = [entry.interval for entry in self.entries if entry.interval is not None]
        return sorted([*there, *self.absent], key=lambda one: one.t)


def telemetry_of(readings: Iterable[Snapshot], truth: Iterable[Interval]) -> Telemetry:
    """Telemetry without faults; the first reading is the baseline."""
    return Telemetry([Entry(reading, interval) for reading, interval in zip(readings, [None, *truth], strict=True)])


def shift_clock(telemetry: Telemetry, start: float) -> None:
    """Let the file begin at `start` instead of 0."""
    for entry in telemetry.entries:
        entry.reading = entry.reading.at(entry.reading.t + start)
        if entry.interval is not None:
            entry.interval.t += start


def unsteady_clock(telemetry: Telemetry, rng: np.random.Generator) -> None:
    """Let the readings come some milliseconds early or late; counters are those of that time.

    An interval at the edge of an overload then sees some packets of the other side, and is not judged unless it is broken.
    """
    entries = telemetry.entries
    readings = [entry.reading for entry in entries]
    for place, entry in enumerate(entries):
        late_s = float(rng.uniform(-0.008, 0.008)) if 0 < place < len(entries) - 1 else 0.0
        other = readings[place + (1 if late_s > 0 else -1)] if late_s else readings[place]
        entry.reading = read_late(readings[place], other, late_s)
        if entry.interval is None:
            continue
        entry.interval.t = entry.reading.t
        around = [near.interval for near in entries[max(place - 1, 0) : place + 2] if near.interval is not None]
        if not entry.interval.broken and len({near.busy > 0 for near in around}) > 1:
            entry.interval.marginal = "at the edge of an overload, by an unsteady clock"


def read_late(reading: Snapshot, other: Snapshot, late_s: float) -> Snapshot:
    """The reading as it would be `late_s` later (negative: earlier), `other` being its neighbour on that side."""
    t = round(reading.t + late_s, 3)
    part = (t - reading.t) / (other.t - reading.t) if late_s else 0.0
    neighbours = {row.entity: row.counters for row in other.rows}

    def between(row: Row) -> Row:
        values = zip(row.counters, neighbours[row.entity], strict=True)
        return replace(row, counters=tuple(value + round((then - value) * part) for value, then in values))

    return Snapshot(t, tuple(between(row) for row in reading.rows))


def wrap(telemetry: Telemetry, rng: np.random.Generator, bits: int, with_bytes: bool) -> None:
    """Let counters be so wide only, and those of each row wrap somewhere in the file."""
    modulus = 2**bits
    columns = [column for column in range(6) if with_bytes or column not in BYTE_COLUMNS]
    count = len(telemetry.entries)
    shift: dict[str, list[int]] = {}
    for row in telemetry.entries[0].reading.rows:
        middle = telemetry.entries[int(rng.integers(count // 5, count * 4 // 5))].reading
        counters = next(one.counters for one in middle.rows if one.entity == row.entity)
        shift[row.entity] = [counters[column] if column in columns else 0 for column in range(6)]
    for column in columns:
        telemetry.modulus[column] = modulus

    def narrow(row: Row) -> Row:
        values = zip(row.counters, shift[row.entity], telemetry.modulus, strict=True)
        return replace(row, counters=tuple((value - by) % modulus for value, by, modulus in values))

    for entry in telemetry.entries:
        entry.reading = replace(entry.reading, rows=tuple(narrow(row) for row in entry.reading.rows))
    telemetry.scripted.append(f"counters of {bits} bits{'' if with_bytes else ' (not the bytes)'} wrap")


def restart(telemetry: Telemetry, place: int, entities: set[str]) -> None:
    """Counters of `entities` begin again at 0 with the reading before `place`: the interval that ends at `place` is lost for them."""
    before = {row.entity: row.counters for row in telemetry.entries[place - 1].reading.rows if row.entity in entities}

    def again(row: Row) -> Row:
        if row.entity not in before:
            return row
        values = zip(row.counters, before[row.entity], telemetry.modulus, strict=True)
        return replace(row, counters=tuple((value - old) % modulus for value, old, modulus in values))

    for entry in telemetry.entries[place:]:
        entry.reading = replace(entry.reading, rows=tuple(again(row) for row in entry.reading.rows))
    interval = telemetry.entries[place].interval
    if interval is not None and (PORT in entities or entities & set(interval.aggressors) or len(entities) > 1):
        interval.marginal = "counters restarted"
    telemetry.scripted.append(f"counters of {', '.join(sorted(entities))} restart before {telemetry.entries[place].reading.t:.0f}")


def gap(telemetry: Telemetry, place: int, length: int) -> None:
    """`length` readings from `place` on are missing; what the next one shows covers them all."""
    telemetry.scripted.append(f"{length} readings are missing from {telemetry.entries[place].reading.t:.0f} on")
    for entry in telemetry.entries[place : place + length]:
        if entry.interval is not None:
            entry.interval.gap = True
            telemetry.absent.append(entry.interval)
    after = telemetry.entries[place + length].interval
    if after is not None:
        after.marginal = "ends a gap"
    del telemetry.entries[place : place + length]


def clock_back(telemetry: Telemetry, place: int, by_s: float) -> None:
    """From reading `place` on, the clock is `by_s` behind; times that occur twice are judged by nobody."""
    last = telemetry.entries[place - 1].reading.t
    for entry in telemetry.entries[place:]:
        entry.reading = entry.reading.at(entry.reading.t - by_s)
        if entry.interval is not None:
            entry.interval.t -= by_s
    first = telemetry.entries[place].reading.t
    for entry in telemetry.entries:
        if entry.interval is not None and first <= entry.interval.t <= last:
            entry.interval.marginal = "its time occurs twice"
    telemetry.scripted.append(f"the clock goes back by {by_s:g} s at {last:.0f}")


def twice(telemetry: Telemetry, place: int, later: int) -> None:
    """Reading `place` comes again, `later` readings after itself."""
    copy = Entry(telemetry.entries[place].reading, None)
    telemetry.entries.insert(place + 1 + later, copy)
    telemetry.scripted.append(f"the rows of {copy.reading.t:.0f} come twice")


def late(telemetry: Telemetry, place: int, by: int) -> None:
    """Reading `place` comes `by` readings late; the next one, which came in its place, covers both intervals."""
    mine, following = telemetry.entries[place].interval, telemetry.entries[place + 1].interval
    if mine is not None:
        mine.marginal = mine.marginal or "its rows came late"
    if mine is not None and following is not None and (mine.broken, mine.aggressors) != (following.broken, following.aggressors):
        following.marginal = "covers an interval whose rows came late"
    telemetry.entries.insert(place + by, telemetry.entries.pop(place))
    telemetry.scripted.append(f"the rows of {telemetry.entries[place + by].reading.t:.0f} come {by} late")


def missing_rows(telemetry: Telemetry, place: int, length: int, entity: str) -> None:
    """`entity` has no row in `length` readings; who can't be seen can't be judged, the others can."""
    for at, entry in enumerate(telemetry.entries[place : place + length + 1]):
        if at < length:
            entry.reading = replace(entry.reading, rows=tuple(row for row in entry.reading.rows if row.entity != entity))
        if entry.interval is not None and (entity == PORT or entity in entry.interval.aggressors):
            entry.interval.marginal = "rows of who matters are missing"
    telemetry.scripted.append(f"{entity} has no rows in {length} readings from {telemetry.entries[place].reading.t:.0f} on")


def spoil(telemetry: Telemetry, rng: np.random.Generator, nic_bps: float) -> None:
    """Put faults on top, most of them in most files."""
    if rng.random() < 0.7:
        bits = int(rng.choice([32, 64]))
        wrap(telemetry, rng, bits, bits == 64 or nic_bps <= 25e9)
    entities = [row.entity for row in telemetry.entries[0].reading.rows]

    def somewhere(margin: int) -> int:
        return int(rng.integers(5, len(telemetry.entries) - margin))

    if rng.random() < 0.7:
        restart(
            telemetry, somewhere(5), set(entities) if rng.random() < 0.5 else {str(rng.choice([one for one in entities if one != PORT]))}
        )
    if rng.random() < 0.7:
        clock_back(telemetry, int(rng.integers(30, len(telemetry.entries) - 5)), float(rng.integers(1, 12)))
    if rng.random() < 0.5:
        missing_rows(telemetry, somewhere(25), int(rng.integers(1, 20)), str(rng.choice(entities)))
    for _ in range(int(rng.integers(1, 4))):
        length = int(rng.integers(1, 30))
        gap(telemetry, somewhere(length + 5), length)
    for _ in range(int(rng.integers(2, 12))):
        twice(telemetry, somewhere(10), int(rng.choice([0, 0, 0, 1, 4])))
    for _ in range(int(rng.integers(1, 5))):
        place = somewhere(10)
        if all(entry.interval is not None and not entry.interval.marginal for entry in telemetry.entries[place : place + 4]):
            late(telemetry, place, int(rng.choice([1, 1, 2])))
