"""Rows of one hypertable in PostgreSQL's binary COPY format, built column by column.

Samples of one kind of device have the same fields in the same order, so they are grouped by field names. Within a group no value is
missing: each column becomes one typed array, and all arrays together one structured array whose bytes are the COPY rows. This also
checks types and ranges, and still costs less than formatting each row unchecked (figures: docs/decisions/0001).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from wallwatch.domain.telemetry.registry import Measurement, MetricField
from wallwatch.domain.telemetry.shown import shown

COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
COPY_TRAILER = struct.pack(">h", -1)

PG_EPOCH_US = 946_684_800_000_000
"""2000-01-01 in microseconds since 1970: PostgreSQL's zero."""

LENGTH = struct.Struct(">i")
_NULL = LENGTH.pack(-1)
_INT64_MAX = 2**63 - 1


@dataclass(slots=True)
class Sample:
    """One decoded and identified message."""

    identity: int
    """`rnic_id` or `host_id`."""
    at_ns: int
    keys: tuple[str, ...]
    """Text columns that belong to the row's key, such as a mask's direction and name."""
    fields: dict[str, Any]
    source: Any = None
    """The source message, for the dead letter."""
    numbers: tuple[int, ...] = ()
    """Integer columns (32 bits) that belong to the row's key, such as the number of a virtual function."""


@dataclass(slots=True)
class LateRnics:
    """RNICs of samples that came late, and how late a sample has to be for its RNIC to be among them."""

    before: int = 0
    """Minute (since 1970): of all samples from before it the RNICs are noted, of the others none."""
    of_hour: dict[int, set[int]] = field(default_factory=dict)
    """By the hour (since 1970) of the samples."""


@dataclass(slots=True)
class Encoded:
    """COPY rows of one table, without header and trailer."""

    table: str
    columns: tuple[str, ...]
    rows: list[bytes] = field(default_factory=list)
    """Rows that were encoded one by one."""
    blocks: list[bytes] = field(default_factory=list)
    """Many rows each."""
    rows_in_blocks: int = 0
    refused: list[tuple[Sample, str, str]] = field(default_factory=list)
    """Sample, reason, detail."""
    unknown_fields: int = 0
    minutes: set[int] = field(default_factory=set)
    """Minutes (since 1970) of the rows."""
    late: LateRnics = field(default_factory=LateRnics)

    @property
    def row_count(self) -> int:
        return len(self.rows) + self.rows_in_blocks

    def add_block(self, block: bytes, row_count: int) -> None:
        """Add rows that were encoded together."""
        self.blocks.append(block)
        self.rows_in_blocks += row_count


def problem_of(known: MetricField, value: object) -> tuple[str, str] | None:
    """Why a value cannot be stored: `(reason, detail)`, or None when it can."""
    kinds: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "text": (str,), "bool": (bool,)}
    if not isinstance(value, kinds[known.type]) or (known.type in ("int", "float") and isinstance(value, bool)):
        return "wrong_type", f"{known.name} must be {known.type}, not {type(value).__name__} {shown(value, 40)!r}"
    if known.numeric and not 0 <= value <= _INT64_MAX:  # type: ignore[operator]  # a number, as was just checked
        return "out_of_range", f"{known.name} must be from 0 to 2^63-1, not {value}"
    return None


class TableEncoder:
    """Encodes samples of one measurement. `keys` are the table's text columns that come from tags, `numbers` its integer columns."""

    def __init__(self, measurement: Measurement, identity: str, keys: tuple[str, ...] = (), numbers: tuple[str, ...] = ()) -> None:
        self._measurement = measurement
        self._key_numbers = numbers
        self._numbers = tuple(f for f in measurement.columns if f.numeric)
        self._texts = tuple(f for f in measurement.columns if not f.numeric)
        self._others = frozenset(f.name for f in measurement.others)
        other = ("other",) if self._others else ()
        self.columns = ("time", identity, *numbers, *(f.name for f in self._numbers), *keys, *(f.name for f in self._texts), *other)
        self._text_cells: dict[str, bytes] = {}

    def encode(self, samples: Sequence[Sample], result: Encoded | None = None) -> Encoded:
        """Encode all samples that can be stored; the others go to `refused` with their reason.

        Call it with a few hundred samples at a time and the same `result`: decoded samples are large, and data that leaves the processor's
        caches before it is encoded costs twice as much.
        """
        if result is None:
            result = Encoded(self._measurement.table, self.columns)
        groups: dict[tuple[str, ...], list[Sample]] = {}
        for sample in samples:
            groups.setdefault(tuple(sample.fields), []).append(sample)
        for names, group in groups.items():
            unknown = sum(name not in self._measurement.fields for name in names)
            if unknown == len(names):
                result.refused.extend((s, "no_fields", f"none of the fields {', '.join(names) or '(none)'} is known") for s in group)
                continue
            result.unknown_fields += unknown * len(group)
            rows = self._encode_group(names, group)
            if rows is None:  # a sample of the group is invalid: find it and keep the rest
                group = self._sort_out(group, result)
                rows = self._encode_group(names, group) if group else []
            if rows is None:
                result.refused.extend((s, "wrong_type", "a value changed its type between two samples") for s in group)
            elif rows:
                result.rows.extend(rows)
                result.minutes.update([s.at_ns // 60_000_000_000 for s in group])
        return result

    def _sort_out(self, group: list[Sample], result: Encoded) -> list[Sample]:
        kept = []
        for sample in group:
            problems = (problem_of(self._measurement.fields[n], v) for n, v in sample.fields.items() if n in self._measurement.fields)
            problem = next((p for p in problems if p is not None), None)
            if problem is None:
                kept.append(sample)
            else:
                result.refused.append((sample, *problem))
        return kept

    def _encode_group(self, names: tuple[str, ...], group: list[Sample]) -> list[bytes] | None:
        """Encode a group's rows; None when any value does not fit its column."""
        columns = dict(zip(names, zip(*[s.fields.values() for s in group], strict=True), strict=True))
        arrays: list[tuple[str, npt.NDArray[Any] | None]] = []
        for known in self._numbers:
            values = columns.get(known.name)
            array = None
            if values is not None:
                array = _number_array(values, known.type)
                if array is None:
                    return None
            arrays.append((known.name, array))
        for known in (f for f in self._measurement.others if f.name in columns and f.numeric):
            if _number_array(columns[known.name], known.type) is None:
                return None
        texts = [columns.get(f.name) for f in self._texts]
        texts_of_other = [columns[n] for n in names if n in self._others and self._measurement.fields[n].type == "text"]
        if any(set(map(type, values)) != {str} for values in (*texts, *texts_of_other) if values is not None):
            return None

        fixed = self._fixed_part(group, arrays)
        size = fixed.dtype.itemsize
        blob = fixed.tobytes()
        tails = self._tails(group, columns, texts)
        return [blob[i * size : (i + 1) * size] + tail for i, tail in enumerate(tails)]

    def _fixed_part(self, group: list[Sample], arrays: list[tuple[str, npt.NDArray[Any] | None]]) -> npt.NDArray[Any]:
        """Field count, time, identity and numbers, each number after its length; a missing number is a length of -1 alone."""
        layout: list[tuple[str, str]] = [("n", ">i2"), ("time_l", ">i4"), ("time", ">i8"), ("id_l", ">i4"), ("id", ">i4")]
        for name in self._key_numbers:
            layout.extend(((f"{name}_l", ">i4"), (name, ">i4")))
        for name, array in arrays:
            layout.append((f"{name}_l", ">i4"))
            if array is not None:
                layout.append((name, ">f8" if array.dtype.kind == "f" else ">i8"))
        rows = np.empty(len(group), dtype=np.dtype(layout))
        rows["n"] = len(self.columns)
        rows["time_l"] = 8
        rows["time"] = np.array([s.at_ns for s in group], dtype=np.int64) // 1000 - PG_EPOCH_US
        rows["id_l"] = 4
        rows["id"] = [s.identity for s in group]
        for i, name in enumerate(self._key_numbers):
            rows[f"{name}_l"] = 4
            rows[name] = [s.numbers[i] for s in group]
        for name, array in arrays:
            if array is None:
                rows[f"{name}_l"] = -1
            else:
                rows[f"{name}_l"] = 8
                rows[name] = array
        return rows

    def _tails(self, group: list[Sample], columns: dict[str, tuple[Any, ...]], texts: list[tuple[Any, ...] | None]) -> list[bytes]:
        """The cells of varying length: keys, texts, and the column `other`."""
        parts: list[list[bytes]] = []
        cell = self._text_cell
        if group[0].keys:
            parts.append([b"".join(map(cell, s.keys)) for s in group])
        for values in texts:
            parts.append([_NULL] * len(group) if values is None else list(map(cell, values)))
        if self._others:
            others = [n for n in columns if n in self._others]
            if others:
                rows = zip(*[columns[n] for n in others], strict=True)
                # compress keeps names and values of non-zero fields without an interpreter step per field
                parts.append([_json_cell(dict(zip(compress(others, row), compress(row, row), strict=True))) for row in rows])
            else:
                parts.append([_NULL] * len(group))
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return [b""] * len(group)
        return [b"".join(cells) for cells in zip(*parts, strict=True)]

    def _text_cell(self, value: str) -> bytes:
        found = self._text_cells.get(value)
        if found is None:
            raw = value.encode()
            found = LENGTH.pack(len(raw)) + raw
            if len(self._text_cells) < 10_000:  # states and mask names repeat; free text must not fill the memory
                self._text_cells[value] = found
        return found


def _json_cell(value: dict[str, Any]) -> bytes:
    if not value:
        return _NULL
    raw = orjson.dumps(value)
    return LENGTH.pack(len(raw) + 1) + b"\x01" + raw  # 1 is the version of jsonb's binary form


def _number_array(values: tuple[Any, ...], kind: str) -> npt.NDArray[Any] | None:
    """The values as int64 or float64; None when one has another type or is out of range."""
    types = set(map(type, values))
    if kind == "int":
        if types != {int}:
            return None
        try:
            array = np.array(values, dtype=np.int64)
        except OverflowError:
            return None
    else:
        if not types <= {int, float}:
            return None
        array = np.array(values, dtype=np.float64)
    # As `problem_of` judges: the same value must not be stored in one company and refused in another.
    return array if array.min() >= 0 and (kind == "int" or array.max() < 2.0**63) else None
