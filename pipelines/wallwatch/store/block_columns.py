"""Rows of blocks straight to columns, as `column_encoder` does it for single messages; `ColumnEncoder.encode` writes both.

A block is read as a whole or left to the reference path (`domain/telemetry/blocks`), which says what is wrong in which row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import orjson

from wallwatch.domain.telemetry.blocks import MOST_ROWS, BlockReader, Envelope
from wallwatch.domain.telemetry.decode import EARLIEST_NS, Refused
from wallwatch.domain.telemetry.registry import Measurement
from wallwatch.store import compiled_rows
from wallwatch.store.column_encoder import MOST_ORIGINS, Origin, Scanned, origin_of, read_in_python
from wallwatch.store.compiled_rows import BLOCK
from wallwatch.store.message_shapes import Shape

MOST_SHAPES = 256
"""Sets of fields per measurement that are known: more than kinds of devices, drivers and collectors together."""

_ROWS = b'"rows":['
_ROWS_BETWEEN = b"]],["
_PADDING = b"\0" * BLOCK


@dataclass(slots=True)
class Known:
    """The envelope of blocks that can be read in columns."""

    envelope: Envelope
    shape: Shape
    begin: int
    """Where the first row begins."""
    origins: dict[bytes, Origin | None] = field(default_factory=dict)
    """Tags of rows that were met, by their text; None for those that are not right."""


@dataclass(slots=True)
class ScannedBlocks:
    """Rows of blocks with the same fields."""

    name: str
    """The measurement."""
    scanned: Scanned
    """Its places are still to be filled in."""
    blocks: npt.NDArray[np.int64]
    """Of each row, the block in the sequence that was scanned."""
    within: npt.NDArray[np.int64]
    """Of each row, its place in the block."""
    counts: dict[int, int]
    """How many rows each block has that was read."""


class BlockColumns:
    """Reads blocks of one measurement in columns.

    Parameters
    ----------
    measurement : Measurement
    reader : BlockReader
        The reference path, which checks envelopes.
    learns : bool
        False leaves everything to the reference path.
    """

    def __init__(self, measurement: Measurement, reader: BlockReader, learns: bool = True) -> None:
        self._measurement = measurement
        self._reader = reader
        self._learns = learns
        self._shapes: dict[tuple[str, ...], Shape | None] = {}
        self._known: dict[bytes, Known] = {}
        self._remembered = 0

    def known(self, value: bytes) -> Known | None:
        """The envelope of a block; None if the block is left to the reference path."""
        at = value.find(_ROWS)
        if at < 0 or not self._learns:
            return None
        raw = value[:at]
        found = self._known.get(raw)
        if found is not None:
            return found
        envelope = self._reader.envelope(raw)
        if envelope is None or envelope.measurement is not self._measurement:
            return None
        shape = self._shape(envelope)
        if shape is None:
            return None
        self._remember()
        found = self._known[raw] = Known(envelope, shape, at + len(_ROWS))
        return found

    def _shape(self, envelope: Envelope) -> Shape | None:
        if envelope.names not in self._shapes:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            self._shapes[envelope.names] = Shape.of_rows(envelope.names, self._measurement)
        return self._shapes[envelope.names]

    def _remember(self) -> None:
        self._remembered += 1
        if self._remembered > MOST_ORIGINS:
            self._known.clear()
            self._remembered = 1

    def scan(self, blocks: Sequence[tuple[bytes, Known] | None], latest_ns: int) -> list[ScannedBlocks]:
        """Read blocks whose sender was checked; those that are in no result are for the reference path.

        Parameters
        ----------
        blocks : sequence
            The values of Kafka's records and their envelopes; None for those that are left out.
        latest_ns : int
            Latest acceptable time, ns since 1970.
        """
        by_shape: dict[int, tuple[Shape, list[int]]] = {}
        for number, one in enumerate(blocks):
            if one is not None:
                by_shape.setdefault(id(one[1].shape), (one[1].shape, []))[1].append(number)
        found = []
        for shape, numbers in by_shape.values():
            scanned = self._scan_shape(shape, numbers, [one for number in numbers if (one := blocks[number]) is not None], latest_ns)
            if scanned is not None:
                found.append(scanned)
        return found

    def _scan_shape(self, shape: Shape, numbers: list[int], blocks: list[tuple[bytes, Known]], latest_ns: int) -> ScannedBlocks | None:
        joined = b"".join((*(value for value, _ in blocks), _PADDING))
        if len(joined) >= 2**31:
            return None
        fields = len(shape.names)
        # A value takes two bytes at least, whatever stands in texts.
        capacity = min(sum(value.count(_ROWS_BETWEEN) + 1 for value, _ in blocks), len(joined) // (2 * fields) + 1)
        text = np.frombuffer(joined, dtype=np.uint8)
        stops = np.cumsum([len(value) for value, _ in blocks], dtype=np.int64)
        begins = np.concatenate(([0], stops[:-1])) + np.array([known.begin for _, known in blocks], dtype=np.int64)
        values = np.empty((capacity, fields), dtype=np.int64)
        floats = values.view(np.float64)
        value_ends = np.empty((capacity, fields), dtype=np.int32)
        times, tag_begins, tag_ends, value_begins, row_ends = (np.zeros(capacity, dtype=np.int64) for _ in range(5))
        counts = np.zeros(len(blocks), dtype=np.int64)
        unread = np.empty(capacity * fields, dtype=np.int64)
        unread_count = compiled_rows.scan_blocks(
            text, begins, stops, shape.kinds, values, floats, value_ends, times, tag_begins, tag_ends, value_begins, row_ends,
            counts, unread,
        )  # fmt: skip
        total = int(counts.sum())
        block_of = np.repeat(np.arange(len(blocks)), counts)
        left = (times[:total] < EARLIEST_NS) | (times[:total] > latest_ns)
        read_in_python(shape, joined, value_begins, value_ends, unread[:unread_count], floats, left)
        origins = self._origins(joined, blocks, block_of.tolist(), tag_begins[:total].tolist(), tag_ends[:total].tolist())
        left |= np.array([origin is None for origin in origins], dtype=np.bool_)
        left |= (counts > MOST_ROWS)[block_of]
        wrong = np.zeros(len(blocks), dtype=np.bool_)
        wrong[block_of[left]] = True
        rows = np.flatnonzero(~wrong[block_of])
        if not len(rows):
            return None
        kept = [origin for row in rows.tolist() if (origin := origins[row]) is not None]
        scanned = Scanned(shape, [], kept, times[rows], rows, text, value_begins, row_ends, values, value_ends)
        read = {numbers[i]: int(count) for i, count in enumerate(counts.tolist()) if count and not wrong[i]}
        within = rows - (np.cumsum(counts) - counts)[block_of[rows]]
        return ScannedBlocks(self._measurement.name, scanned, np.array(numbers)[block_of[rows]], within, read)

    def _origins(
        self, joined: bytes, blocks: list[tuple[bytes, Known]], block_of: list[int], begins: list[int], ends: list[int]
    ) -> list[Origin | None]:
        """Of each row, all its tags; None where they are not right."""
        found = []
        for block, begin, end in zip(block_of, begins, ends, strict=True):
            known, raw = blocks[block][1], joined[begin:end]
            origin = known.origins.get(raw)
            if origin is None and raw not in known.origins:
                origin = self._origin(known.envelope, raw)
                self._remember()
                known.origins[raw] = origin
            found.append(origin)
        return found

    def _origin(self, envelope: Envelope, raw: bytes) -> Origin | None:
        try:
            return origin_of(self._measurement, envelope.tags_of(orjson.loads(raw)), envelope.telemetry_key)
        except (Refused, orjson.JSONDecodeError):
            return None
