"""A window of event time in constant space: samples are added to buckets of a few seconds, late ones to the bucket they belong to.

The state is plain JSON, so that a stream job can keep it in a key-value store, and short, because reading and writing it is most of the
cost per message: one row per bucket, with a place for each signal. Two windows have the same form: a fine one over one minute, and a
coarse one over a few minutes, for what happened *before* a symptom.
"""

from __future__ import annotations

from typing import Any

from wallwatch.domain.evidence import Feature

BUCKET_MS = 5_000
"""Half of the usual sampling interval: a bucket holds one sample at 10 s, and five at 1 s."""

WINDOW_MS = 60_000
"""Longest fine window, and how late a sample may come: samples older than this behind the newest one are rejected."""

COARSE_BUCKET_MS = 30_000
"""What came before a symptom need not be known more exactly, and each bucket is part of the state."""

COARSE_WINDOW_MS = 300_000
"""The longest window of a measured signal in the catalogue."""

Rows = list[list[Any]]
"""`[[bucket number, sums] or [bucket number, sums, counts, greatest, least], ...]`, oldest first. Each of the lists has one place per
signal, null where it was not measured; the short form is that of buckets with one sample of each signal."""


def add(
    rows: Rows,
    index: dict[str, int],
    at_ms: int,
    values: dict[str, float],
    newest_ms: int | None = None,
    bucket_ms: int = BUCKET_MS,
    window_ms: int = WINDOW_MS,
) -> None:
    """Add one sample's values: those that have a place in `index`, which is in the order of the places. A signal that is absent from
    `values` leaves no trace, so it stays missing."""
    number = at_ms // bucket_ms
    position = len(rows)
    while position > 0 and rows[position - 1][0] > number:
        position -= 1
    if position > 0 and rows[position - 1][0] == number:
        merge(rows[position - 1], index, values)
    else:
        rows.insert(position, new_row(number, index, values))
    oldest = (number if newest_ms is None else max(newest_ms // bucket_ms, number)) - window_ms // bucket_ms
    while rows and rows[0][0] <= oldest:
        del rows[0]


def new_row(number: int, index: dict[str, int], values: dict[str, float]) -> list[Any]:
    """A bucket with one sample."""
    sums: list[float | None] = [None] * len(index)
    if len(index) < len(values):
        for name, place in index.items():
            sums[place] = values.get(name)
        return [number, sums]
    for name, value in values.items():
        known = index.get(name)
        if known is not None:
            sums[known] = value
    return [number, sums]


def merge(row: list[Any], index: dict[str, int], values: dict[str, float]) -> None:
    """Add one sample's values to a bucket that has some."""
    sums: list[float | None] = row[1]
    if len(index) < len(values):
        values = {name: values[name] for name in index if name in values}
    for name, value in values.items():
        place = index.get(name)
        if place is None:
            continue
        have = sums[place]
        if have is None:
            sums[place] = value
            if len(row) > 2:
                row[2][place], row[3][place], row[4][place] = 1, value, value
            continue
        if len(row) == 2:
            row += [[None if v is None else 1 for v in sums], list(sums), list(sums)]
        sums[place] = have + value
        row[2][place] += 1
        if value > row[3][place]:
            row[3][place] = value
        if value < row[4][place]:
            row[4][place] = value


def _inside(rows: Rows, place: int, first: int) -> list[list[Any]]:
    begin = len(rows)
    while begin > 0 and rows[begin - 1][0] > first:  # most windows are short, and their rows are the last
        begin -= 1
    return [row for row in rows[begin:] if row[1][place] is not None]


def _mean(row: list[Any], place: int) -> float:
    return float(row[1][place]) if len(row) == 2 else float(row[1][place] / row[2][place])


def feature(rows: Rows, place: int, newest_ms: int, window_s: int, statistic: str = "mean", bucket_ms: int = BUCKET_MS) -> Feature | None:
    """Mean, median, maximum, minimum or newest value of a signal in the window that ends at `newest_ms`; None when it was not measured
    in it."""
    first = newest_ms // bucket_ms - max(window_s * 1000 // bucket_ms, 1)
    if statistic in ("mean", "count"):  # events are counted elsewhere
        return _mean_feature(rows, place, first, newest_ms, bucket_ms)
    inside = _inside(rows, place, first)
    if not inside:
        return None
    if statistic == "last":
        inside = inside[-1:]
        value = _mean(inside[0], place)
    elif statistic == "max":
        value = max([row[-2][place] if len(row) > 2 else row[1][place] for row in inside])
    elif statistic == "min":
        value = min([row[-1][place] for row in inside])
    else:
        # The median of the buckets' means, the lower one of two: one outlier moves it as little as one gap.
        value = sorted([_mean(row, place) for row in inside])[(len(inside) - 1) // 2]
    return Feature(value, inside[0][0] * bucket_ms, min((inside[-1][0] + 1) * bucket_ms, newest_ms))


def _mean_feature(rows: Rows, place: int, first: int, newest_ms: int, bucket_ms: int) -> Feature | None:
    """The mean, the most frequent statistic: in one pass from the newest row back."""
    total, count = 0.0, 0
    begin = end = first
    for row in reversed(rows):
        if row[0] <= first:
            break
        value = row[1][place]
        if value is not None:
            total += value
            begin = row[0]
            if not count:
                end = begin
            count += 1 if len(row) == 2 else row[2][place]
    return Feature(total / count, begin * bucket_ms, min((end + 1) * bucket_ms, newest_ms)) if count else None


def count_of(rows: Rows, place: int) -> int:
    """How many samples of a signal there are."""
    return sum(1 if len(row) == 2 else row[2][place] for row in rows if row[1][place] is not None)


def swing_of(rows: Rows, place: int, newest_ms: int, window_s: int) -> Feature | None:
    """Relative swing of a signal in the window: `1 - least / greatest`; None with fewer than two values, because
    growth and the start of measurement look the same.
    """
    inside = _inside(rows, place, newest_ms // BUCKET_MS - window_s * 1000 // BUCKET_MS)
    if count_of(inside, place) < 2:
        return None
    greatest = max(row[-2][place] if len(row) > 2 else row[1][place] for row in inside)
    least = min(row[-1][place] for row in inside)
    return Feature(1.0 - least / greatest if greatest else 0.0, inside[0][0] * BUCKET_MS, newest_ms)


def drop_of(rows: Rows, place: int, newest_ms: int, window_s: int) -> Feature | None:
    """Largest relative drop of a signal in the window: `1 - later / earlier`, 0 if it only grows; None with fewer than two values."""
    inside = _inside(rows, place, newest_ms // BUCKET_MS - window_s * 1000 // BUCKET_MS)
    if count_of(inside, place) < 2:
        return None
    drop, peak = 0.0, 0.0
    for row in inside:
        least = row[-1][place]  # the order within a bucket is unknown, so it is compared with the buckets before
        if peak > 0.0:
            drop = max(drop, 1.0 - least / peak)
        peak = max(peak, row[-2][place] if len(row) > 2 else row[1][place])
    return Feature(drop, inside[0][0] * BUCKET_MS, newest_ms)
