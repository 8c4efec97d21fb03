"""Blocks in a batch of ingest: their rows become samples like those of single messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wallwatch.domain.telemetry import keys
from wallwatch.domain.telemetry.block_layouts import layouts
from wallwatch.domain.telemetry.blocks import TOPIC, BlockReader, ReadBlock, single
from wallwatch.domain.telemetry.decode import Decoded, Refused, Sender
from wallwatch.domain.telemetry.registry import Measurement, measurements
from wallwatch.jobs.dead_letter import RowMessage, rejected
from wallwatch.store.block_columns import BlockColumns, Known, ScannedBlocks
from wallwatch.store.column_encoder import Scanned

if TYPE_CHECKING:
    from wallwatch.jobs.ingest_batch import Batch

CHUNK_BYTES = 512 * 1024
"""Blocks that are read together: as much text as some hundred single messages, so that it stays in the processor's caches."""

MOST_REMEMBERED_BYTES = 32 * 1024 * 1024
"""Of the reference path, which few blocks take."""

_NAME = re.compile(rb'\{"name":"([a-z_]+)"')
_NO_FIELDS: dict[str, Any] = {}

Store = Callable[["Batch", str, Measurement, list[Decoded | None], list[Scanned], list[int], Callable[[int], Any]], object]
"""Stores samples of one measurement: `BatchBuilder._store`."""
StoreParts = Callable[["Batch", str, Measurement, list[ScannedBlocks], list[Mapping[str, str]]], set[int]]
"""Stores rows of parts of RNICs: `BatchBuilder._store_parts`."""


class BlockSamples:
    """Reads blocks and hands their samples to `store`.

    Parameters
    ----------
    store, store_parts : callable
    sender : callable
        Returns what a block with this record key is checked with.
    in_columns : bool
        Without it, every block takes the reference path.
    """

    def __init__(self, store: Store, store_parts: StoreParts, sender: Callable[[bytes | None], Sender | None], in_columns: bool) -> None:
        self._store = store
        self._store_parts = store_parts
        self._sender = sender
        self._reader = BlockReader(most_bytes=MOST_REMEMBERED_BYTES)
        self._columns = {name: BlockColumns(measurements()[name], self._reader, in_columns) for name in layouts()}

    def add(self, batch: Batch, group: list[Any], latest_ns: int) -> None:
        """Store the rows of these messages of Kafka; unusable blocks and rows are rejected."""
        for some in _chunks(group):
            by_name: dict[str, list[Any]] = {}
            for message in some:
                by_name.setdefault(_name_of(message.value()), []).append(message)
            for name, messages in by_name.items():
                columns = self._columns.get(name)
                if columns is None:
                    for message in messages:  # not as a collector writes it: it is read on its own, and may be of any measurement
                        self._add(batch, [message], [], latest_ns)
                    continue
                candidates = [self._candidate(columns, message) for message in messages]
                self._add(batch, messages, columns.scan(candidates, latest_ns), latest_ns)

    def _candidate(self, columns: BlockColumns, message: Any) -> tuple[bytes, Known] | None:
        """A block for the compiled loops. One whose sender does not prove its name takes the reference path, which says what is wrong."""
        value = message.value()
        known = columns.known(value, self._sender(message.key()))
        return None if known is None else (value, known)

    def _add(self, batch: Batch, messages: list[Any], scanned: list[ScannedBlocks], latest_ns: int) -> None:
        """Store the rows of blocks of one measurement, in the order of the messages: those that were scanned, and the others one by one."""
        counts = {number: count for one in scanned for number, count in one.counts.items()}
        name = scanned[0].name if scanned else ""
        one_by_one: dict[int, ReadBlock] = {}
        for number, message in enumerate(messages):
            if number not in counts:
                read = one_by_one[number] = self._read(batch, message, latest_ns)
                counts[number] = len(read.samples)
                name = name or read.measurement
        batch.samples += sum(counts.values())
        if not name:
            return
        measurement = measurements()[name]
        if measurement.of_parts and scanned:
            others = [row.tags for read in one_by_one.values() for row in read.samples]
            left = self._store_parts(batch, TOPIC, measurement, scanned, others)
            one_by_one |= {number: self._read(batch, messages[number], latest_ns) for number in sorted(left)}
            counts = {number: len(one_by_one[number].samples) if number in one_by_one else 0 for number in range(len(messages))}
            scanned = []
            if not one_by_one:
                return
        offsets = np.concatenate(([0], np.cumsum([counts[number] for number in range(len(messages))], dtype=np.int64)))
        seen: list[Decoded | None] = [None] * int(offsets[-1])
        for one in scanned:
            places = (offsets[one.blocks] + one.within).tolist()
            one.scanned.places = places
            for place, origin, at_ns in zip(places, one.scanned.origins, one.scanned.times_ns.tolist(), strict=True):
                seen[place] = Decoded(origin.tags, at_ns, _NO_FIELDS)
        sources: dict[int, RowMessage] = {}
        for number, read in one_by_one.items():
            for place, row in enumerate(read.samples, int(offsets[number])):
                seen[place] = row
                sources[place] = RowMessage(messages[number], measurement.topic, partial(_as_sent, name, row, read.had_key))
        source = self._sources(batch, messages, sources, offsets, measurement, latest_ns)
        self._store(batch, TOPIC, measurement, seen, [one.scanned for one in scanned], list(sources), source)

    def _sources(
        self,
        batch: Batch,
        messages: list[Any],
        sources: dict[int, RowMessage],
        offsets: npt.NDArray[np.int64],
        measurement: Measurement,
        latest_ns: int,
    ) -> Callable[[int], RowMessage]:
        """Return a row as a message of its own. Only those that are refused are asked for, so a block that was scanned is read again."""
        again: dict[int, ReadBlock] = {}

        def source(place: int) -> RowMessage:
            if place in sources:
                return sources[place]
            number = int(np.searchsorted(offsets, place, side="right")) - 1
            if number not in again:
                again[number] = self._read(batch, messages[number], latest_ns)
            row = again[number].samples[place - int(offsets[number])]
            return RowMessage(messages[number], measurement.topic, partial(_as_sent, measurement.name, row, again[number].had_key))

        return source

    def _read(self, batch: Batch, message: Any, latest_ns: int) -> ReadBlock:
        """A block of the reference path."""
        try:
            found = self._reader.read(message.value(), latest_ns, self._sender(message.key()))
        except Refused as refusal:
            batch.rejected.append(rejected(message, refusal.reason, str(refusal)))
            return ReadBlock("", [], [])
        for row in found.refused:
            batch.rejected.append(rejected(RowMessage(message, row.topic, partial(bytes, row.value)), row.reason, row.detail))
        return found


def _as_sent(name: str, row: Decoded, had_key: bool) -> bytes:
    """A row as a message of its own, with a place for the telemetry key that it came with."""
    tags = {**row.tags, keys.TAG: keys.REDACTED} if had_key else row.tags
    return single(name, tags, row.at_ns, row.fields)


def _name_of(value: bytes | None) -> str:
    found = None if value is None else _NAME.match(value)
    return found[1].decode() if found else ""


def _chunks(group: list[Any]) -> Iterator[list[Any]]:
    some: list[Any] = []
    size = 0
    for message in group:
        length = len(message.value() or b"")
        if some and size + length > CHUNK_BYTES:
            yield some
            some, size = [], 0
        some.append(message)
        size += length
    if some:
        yield some
