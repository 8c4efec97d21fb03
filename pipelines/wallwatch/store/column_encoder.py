"""Messages of one measurement straight to COPY rows, a few hundred at a time: what `decode` and `TableEncoder` do, without their objects.

Values become columns and rows in compiled loops (`compiled_rows`); name and tags repeat with every sample and are decoded once. What is
not of a known shape, or unusual in any way, is left to the reference path, from which new shapes are learned. Both write the same rows
(figures and reasons: docs/decisions/0024).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from wallwatch.domain.telemetry.block_memory import Budget, size_of
from wallwatch.domain.telemetry.decode import EARLIEST_NS, Refused, decode_origin
from wallwatch.domain.telemetry.identities import FIELDS
from wallwatch.domain.telemetry.registry import Measurement
from wallwatch.store import compiled_rows
from wallwatch.store.compiled_rows import ANY, BLOCK, EXACT_FLOAT, INT, UNKNOWN_NUMBER
from wallwatch.store.encode import LENGTH, PG_EPOCH_US, Encoded, TableEncoder
from wallwatch.store.message_shapes import Shape

MOST_SHAPES = 16
"""Shapes per measurement: one for each kind of device and collector; the one that was used longest ago leaves."""

MOST_FIELDS = 1_000
MOST_REMEMBERED_BYTES = 96 * 1024 * 1024
"""Of names and tags per measurement that stay decoded: a fleet of 40,000 RNICs fits, its masks and functions do not."""

_PADDING = b"\0" * BLOCK
_NO_CELLS = np.zeros(0, dtype=np.uint8)
_INT4 = struct.Struct(">ii")


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a row that come from its tags."""

    number_cells: bytes
    """Those of the table's integer columns."""
    text_cells: bytes


@dataclass(frozen=True, slots=True)
class Origin(Cells):
    """Name and tags of messages, decoded."""

    tags: dict[str, str]
    telemetry_key: str | None


@dataclass(frozen=True, slots=True)
class Part(Cells):
    """What names a part of an RNIC, such as a mask: the same for many hosts."""

    pci: str


@dataclass(slots=True)
class Scanned:
    """Messages of one shape in columns; the first axis of all arrays is the message."""

    shape: Shape
    places: list[int]
    """Of each message in the sequence that was scanned."""
    origins: list[Origin]
    times_ns: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    """Of each message in the arrays below, which also have messages that were left out."""
    text: npt.NDArray[np.uint8]
    begins: npt.NDArray[np.int64]
    stops: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    value_ends: npt.NDArray[np.int32]
    parts: Sequence[Part] = ()
    """In the place of origins, for rows that are of parts of RNICs and read from blocks."""

    def fields(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The numeric fields with these names, of each message; absent ones are left out."""
        wanted = [i for i, name in enumerate(self.shape.names) if name in names]
        present = [self.shape.names[i] for i in wanted]
        columns = []
        for i in wanted:
            column = self.values[self.rows, i]
            columns.append((column.view(np.float64) if self.shape.kinds[i] != INT else column).tolist())
        if not columns:
            return iter([{} for _ in self.places])
        return (dict(zip(present, row, strict=True)) for row in zip(*columns, strict=True))

    def without(self, left_out: set[int]) -> Scanned:
        """The messages at other places than these."""
        return self.at([i for i, place in enumerate(self.places) if place not in left_out])

    def at(self, kept: list[int]) -> Scanned:
        """Some of the messages, by their numbers here."""
        return Scanned(
            self.shape,
            [self.places[i] for i in kept] if self.places else [],
            [self.origins[i] for i in kept] if self.origins else [],
            self.times_ns[kept],
            self.rows[kept],
            self.text,
            self.begins,
            self.stops,
            self.values,
            self.value_ends,
            [self.parts[i] for i in kept] if self.parts else [],
        )


class ColumnEncoder:
    """Encodes messages of one measurement.

    Parameters
    ----------
    measurement : Measurement
        Messages whose fields are names, to be checked one by one, stay on the reference path.
    table : TableEncoder
        The reference path's encoder, whose columns these rows have.
    learns : bool
        False leaves everything to the reference path.
    """

    def __init__(self, measurement: Measurement, table: TableEncoder, learns: bool = True) -> None:
        self._measurement = measurement
        self._learns = learns and measurement.name not in FIELDS
        self._column_count = len(table.columns)
        self._has_other = bool(measurement.others)
        self._shapes: dict[tuple[str, ...], Shape] = {}
        self._origins: dict[bytes, Origin] = {}
        self._budget = Budget(MOST_REMEMBERED_BYTES, self._origins.clear)
        self._empty_cells = not measurement.text_columns and not measurement.number_columns

    def learn(self, fields: Mapping[str, Any]) -> None:
        """Know from now on the shape of a message that the reference path has read."""
        names = tuple(fields)
        if not self._learns or names in self._shapes or len(names) > MOST_FIELDS:
            return
        shape = Shape.of(fields, self._measurement)
        if shape is None:
            return
        self._shapes[names] = shape
        if len(self._shapes) > MOST_SHAPES:
            del self._shapes[next(iter(self._shapes))]

    def scan(self, messages: Sequence[bytes | None], latest_ns: int) -> list[Scanned]:
        """Read the messages that have a known shape; those at all other places are for the reference path.

        Parameters
        ----------
        messages : sequence of bytes or None
            The values of Kafka's records.
        latest_ns : int
            Latest acceptable time, ns since 1970.
        """
        found: list[Scanned] = []
        if not self._shapes:
            return found
        values = [message or b"" for message in messages]
        joined = b"".join((*values, _PADDING))
        text = np.frombuffer(joined, dtype=np.uint8)
        all_stops = np.cumsum([len(value) for value in values], dtype=np.int64)
        if not all_stops[-1:].any() or len(text) >= 2**31:
            return found
        all_begins = np.concatenate(([0], all_stops[:-1]))
        waiting = np.arange(len(values))
        for shape in reversed(list(self._shapes.values())):  # the newest first
            begins, stops = all_begins[waiting], all_stops[waiting]
            scanned, left = self._scan_shape(shape, joined, text, begins, stops, waiting, latest_ns)
            if scanned is not None:
                found.append(scanned)
                self._shapes[shape.names] = self._shapes.pop(shape.names)
            waiting = waiting[left]
            if not len(waiting):
                break
        return found

    def _scan_shape(
        self,
        shape: Shape,
        joined: bytes,
        text: npt.NDArray[np.uint8],
        begins: npt.NDArray[np.int64],
        stops: npt.NDArray[np.int64],
        waiting: npt.NDArray[np.int64],
        latest_ns: int,
    ) -> tuple[Scanned | None, npt.NDArray[np.bool_]]:
        """What has this shape, and which of the waiting messages are left."""
        count, fields = len(begins), len(shape.names)
        values = np.empty((count, fields), dtype=np.int64)
        value_ends = np.empty((count, fields), dtype=np.int32)
        times, origin_begins, origin_ends = (np.zeros(count, dtype=np.int64) for _ in range(3))
        left = np.empty(count, dtype=np.bool_)
        unread = np.empty(count * fields, dtype=np.int64)
        floats = values.view(np.float64)
        unread_count = compiled_rows.scan(
            text, begins, stops, shape.literal_ends, shape.blocks, shape.masks, shape.block_ends, shape.kinds, values, floats, value_ends,
            times, origin_begins, origin_ends, left, unread,
        )  # fmt: skip
        left |= (times < EARLIEST_NS) | (times > latest_ns)
        read_in_python(shape, joined, begins, value_ends, unread[:unread_count], floats, left)
        rows, origins = self._origins_of(joined, np.flatnonzero(~left), origin_begins, origin_ends)
        if not len(rows):
            return None, np.ones(count, dtype=np.bool_)
        left[:] = True
        left[rows] = False
        return Scanned(shape, waiting[rows].tolist(), origins, times[rows], rows, text, begins, stops, values, value_ends), left

    def _origins_of(
        self, joined: bytes, rows: npt.NDArray[np.int64], begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], list[Origin]]:
        """Names and tags of these rows, and the rows whose name and tags are right."""
        known = self._origins
        texts = [joined[begin:end] for begin, end in zip(begins[rows].tolist(), ends[rows].tolist(), strict=True)]
        origins = [known.get(raw) or self._new_origin(raw) for raw in texts]
        if None not in origins:
            return rows, origins  # type: ignore[return-value]  # as was just checked
        return rows[[one is not None for one in origins]], [one for one in origins if one is not None]

    def _new_origin(self, raw: bytes) -> Origin | None:
        try:
            tags, telemetry_key = decode_origin(b"{%b}" % raw, self._measurement)
        except Refused:
            return None
        origin = origin_of(self._measurement, tags, telemetry_key)
        if self._budget.has_room(len(raw), size_of(raw, tags, *tags, origin.number_cells, origin.text_cells)):
            self._origins[raw] = origin
        return origin

    def encode(self, scanned: Scanned, identities: Sequence[int], result: Encoded) -> None:
        """Add the rows of all messages.

        Parameters
        ----------
        identities : sequence of int
            Number of each message's RNIC or host.
        """
        shape, count = scanned.shape, len(scanned.rows)
        if not count:
            return
        cells, number_ends, text_ends = self._cells(scanned.parts or scanned.origins)
        # Each number takes up to 12 bytes; texts and `other` are parts of the message, with a length each.
        most = count * (32 + 12 * self._column_count + len(shape.field_names) + len(shape.names))
        most += len(cells) + int((scanned.stops - scanned.begins)[scanned.rows].sum()) * 2
        rows = np.empty(most, dtype=np.uint8)
        used = compiled_rows.write_rows(
            scanned.text, scanned.rows, scanned.begins, scanned.values, scanned.value_ends, shape.literal_ends, shape.field_names,
            shape.name_ends, shape.kinds, scanned.times_ns // 1000 - PG_EPOCH_US, np.array(identities, dtype=np.int64), self._column_count,
            shape.number_fields, shape.text_fields, shape.other_fields, self._has_other, cells, number_ends, text_ends, rows,
        )  # fmt: skip
        result.add_block(rows[:used].tobytes(), count)
        result.unknown_fields += shape.unknown * count
        result.minutes.update(np.unique(scanned.times_ns // 60_000_000_000).tolist())

    def _cells(self, origins: Sequence[Cells]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        if self._empty_cells:
            none = np.zeros(len(origins), dtype=np.int64)
            return _NO_CELLS, none, none
        if not self._measurement.number_columns:
            texts = [o.text_cells for o in origins]
            ends = np.cumsum(list(map(len, texts)), dtype=np.int64)
            return np.frombuffer(b"".join(texts), dtype=np.uint8), np.concatenate(([0], ends[:-1])), ends
        parts = [part for o in origins for part in (o.number_cells, o.text_cells)]
        ends = np.cumsum(list(map(len, parts)), dtype=np.int64)
        return np.frombuffer(b"".join(parts), dtype=np.uint8), ends[0::2], ends[1::2]


def read_in_python(
    shape: Shape,
    joined: bytes,
    begins: npt.NDArray[np.int64],
    value_ends: npt.NDArray[np.int32],
    unread: npt.NDArray[np.int64],
    floats: npt.NDArray[np.float64],
    left: npt.NDArray[np.bool_],
) -> None:
    """Read the numbers that a compiled loop did not; messages or rows with one that is not right are `left`."""
    if not len(unread):
        return
    messages, fields = np.divmod(unread, len(shape.names))
    literals = np.diff(shape.literal_ends, prepend=0)
    number_begins = np.where(fields > 0, value_ends[messages, fields - 1], begins[messages]) + literals[fields]
    number_ends = value_ends[messages, fields]
    kinds = shape.kinds[fields].tolist()
    spans = zip(number_begins.tolist(), number_ends.tolist(), kinds, strict=True)
    numbers = [_number(joined[begin:end], kind) for begin, end, kind in spans]
    floats[messages, fields] = [-1.0 if number is None else number for number in numbers]
    wrong = [number is None for number in numbers]
    if any(wrong):
        left[messages[wrong]] = True


def origin_of(measurement: Measurement, tags: dict[str, str], telemetry_key: str | None) -> Origin:
    """Tags that were checked, with their cells in the table."""
    numbers = b"".join(_INT4.pack(4, int(tags[name])) for name in measurement.number_columns)
    texts = b"".join(LENGTH.pack(len(cell)) + cell for cell in (tags.get(n, "").encode() for n in measurement.text_columns))
    return Origin(numbers, texts, tags, telemetry_key)


def _number(raw: bytes, kind: int) -> float | None:
    """A number whose text the compiled loop leaves to Python; None if the reference path has to decide."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if type(value) not in (int, float):
        return None
    if kind in (UNKNOWN_NUMBER, ANY):
        return 0.0
    if not 0 <= value < 2**63 or (kind == EXACT_FLOAT and orjson.dumps(value) != raw):
        return None
    return float(value)
