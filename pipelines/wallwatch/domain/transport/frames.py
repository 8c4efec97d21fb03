"""What every container hands on: blocks of frames, with the bytes in one buffer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES = 1 << 22
"""Bytes read at once; bounds the memory of reading whatever the file's size."""
MAX_FRAME_BYTES = 1 << 18
"""The largest snap length that capture programs write (262,144); a longer record means a damaged file."""
MAX_TIME_NS = (1 << 62) - 1

Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]


class CaptureError(ValueError):
    """The file is no capture that can be read; the text says why and what to do."""


class ByteSource(Protocol):
    """A binary stream: an open file, or a decompressor around one."""

    def read(self, size: int, /) -> bytes: ...


@dataclass
class ReadReport:
    """What reading met besides frames. Nothing of it is fatal.

    Attributes:
        truncated: the file ends inside a record, or a damaged record ended the reading.
        resolution_ns: the coarsest time resolution among the interfaces that carry frames.
        notes: what happened, with counts, in words.
    """

    truncated: bool = False
    resolution_ns: float = 1.0
    notes: dict[str, int] = field(default_factory=dict)

    def note(self, what: str, count: int = 1) -> None:
        self.notes[what] = self.notes.get(what, 0) + count

    def clock(self, resolution_ns: float) -> None:
        """A frame was stamped by a clock with this resolution."""
        self.resolution_ns = max(self.resolution_ns, resolution_ns)

    def end_early(self, why: str) -> None:
        self.truncated = True
        self.note(why)


@dataclass(frozen=True)
class FrameBlock:
    """Consecutive frames of a capture.

    Attributes:
        data: the bytes that hold all frames.
        start: shape (n,), where each frame begins in `data`.
        length: shape (n,), captured bytes.
        wire_length: shape (n,), bytes that the frame had on the wire.
        time_ns: shape (n,), nanoseconds since 1970.
        link_type: shape (n,), LINKTYPE_ number.
    """

    data: Bytes
    start: Integers
    length: Integers
    wire_length: Integers
    time_ns: Integers
    link_type: Integers

    def __len__(self) -> int:
        return len(self.start)


@dataclass
class BlockBuilder:
    """Collects the records found in one buffer."""

    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)

    def add(self, start: int, length: int, wire_length: int, time_ns: int, link_type: int) -> None:
        self.rows.append((start, length, wire_length, min(max(time_ns, 0), MAX_TIME_NS), link_type))

    def build(self, buffer: bytes) -> FrameBlock:
        columns = np.array(self.rows, dtype=np.int64).reshape(-1, 5)
        return FrameBlock(np.frombuffer(buffer, dtype=np.uint8), *(np.ascontiguousarray(columns[:, i]) for i in range(5)))
