"""A window (see `window`) whose older rows are bytes: what is kept of every RNIC between messages.

Samples go into the newest row; the others are looked at when something is judged, which is rare, but are decoded and encoded with their
RNIC for each of its samples. As lists they take longer than judging does, as bytes nothing. Pure; the window is changed in place.

A row in bytes is the number of its bucket and the sums of the signals, NaN where one was not measured. In the long form, which a window has
once a bucket had two samples of a signal, counts, greatest and least values follow. All rows in bytes have the same form.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms import window
from wallwatch.domain.symptoms.window import BUCKET_MS, WINDOW_MS

Packed = list[Any]
"""`[older rows (bytes), newest row (a row of window.Rows) or None]`."""

_LONG = 1 << 62
"""Set in the numbers of rows of the long form: far above any number of a bucket."""
_LONG_BYTE, _LONG_BIT = 7, _LONG >> 56
"""Where that bit is in a row's bytes."""
_PARTS = 4
"""Sums, counts, greatest and least values."""

_NUMBER = struct.Struct("<q")
_NAN = nan
"""In the place of a signal that was not measured, as said above."""


def new() -> Packed:
    """A window without samples."""
    return [b"", None]


def newest_bucket(packed: Packed) -> int | None:
    """The number of the newest bucket; None when there is none."""
    return None if packed[1] is None else int(packed[1][0])


def _number_at(older: bytes, begin: int) -> int:
    """The number of the row that begins there; the bit of the long form is in its last byte."""
    return int.from_bytes(older[begin : begin + _LONG_BYTE], "little")


class Layout:
    """The signals of a window in the order of their places."""

    def __init__(self, signals: Sequence[str]) -> None:
        width = len(signals)
        self.places = {name: place for place, name in enumerate(signals)}
        self._short, self._long = struct.Struct(f"<q{width}d"), struct.Struct(f"<q{width * _PARTS}d")
        columns = [(8 * place, 8 * (width - 1 - place)) for place in range(width)]
        self._columns = [struct.Struct(f"<q{before}xd{after}x") for before, after in columns]
        self._long_columns = [struct.Struct("<q" + f"{before}xd{after}x" * _PARTS) for before, after in columns]

    def add(
        self,
        packed: Packed,
        at_ms: int,
        values: dict[str, float],
        newest_ms: int,
        bucket_ms: int = BUCKET_MS,
        window_ms: int = WINDOW_MS,
    ) -> None:
        """Add one sample's values, as `window.add` does."""
        number = at_ms // bucket_ms
        newest: list[Any] | None = packed[1]
        in_newest = newest is not None and number == newest[0]
        if newest is not None and number < newest[0]:
            rows = self._rows(packed)
            window.add(rows, self.places, at_ms, values, newest_ms, bucket_ms, window_ms)
            packed[:] = self.of_rows(rows)
            return
        if in_newest and newest is not None:
            window.merge(newest, self.places, values)
            if newest_ms // bucket_ms <= number:
                return  # what is too old left when this row was new
        else:
            if newest is not None:
                packed[0] = self._with(packed[0], newest)
            packed[1] = window.new_row(number, self.places, values)
        older, oldest = packed[0], max(newest_ms // bucket_ms, number) - window_ms // bucket_ms
        if number <= oldest:
            packed[:] = new()
        elif older and _number_at(older, 0) <= oldest:
            size, begin = self._form(older).size, 0
            while begin < len(older) and _number_at(older, begin) <= oldest:
                begin += size
            packed[0] = older[begin:]

    def of_rows(self, rows: window.Rows) -> Packed:
        """The window that `window.add` has kept."""
        packed = b""
        for row in rows[:-1]:
            packed = self._with(packed, row)
        return [packed, rows[-1] if rows else None]

    def rows_of(self, packed: Packed, place: int) -> window.Rows:
        """The rows as `window` has them, with one signal at place 0."""
        rows: window.Rows = []
        for number, value, *more in self._column(packed[0], place):
            if value != value:
                rows.append([number & ~_LONG, [None]])
            elif more:
                rows.append([number & ~_LONG, [value], [int(more[0])], [more[1]], [more[2]]])
            else:
                rows.append([number, [value]])
        if packed[1] is not None:
            number, *parts = packed[1]
            rows.append([number, *[[part[place]] for part in parts]])
        return rows

    def feature(
        self, packed: Packed, place: int, newest_ms: int, window_s: int, statistic: str = "mean", bucket_ms: int = BUCKET_MS
    ) -> Feature | None:
        """As `window.feature`."""
        return window.feature(self.rows_of(packed, place), 0, newest_ms, window_s, statistic, bucket_ms)

    def sum_of(self, packed: Packed, place: int, newest_ms: int, window_s: int) -> tuple[float, int]:
        """Sum and number of a signal's samples in the window that ends at `newest_ms`."""
        total, count = 0.0, 0
        first = newest_ms // BUCKET_MS - max(window_s * 1000 // BUCKET_MS, 1)
        older: bytes = packed[0]
        if older:
            form = self._form(older)
            is_long = form is self._long
            begin, size = 0, form.size
            while begin < len(older) and _number_at(older, begin) <= first:
                begin += size
            columns = (self._long_columns if is_long else self._columns)[place]
            for row in columns.iter_unpack(older[begin:]):
                value = row[1]
                if value == value:
                    total += value
                    count += int(row[2]) if is_long else 1
        newest = packed[1]
        if newest is not None and newest[0] > first and newest[1][place] is not None:
            total += newest[1][place]
            count += newest[2][place] if len(newest) > 2 else 1
        return total, count

    def _form(self, older: bytes) -> struct.Struct:
        return self._long if older[_LONG_BYTE] & _LONG_BIT else self._short

    def _column(self, older: bytes, place: int) -> Iterator[tuple[Any, ...]]:
        """Of each row in bytes its number and one signal's sum (count, greatest and least)."""
        if not older:
            return iter(())
        return (self._long_columns if older[_LONG_BYTE] & _LONG_BIT else self._columns)[place].iter_unpack(older)

    def _with(self, older: bytes, row: list[Any]) -> bytes:
        """One more row in bytes."""
        if len(row) == 2 and not (older and older[_LONG_BYTE] & _LONG_BIT):
            return older + self._short.pack(row[0], *[_NAN if value is None else value for value in row[1]])
        if older and not older[_LONG_BYTE] & _LONG_BIT:
            older = b"".join([self._pack_long(number, sums) for number, *sums in self._short.iter_unpack(older)])
        return older + self._pack_long(*row)

    def _pack_long(
        self, number: int, sums: list[Any], counts: list[Any] | None = None, most: list[Any] | None = None, least: list[Any] | None = None
    ) -> bytes:
        cells = [*sums, *(counts or [1.0] * len(sums)), *(most or sums), *(least or sums)]
        return self._long.pack(number | _LONG, *[nan if value is None else value for value in cells])

    def _rows(self, packed: Packed) -> window.Rows:
        """All rows as `window` has them."""
        older, newest = packed
        rows: window.Rows = []
        width = len(self.places)
        if older:
            for number, *cells in self._form(older).iter_unpack(older):
                parts = [cells[i : i + width] for i in range(0, len(cells), width)]
                sums = [value if value == value else None for value in parts[0]]
                more: list[list[Any]] = [
                    [None if known is None else cell for known, cell in zip(sums, part, strict=True)] for part in parts[1:]
                ]
                if more:
                    more[0] = [None if count is None else int(count) for count in more[0]]
                rows.append([number & ~_LONG, sums, *more])
        return rows if newest is None else [*rows, newest]
