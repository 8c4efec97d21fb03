"""Rows of blocks straight to columns, as `column_encoder` does it for single messages; `ColumnEncoder.encode` writes both.

A block is read as a whole or left to the reference path (`domain/telemetry/blocks`), which says what is wrong in which row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import orjson

from wallwatch.domain.telemetry.block_memory import Budget, Memory, size_of
from wallwatch.domain.telemetry.blocks import MOST_ROWS, BlockReader, Envelope
from wallwatch.domain.telemetry.decode import EARLIEST_NS, Refused, Sender, proves
from wallwatch.domain.telemetry.registry import Measurement
from wallwatch.store import compiled_rows
from wallwatch.store.column_encoder import Origin, Part, Scanned, origin_of, read_in_python
from wallwatch.store.compiled_rows import BLOCK
from wallwatch.store.message_shapes import Shape

MOST_REMEMBERED_BYTES = 96 * 1024 * 1024
"""Of each measurement: 40,000 RNICs and the envelopes of their hosts fit, their masks and functions do not."""
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
    origins: dict[bytes, Origin] = field(default_factory=dict)
    """Right tags of rows that were met, by their text."""
    remembered: bool = False
    """Whether it stays, with the tags of its rows."""
    plain: bool = False
    """Whether its tags and those of a row have no name in common."""
    right: bool = False
    """Whether, besides, its tags were right in a row."""
    identities: dict[str, int] = field(default_factory=dict)
    """Number of the RNIC at a PCI address of its host; only the caller fills it."""


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
    of: list[Known]
    """Of each of these blocks, its envelope."""

    def without(self, left_out: set[int]) -> ScannedBlocks:
        """The rows of other blocks than these."""
        if left_out.isdisjoint(self.counts):
            return self
        kept = np.flatnonzero(~np.isin(self.blocks, list(left_out)))
        counts = {number: count for number, count in self.counts.items() if number not in left_out}
        of = [known for known, number in zip(self.of, self.counts, strict=True) if number not in left_out]
        return ScannedBlocks(self.name, self.scanned.at(kept.tolist()), self.blocks[kept], self.within[kept], counts, of)


class BlockColumns:
    """Reads blocks of one measurement in columns.

    Parameters
    ----------
    measurement : Measurement
    reader : BlockReader
        The reference path, which checks envelopes.
    learns : bool
        False leaves everything to the reference path.
    most_bytes : int
        What is remembered takes about so much at most.
    """

    def __init__(self, measurement: Measurement, reader: BlockReader, learns: bool = True, most_bytes: int = MOST_REMEMBERED_BYTES) -> None:
        self._measurement = measurement
        self._reader = reader
        self._learns = learns
        self._shapes: dict[tuple[str, ...], Shape | None] = {}
        self._memory: Memory[Known] = Memory(most_bytes)
        self._parts: dict[bytes, Part] = {}
        self._budget = Budget(most_bytes, self._parts.clear)

    def known(self, value: bytes, sender: Sender | None) -> Known | None:
        """The envelope of a block; None if the block is left to the reference path, as those whose sender does not prove its name."""
        at = value.find(_ROWS)
        if at < 0 or not self._learns:
            return None
        raw = value[:at]
        found = self._memory.known.get(raw)
        envelope = self._reader.envelope(raw) if found is None else found.envelope
        if envelope is None or envelope.measurement is not self._measurement:
            return None
        if sender is not None and not proves(sender, envelope.tags["host"], envelope.telemetry_key):
            return None
        if found is not None:
            return found
        shape = self._shape(envelope)
        if shape is None:
            return None
        found = Known(envelope, shape, at + len(_ROWS))
        found.plain = not any(name in envelope.layout.tags or name.startswith("#") for name in envelope.tags)
        found.remembered = self._memory.keep(raw, envelope, found)
        return found

    def _shape(self, envelope: Envelope) -> Shape | None:
        if envelope.named.names not in self._shapes:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
                self._memory.forget()  # which holds shapes, too
            self._shapes[envelope.named.names] = Shape.of_rows(envelope.named.names, self._measurement)
        return self._shapes[envelope.named.names]

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
        texts = [joined[begin:end] for begin, end in zip(tag_begins[:total].tolist(), tag_ends[:total].tolist(), strict=True)]
        origins: list[Origin | None] = []
        parts: list[Part | None] = []
        if self._measurement.of_parts:
            parts = self._parts_of(texts, blocks, counts.tolist())
        else:
            origins = self._origins(texts, blocks, block_of.tolist())
        if None in parts or None in origins:
            left |= np.array([one is None for one in parts or origins], dtype=np.bool_)
        left |= (counts > MOST_ROWS)[block_of]
        wrong = np.zeros(len(blocks), dtype=np.bool_)
        wrong[block_of[left]] = True
        rows = np.flatnonzero(~wrong[block_of])
        if not len(rows):
            return None
        if len(rows) < total:
            origins = [origins[row] for row in rows.tolist()] if origins else []
            parts = [parts[row] for row in rows.tolist()] if parts else []
        scanned = Scanned(
            shape,
            [],
            [one for one in origins if one is not None],
            times[rows],
            rows,
            text,
            value_begins,
            row_ends,
            values,
            value_ends,
            [one for one in parts if one is not None],
        )
        good = [i for i, count in enumerate(counts.tolist()) if count and not wrong[i]]
        read = {numbers[i]: int(counts[i]) for i in good}
        within = rows - (np.cumsum(counts) - counts)[block_of[rows]]
        return ScannedBlocks(self._measurement.name, scanned, np.array(numbers)[block_of[rows]], within, read, [blocks[i][1] for i in good])

    def _parts_of(self, texts: list[bytes], blocks: list[tuple[bytes, Known]], counts: list[int]) -> list[Part | None]:
        """Of each row, the part that its own tags name; None where its tags are not right.

        Hosts name their parts alike, so what is known of a text holds for all: tags are checked one by one, and those of the envelope
        were right in another row.
        """
        found: list[Part | None] = []
        for (_, known), count in zip(blocks, counts, strict=True):
            for raw in texts[len(found) : len(found) + count]:
                part = self._parts.get(raw) if known.right else None
                found.append(part or self._part(known, raw))
        return found

    def _part(self, known: Known, raw: bytes) -> Part | None:
        origin = self._origin(known.envelope, raw)
        if origin is None:
            return None
        part = Part(origin.number_cells, origin.text_cells, origin.tags["pci"])
        known.right = known.plain
        if known.plain and raw not in self._parts and self._budget.has_room(len(raw), size_of(raw, {}, *origin.tags.values())):
            self._parts[raw] = part
        return part

    def _origins(self, texts: list[bytes], blocks: list[tuple[bytes, Known]], block_of: list[int]) -> list[Origin | None]:
        """Of each row, all its tags; None where they are not right."""
        found = []
        for block, raw in zip(block_of, texts, strict=True):
            known = blocks[block][1]
            origin = known.origins.get(raw)
            if origin is None:
                origin = self._origin(known.envelope, raw)
                if origin is not None and known.remembered and self._has_room(raw, origin):
                    known.origins[raw] = origin
            found.append(origin)
        return found

    def _has_room(self, raw: bytes, origin: Origin) -> bool:
        return self._memory.has_room(len(raw), size_of(raw, origin.tags, origin.number_cells, origin.text_cells))

    def _origin(self, envelope: Envelope, raw: bytes) -> Origin | None:
        try:
            return origin_of(self._measurement, envelope.tags_of(orjson.loads(raw)), envelope.telemetry_key)
        except (Refused, orjson.JSONDecodeError):
            return None
