"""A window of event time in constant space: samples are added to buckets of a few seconds, late ones to the bucket they belong to.

The state is plain JSON, so that a stream job can keep it in a key-value store. Two windows have the same form: a fine one over a minute,
and
a coarse one that keeps the extremes of some minutes, for what happened *before* a symptom.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BUCKET_MS = 5_000
WINDOW_MS = 60_000
"""Longest fine window, and how late a sample may come: what is older than this behind the newest sample is refused."""

COARSE_BUCKET_MS = 30_000
COARSE_WINDOW_MS = 300_000

Windows = dict[str, list[list[Any]]]
"""`{signal: [[bucket number, sum, count, max, min], ...]}`, oldest first."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One signal over one window: `value` from samples between two times (ms since 1970)."""

    value: float
    from_ms: int
    to_ms: int


def add(
    windows: Windows,
    at_ms: int,
    values: Mapping[str, float],
    newest_ms: int | None = None,
    bucket_ms: int = BUCKET_MS,
    window_ms: int = WINDOW_MS,
) -> None:
    """Add one sample's values. A signal that is absent from `values` leaves no trace, so it stays missing."""
    number = at_ms // bucket_ms
    newest = number if newest_ms is None else newest_ms // bucket_ms
    oldest = newest - window_ms // bucket_ms
    for signal, value in values.items():
        cells = windows.get(signal)
        if cells is None:
            windows[signal] = [[number, value, 1, value, value]]
            continue
        last = cells[-1] if cells else None
        if last is None or last[0] < number:
            cells.append([number, value, 1, value, value])
        else:
            position = len(cells)
            while position > 0 and cells[position - 1][0] > number:
                position -= 1
            if position > 0 and cells[position - 1][0] == number:
                cell = cells[position - 1]
                cell[1] += value
                cell[2] += 1
                if value > cell[3]:
                    cell[3] = value
                if value < cell[4]:
                    cell[4] = value
            else:
                cells.insert(position, [number, value, 1, value, value])
        while cells[0][0] <= oldest:
            del cells[0]
            if not cells:
                del windows[signal]
                break


def feature(
    windows: Windows, newest_ms: int, signal: str, window_s: int, statistic: str = "mean", bucket_ms: int = BUCKET_MS
) -> Feature | None:
    """Mean, median, maximum, minimum or newest value of a signal in the window that ends at `newest_ms`; None when it was not measured
    in it."""
    cells = windows.get(signal)
    if not cells:
        return None
    first = newest_ms // bucket_ms - max(window_s * 1000 // bucket_ms, 1)
    if cells[-1][0] <= first:
        return None
    if statistic == "last":
        cell = cells[-1]
        return Feature(cell[1] / cell[2], cell[0] * bucket_ms, min((cell[0] + 1) * bucket_ms, newest_ms))
    start = 0
    for start, cell in enumerate(cells):  # noqa: B007 - the position is used below
        if cell[0] > first:
            break
    inside = cells[start:] if start else cells
    if statistic == "max":
        value = max([cell[3] for cell in inside])
    elif statistic == "min":
        value = min([cell[4] for cell in inside])
    elif statistic == "median":
        # Of the buckets' means, the lower one of two: one outlier moves it as little as one gap.
        value = sorted([cell[1] / cell[2] for cell in inside])[(len(inside) - 1) // 2]
    else:
        total, count = 0.0, 0
        for cell in inside:
            total += cell[1]
            count += cell[2]
        value = total / count
    return Feature(value, inside[0][0] * bucket_ms, min((inside[-1][0] + 1) * bucket_ms, newest_ms))


def swing_of(windows: Windows, newest_ms: int, signal: str, window_s: int) -> Feature | None:
    """Relative swing of a signal in the window: `1 - least / greatest`; None when there are no two values: growth cannot be told from a
    start of measurement.
    """
    first = newest_ms // BUCKET_MS - window_s * 1000 // BUCKET_MS
    inside = [cell for cell in windows.get(signal, ()) if cell[0] > first]
    if sum(cell[2] for cell in inside) < 2:
        return None
    greatest, least = max(cell[3] for cell in inside), min(cell[4] for cell in inside)
    return Feature(1.0 - least / greatest if greatest else 0.0, inside[0][0] * BUCKET_MS, newest_ms)
