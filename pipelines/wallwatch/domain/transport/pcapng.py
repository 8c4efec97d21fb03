"""pcapng: several sections, interfaces with their own clocks, unknown blocks skipped and counted."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from wallwatch.domain.transport.frames import (
    CHUNK_BYTES,
    MAX_FRAME_BYTES,
    BlockBuilder,
    ByteSource,
    CaptureError,
    FrameBlock,
    ReadReport,
)

SECTION_MAGIC = b"\x0a\x0d\x0d\x0a"
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _ENHANCED_PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_KNOWN_WITHOUT_FRAMES = {4, 5, 10}
_MAX_BLOCK_BYTES = 1 << 24
_IF_TSRESOL, _IF_TSOFFSET = 9, 14


@dataclass(frozen=True)
class _Interface:
    """Clock and link of an interface; time units are 1/`units_per_second` seconds."""

    link_type: int
    snap_length: int
    units_per_second: int = 1_000_000
    resolution_ns: float = 1e3
    offset_s: int = 0

    def time_ns(self, high: int, low: int) -> int:
        return ((high << 32 | low) * 1_000_000_000) // self.units_per_second + self.offset_s * 1_000_000_000


@dataclass
class _Section:
    """What holds until the next section header."""

    order: str
    interfaces: list[_Interface] = field(default_factory=list)


class _Damaged(Exception):
    """A block contradicts itself; the file can't be followed past it."""


def read_pcapng(source: ByteSource, head: bytes, report: ReadReport) -> Iterator[FrameBlock]:
    """Blocks of frames, at most about `CHUNK_BYTES` each.

    Raises:
        CaptureError: the first section header is damaged, so that not even the byte order is certain.
    """
    reader = _Reader(report)
    rest = head
    any_section = False
    while chunk := source.read(CHUNK_BYTES):
        buffer = rest + chunk
        damaged = False
        try:
            position = reader.consume(buffer)
        except _Damaged as problem:
            damaged, position = True, 0
            report.end_early(f"{problem}: reading ended there")
        any_section = any_section or reader.section is not None
        if not any_section and damaged:
            message = "the first section header of this pcapng file is damaged: it can't be read, so capture or copy it again"
            raise CaptureError(message)
        builder, reader.builder = reader.builder, BlockBuilder()
        if builder.rows:
            yield builder.build(buffer)
        if damaged:
            return
        rest = buffer[position:]
    if not any_section:
        message = "the file ends inside pcapng's first section header: it holds no frames, so capture again"
        raise CaptureError(message)
    if rest:
        report.end_early("the file ends inside a block")


class _Reader:
    def __init__(self, report: ReadReport) -> None:
        self.report = report
        self.section: _Section | None = None
        self.builder = BlockBuilder()

    def consume(self, buffer: bytes) -> int:
        """Read all whole blocks of `buffer`; returns where the first incomplete one begins."""
        position, size = 0, len(buffer)
        while position + 12 <= size:
            if buffer[position : position + 4] == SECTION_MAGIC:
                magic = buffer[position + 8 : position + 12]
                if magic not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                    raise _Damaged("section header without byte order")
                self.section = _Section("<" if magic[0] == 0x4D else ">")
            if self.section is None:
                raise _Damaged("no section header")
            kind, length = struct.unpack_from(self.section.order + "II", buffer, position)
            if length < 12 or length % 4 or length > _MAX_BLOCK_BYTES:
                raise _Damaged("block with an impossible length")
            if position + length > size:
                break
            self._block(kind, buffer, position + 8, position + length - 4, self.section)
            position += length
        return position

    def _block(self, kind: int, buffer: bytes, start: int, end: int, section: _Section) -> None:
        if kind == _ENHANCED_PACKET and end - start >= 20:
            interface, high, low, captured, wire = struct.unpack_from(section.order + "IIIII", buffer, start)
            self._frame(section, interface, (high, low), (start + 20, end), (captured, wire))
        elif kind == _INTERFACE and end - start >= 8:
            section.interfaces.append(_interface(buffer, start, end, section.order))
        elif kind == _SIMPLE_PACKET and end - start >= 4:
            (wire,) = struct.unpack_from(section.order + "I", buffer, start)
            snap = section.interfaces[0].snap_length if section.interfaces else 0
            self.report.note("frames without a time")
            self._frame(section, 0, (0, 0), (start + 4, end), (min(wire, snap) if snap else wire, wire))
        elif kind == _OLD_PACKET and end - start >= 20:
            interface, _, high, low, captured, wire = struct.unpack_from(section.order + "HHIIII", buffer, start)
            self._frame(section, interface, (high, low), (start + 20, end), (captured, wire))
        elif kind != _SECTION and kind not in _KNOWN_WITHOUT_FRAMES:
            self.report.note("blocks of unknown kind or too short, skipped")

    def _frame(self, section: _Section, interface: int, stamp: tuple[int, int], place: tuple[int, int], lengths: tuple[int, int]) -> None:
        captured, wire = lengths
        if captured > MAX_FRAME_BYTES or place[0] + captured > place[1]:
            raise _Damaged("frame longer than its block")
        if interface >= len(section.interfaces):
            # The frame keeps its number, so that later numbers agree with other programs; link type -1 is never decoded.
            self.report.note("frames of an interface that the section does not describe")
            self.builder.add(place[0], captured, max(wire, captured), 0, -1)
            return
        described = section.interfaces[interface]
        self.report.clock(described.resolution_ns)
        self.builder.add(place[0], captured, max(wire, captured), described.time_ns(*stamp), described.link_type)


def _interface(buffer: bytes, start: int, end: int, order: str) -> _Interface:
    link_type, _, snap_length = struct.unpack_from(order + "HHI", buffer, start)
    units, offset, position = 1_000_000, 0, start + 8
    while position + 4 <= end:
        code, length = struct.unpack_from(order + "HH", buffer, position)
        value = position + 4
        if code == 0 or value + length > end:
            break
        if code == _IF_TSRESOL and length >= 1:
            exponent = buffer[value] & 0x7F
            units = 2**exponent if buffer[value] & 0x80 else 10**exponent
        elif code == _IF_TSOFFSET and length >= 8:
            (offset,) = struct.unpack_from(order + "q", buffer, value)
        position = value + (length + 3) // 4 * 4
    return _Interface(link_type, snap_length, units, 1e9 / units, offset)
