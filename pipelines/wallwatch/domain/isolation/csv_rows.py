"""Rows of a CSV series: one entity at one instant. A bad row is counted and skipped, a bad file refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wallwatch.domain.isolation.counters import COUNTERS
from wallwatch.domain.isolation.readings import PORT, VfCounters
from wallwatch.domain.isolation.slo import VF_NAME

COLUMNS = ("t", "entity", *COUNTERS, "delay_p50_us", "delay_p99_us")

LARGEST_COUNTER = 1 << 64
LARGEST_T = 1e12
"""Seconds: later than this a time is one in other units, or garbage."""

LARGEST_DELAY_US = 60e6
"""A minute: probes that take longer are lost."""

LONGEST_LINE = 4096


class BadSeries(ValueError):
    """A file that is no series; the text says what is wrong with it."""


class Row(NamedTuple):
    """One entity at one instant."""

    t: float
    entity: str
    counters: VfCounters


def read_rows(lines: Iterable[str], counts: Counter[str]) -> Iterator[Row]:
    """Read rows in the order of the file; columns may be in any order, and others are ignored.

    Parameters
    ----------
    lines
        Lines of the file, the header first.
    counts
        `rows`, `bad_rows` and `bad_delays` are counted here.

    Raises
    ------
    BadSeries
        If the file is empty, the header lacks a column, or no row at all can be read.
    """
    iterator = iter(lines)
    header = next(iterator, None)
    if header is None or not header.strip():
        raise BadSeries("the file is empty: its first line must name the columns " + ",".join(COLUMNS))
    names = [name.strip().strip('"').lower() for name in header.lstrip("\ufeff").split(",")]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise BadSeries(f"the first line lacks the columns {', '.join(missing)}; they must be {','.join(COLUMNS)}")
    places = [names.index(name) for name in COLUMNS]
    first_problem = ""
    good = 0
    for number, line in enumerate(iterator, start=2):
        if not line.strip():
            continue
        counts["rows"] += 1
        try:
            row = _row(line, places, len(names), counts)
        except ValueError as error:
            counts["bad_rows"] += 1
            first_problem = first_problem or f"line {number}: {error}"
            continue
        good += 1
        yield row
    if not good:
        raise BadSeries(f"no row can be read; {first_problem}" if first_problem else "the file has a header and no rows")


def _row(line: str, places: list[int], width: int, counts: Counter[str]) -> Row:
    if len(line) > LONGEST_LINE:
        raise ValueError("the line is too long to be a row")
    cells = line.rstrip("\r\n").split(",")
    if len(cells) != width:
        raise ValueError(f"{len(cells)} values instead of {width}")
    values = [cells[place].strip().strip('"') for place in places]
    try:
        t = float(values[0])
    except ValueError:
        raise ValueError(f"t is {values[0]!r:.40}, not a number") from None
    if not 0 <= t <= LARGEST_T:
        raise ValueError(f"t is {values[0]!r:.40}, not a time in seconds")
    entity = values[1]
    if entity != PORT and not VF_NAME.fullmatch(entity):
        raise ValueError(f"entity is {entity!r:.40}, neither {PORT} nor vf0, vf1, ...")
    rx_bytes, rx_packets, rx_dropped, tx_bytes, tx_packets, tx_dropped = map(_counter, COUNTERS, values[2:8])
    p50, p99 = (_delay(value, counts) for value in values[8:])
    return Row(t, entity, VfCounters(rx_bytes, rx_packets, rx_dropped, tx_bytes, tx_packets, tx_dropped, "", p50, p99))


def _counter(name: str, value: str) -> int | None:
    """An empty value is a counter that the interface does not have."""
    if not value:
        return None
    try:
        number = int(value)
    except ValueError:
        try:
            number = int(float(value))  # "12.0" and "1.2e9": some writers know no integers
        except (ValueError, OverflowError):
            raise ValueError(f"{name} is {value!r:.40}, not a counter") from None
    if not 0 <= number < LARGEST_COUNTER:
        raise ValueError(f"{name} is {value!r:.40}, not between 0 and 2^64")
    return number


def _delay(value: str, counts: Counter[str]) -> float | None:
    """A delay that is missing or makes no sense is unknown; the counters of the row still count."""
    if not value:
        return None
    try:
        delay = float(value)
    except ValueError:
        counts["bad_delays"] += 1
        return None
    if math.isnan(delay):
        return None
    if not 0 <= delay <= LARGEST_DELAY_US:
        counts["bad_delays"] += 1
        return None
    return delay
