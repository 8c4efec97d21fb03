"""A window of event time in constant space: samples are added to buckets of a few seconds, late ones to the bucket they belong to.

The state is plain JSON, so that a stream job can keep it in a key-value store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BUCKET_MS = 5_000
WINDOW_MS = 60_000
"""Longest window, and how late a sample may come: what is older than this behind the newest sample is refused."""

Buckets = list[list[Any]]
"""`[[bucket number, {signal: [sum, count, max]}], ...]`, oldest first."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One signal over one window: `value` from samples between two times (ms since 1970)."""

    value: float
    from_ms: int
    to_ms: int


def add(buckets: Buckets, at_ms: int, values: Mapping[str, float]) -> None:
    """Add one sample's values. A signal that is absent from `values` leaves no trace, so it stays missing."""
    number = at_ms // BUCKET_MS
    position = len(buckets)
    while position > 0 and buckets[position - 1][0] > number:
        position -= 1
    if position > 0 and buckets[position - 1][0] == number:
        cells = buckets[position - 1][1]
    else:
        cells = {}
        buckets.insert(position, [number, cells])
    for signal, value in values.items():
        cell = cells.get(signal)
        if cell is None:
            cells[signal] = [value, 1, value]
        else:
            cell[0] += value
            cell[1] += 1
            if value > cell[2]:
                cell[2] = value
    oldest = buckets[-1][0] - WINDOW_MS // BUCKET_MS
    while buckets[0][0] <= oldest:
        del buckets[0]


def feature(buckets: Buckets, newest_ms: int, signal: str, window_s: int, statistic: str = "mean") -> Feature | None:
    """Mean or maximum of a signal in the window that ends with the newest sample; None when it was not measured in it."""
    first = newest_ms // BUCKET_MS - window_s * 1000 // BUCKET_MS
    total, count, highest = 0.0, 0, float("-inf")
    start = end = 0
    for number, cells in buckets:
        if number <= first:
            continue
        cell = cells.get(signal)
        if cell is None:
            continue
        if count == 0:
            start = number
        end = number
        total += cell[0]
        count += cell[1]
        highest = max(highest, cell[2])
    if count == 0:
        return None
    value = highest if statistic == "max" else total / count
    return Feature(value, start * BUCKET_MS, min((end + 1) * BUCKET_MS, newest_ms))


def change_of(buckets: Buckets, newest_ms: int, signal: str, window_s: int) -> Feature | None:
    """Relative change of a signal between the older and the newer half of the window: `|new - old| / max(new, old)`.

    None when either half has no value: growth cannot be told from a start of measurement.
    """
    middle = newest_ms // BUCKET_MS - window_s * 500 // BUCKET_MS
    first = newest_ms // BUCKET_MS - window_s * 1000 // BUCKET_MS
    sums, counts = [0.0, 0.0], [0, 0]
    start = None
    for number, cells in buckets:
        cell = cells.get(signal)
        if number <= first or cell is None:
            continue
        start = number if start is None else start
        half = int(number > middle)
        sums[half] += cell[0]
        counts[half] += cell[1]
    if start is None or 0 in counts:
        return None
    old, new = sums[0] / counts[0], sums[1] / counts[1]
    larger = max(old, new)
    return Feature(abs(new - old) / larger if larger else 0.0, start * BUCKET_MS, newest_ms)
