"""A window (see `window`) in little memory, for every RNIC: what samples go into is an array, the older rows are bytes.

Samples go into the newest row; the others are looked at when something is judged, which is rare. Pure; the window is changed in place.

A row in bytes is the number of its bucket and the sums of the signals, NaN where one was not measured. In the long form, which a window has
once a bucket had two samples of a signal, counts, greatest and least values follow. All rows in bytes have the same form.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

from librt.vecs import vec
from mypy_extensions import i64

from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms import window
from wallwatch.domain.symptoms.window import BUCKET_MS, WINDOW_MS

Plain = list[Any]
"""A window in MessagePack: `[older rows (bytes), newest row (a row of window.Rows) or None]`."""

_LONG = 1 << 62
"""Set in the numbers of rows of the long form: far above any number of a bucket."""
_LONG_BYTE, _LONG_BIT = 7, _LONG >> 56
"""Where that bit is in a row's bytes."""
_PARTS = 4
"""Sums, counts, greatest and least values."""

_NUMBER = struct.Struct("<q")
_NAN = nan
"""In the place of a signal that was not measured, as said above."""
_EMPTY = -1
"""The number of the newest bucket where there is none: buckets are counted from 1970."""


class PackedWindow:
    """The rows of one RNIC; `Layout` knows what they mean."""

    __slots__ = ("cells", "number", "older")

    def __init__(self) -> None:
        self.older = b""
        """All rows but the newest."""
        self.number: int = _EMPTY
        """Bucket of the newest row."""
        self.cells: vec[float] = vec[float]()
        """The newest row as in bytes, without its number: sums, or sums, counts, greatest and least values."""

    def newest_bucket(self) -> int | None:
        """The number of the newest bucket; None when there is none."""
        return None if self.number == _EMPTY else self.number

    def clear(self) -> None:
        """Forget all samples."""
        self.older, self.number, self.cells = b"", _EMPTY, vec[float]()


def _number_at(older: bytes, begin: int) -> int:
    """The number of the row that begins there; the bit of the long form is in its last byte."""
    return int.from_bytes(older[begin : begin + _LONG_BYTE], "little")


class Layout:
    """The signals of a window in the order of their places."""

    def __init__(self, signals: Sequence[str]) -> None:
        width = len(signals)
        self.places = {name: place for place, name in enumerate(signals)}
        self._width: i64 = width
        self._short, self._long = struct.Struct(f"<q{width}d"), struct.Struct(f"<q{width * _PARTS}d")
        columns = [(8 * place, 8 * (width - 1 - place)) for place in range(width)]
        self._columns = [struct.Struct(f"<q{before}xd{after}x") for before, after in columns]
        self._long_columns = [struct.Struct("<q" + f"{before}xd{after}x" * _PARTS) for before, after in columns]

    def add(
        self,
        packed: PackedWindow,
        at_ms: int,
        values: dict[str, float],
        newest_ms: int,
        bucket_ms: int = BUCKET_MS,
        window_ms: int = WINDOW_MS,
    ) -> None:
        """Add one sample's values, as `window.add` does."""
        number = at_ms // bucket_ms
        if number < packed.number:
            rows = self._rows(packed)
            window.add(rows, self.places, at_ms, values, newest_ms, bucket_ms, window_ms)
            self.take_rows(packed, rows)
            return
        if number == packed.number:
            self._merge(packed, values)
            if newest_ms // bucket_ms <= number:
                return  # what is too old left when this row was new
        else:
            if packed.number != _EMPTY:
                packed.older = self._with(packed.older, packed.number, packed.cells)
            packed.number = number
            packed.cells = self._new_row(values)
        older, oldest = packed.older, max(newest_ms // bucket_ms, number) - window_ms // bucket_ms
        if number <= oldest:
            packed.clear()
        elif older and _number_at(older, 0) <= oldest:
            size, begin = self._form(older).size, 0
            while begin < len(older) and _number_at(older, begin) <= oldest:
                begin += size
            packed.older = older[begin:]

    def _new_row(self, values: dict[str, float]) -> vec[float]:
        """A bucket with one sample."""
        cells = vec[float]([_NAN] * self._width)
        if len(self.places) < len(values):
            for name, place in self.places.items():
                found = values.get(name)
                if found is not None:
                    cells[place] = found
            return cells
        for name, value in values.items():
            known = self.places.get(name)
            if known is not None:
                cells[known] = value
        return cells

    def _merge(self, packed: PackedWindow, values: dict[str, float]) -> None:
        """Add one sample's values to a bucket that has some."""
        if len(self.places) < len(values):
            for name, place in self.places.items():
                found = values.get(name)
                if found is not None:
                    self._add_value(packed, place, found)
            return
        for name, value in values.items():
            known = self.places.get(name)
            if known is not None:
                self._add_value(packed, known, value)

    def _add_value(self, packed: PackedWindow, place: i64, value: float) -> None:
        cells, width = packed.cells, self._width
        have = cells[place]
        is_long = len(cells) > width
        if have != have:
            cells[place] = value
            if is_long:
                cells[width + place], cells[2 * width + place], cells[3 * width + place] = 1.0, value, value
            return
        if not is_long:
            packed.cells = cells = self._lengthened(cells)
        cells[place] = have + value
        cells[width + place] += 1.0
        if value > cells[2 * width + place]:
            cells[2 * width + place] = value
        if value < cells[3 * width + place]:
            cells[3 * width + place] = value

    def _lengthened(self, cells: vec[float]) -> vec[float]:
        """A row of the short form in the long one."""
        counts = [1.0 if value == value else _NAN for value in cells]
        sums = [value for value in cells]  # noqa: C416  # compiled, an array is no argument of list()
        return vec[float](sums + counts + sums + sums)

    def take_rows(self, packed: PackedWindow, rows: window.Rows) -> None:
        """Hold what `window.add` has kept."""
        packed.clear()
        for row in rows:
            if packed.number != _EMPTY:
                packed.older = self._with(packed.older, packed.number, packed.cells)
            packed.number = row[0]
            packed.cells = _cells_of(row)

    def plain(self, packed: PackedWindow) -> Plain:
        """The window as it is kept in MessagePack."""
        return [packed.older, None if packed.number == _EMPTY else self._newest_row(packed)]

    def take_plain(self, packed: PackedWindow, plain: Plain) -> None:
        """Hold what `plain` has."""
        packed.clear()
        packed.older = plain[0]
        if plain[1] is not None:
            packed.number = plain[1][0]
            packed.cells = _cells_of(plain[1])

    def rows_of(self, packed: PackedWindow, place: int) -> window.Rows:
        """The rows as `window` has them, with one signal at place 0."""
        rows: window.Rows = []
        for number, value, *more in self._column(packed.older, place):
            if value != value:
                rows.append([number & ~_LONG, [None]])
            elif more:
                rows.append([number & ~_LONG, [value], [int(more[0])], [more[1]], [more[2]]])
            else:
                rows.append([number, [value]])
        if packed.number != _EMPTY:
            number, *parts = self._newest_row(packed)
            rows.append([number, *[[part[place]] for part in parts]])
        return rows

    def feature(
        self, packed: PackedWindow, place: int, newest_ms: int, window_s: int, statistic: str = "mean", bucket_ms: int = BUCKET_MS
    ) -> Feature | None:
        """As `window.feature`."""
        return window.feature(self.rows_of(packed, place), 0, newest_ms, window_s, statistic, bucket_ms)

    def sum_of(self, packed: PackedWindow, place: int, newest_ms: int, window_s: int) -> tuple[float, int]:
        """Sum and number of a signal's samples in the window that ends at `newest_ms`."""
        total, count = 0.0, 0
        first = newest_ms // BUCKET_MS - max(window_s * 1000 // BUCKET_MS, 1)
        older = packed.older
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
        if packed.number > first:
            newest = packed.cells[place]
            if newest == newest:
                total += newest
                count += int(packed.cells[self._width + place]) if len(packed.cells) > self._width else 1
        return total, count

    def _form(self, older: bytes) -> struct.Struct:
        return self._long if older[_LONG_BYTE] & _LONG_BIT else self._short

    def _column(self, older: bytes, place: int) -> Iterator[tuple[Any, ...]]:
        """Of each row in bytes its number and one signal's sum (count, greatest and least)."""
        if not older:
            return iter(())
        return (self._long_columns if older[_LONG_BYTE] & _LONG_BIT else self._columns)[place].iter_unpack(older)

    def _with(self, older: bytes, number: int, cells: vec[float]) -> bytes:
        """One more row in bytes."""
        are_long = bool(older) and bool(older[_LONG_BYTE] & _LONG_BIT)
        if len(cells) > self._width:
            if older and not are_long:
                # A part of each row is what it has once more, and its counts are 1.
                rows = [(one, vec[float](sums)) for one, *sums in self._short.iter_unpack(older)]
                older = b"".join([_packed(one | _LONG, self._lengthened(sums)) for one, sums in rows])
            return older + _packed(number | _LONG, cells)
        return older + (_packed(number | _LONG, self._lengthened(cells)) if are_long else _packed(number, cells))

    def _newest_row(self, packed: PackedWindow) -> list[Any]:
        """The newest row as `window` has it."""
        return self._row(packed.number, [cell for cell in packed.cells])  # noqa: C416  # compiled, an array is no argument of list()

    def _row(self, number: int, cells: list[float]) -> list[Any]:
        """A row as `window` has it."""
        width = len(self.places)
        parts: list[list[Any]] = [
            [None if cell != cell else cell for cell in cells[begin : begin + width]] for begin in range(0, len(cells), width)
        ]
        if len(parts) > 1:
            parts[1] = [None if count is None else int(count) for count in parts[1]]
        return [number, *parts]

    def _rows(self, packed: PackedWindow) -> window.Rows:
        """All rows as `window` has them."""
        rows: window.Rows = []
        if packed.older:
            rows = [self._row(number & ~_LONG, cells) for number, *cells in self._form(packed.older).iter_unpack(packed.older)]
        if packed.number != _EMPTY:
            rows.append(self._newest_row(packed))
        return rows


def _cells_of(row: list[Any]) -> vec[float]:
    """A row of `window` without its number, as an array."""
    return vec[float]([_NAN if cell is None else float(cell) for part in row[1:] for cell in part])


def _packed(number: int, cells: vec[float]) -> bytes:
    """A row in bytes."""
    return _NUMBER.pack(number) + bytes(memoryview(cells))
