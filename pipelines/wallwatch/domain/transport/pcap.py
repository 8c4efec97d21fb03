"""Classic pcap: microseconds or nanoseconds, both byte orders."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from wallwatch.domain.transport.frames import CHUNK_BYTES, MAX_FRAME_BYTES, ByteSource, CaptureError, FrameBlock, ReadReport

_MAGICS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}


def is_pcap(head: bytes) -> bool:
    """Whether the first four bytes are one of pcap's four magic numbers."""
    return head[:4] in _MAGICS


def read_pcap(source: ByteSource, head: bytes, report: ReadReport) -> Iterator[FrameBlock]:
    """Blocks of frames, at most about `CHUNK_BYTES` each.

    Args:
        source: the rest of the file.
        head: what was read of the file already (at least four bytes).
        report: where a truncated or damaged record is noted.

    Raises:
        CaptureError: the file ends inside its header.
    """
    order, unit_ns = _MAGICS[head[:4]]
    while len(head) < 24 and (more := source.read(24 - len(head))):
        head += more
    if len(head) < 24:
        message = "the file ends inside pcap's file header (24 bytes): it holds no frames, so capture again"
        raise CaptureError(message)
    link_type = struct.unpack_from(order + "I", head, 20)[0] & 0xFFFF
    report.resolution_ns = max(report.resolution_ns, float(unit_ns))
    record = struct.Struct(order + "IIII")
    rest = head[24:]
    while chunk := source.read(CHUNK_BYTES):
        buffer = rest + chunk
        starts, fields, position, damaged = _walk(buffer, record)
        if starts:
            columns = np.array(fields, dtype=np.int64)
            yield FrameBlock(
                np.frombuffer(buffer, dtype=np.uint8),
                np.array(starts, dtype=np.int64),
                columns[:, 2].copy(),
                np.maximum(columns[:, 3], columns[:, 2]),
                columns[:, 0] * 1_000_000_000 + columns[:, 1] * unit_ns,
                np.full(len(starts), link_type, dtype=np.int64),
            )
        if damaged:
            report.end_early("damaged record: reading ended there")
            return
        rest = buffer[position:]
    if rest:
        report.end_early("the file ends inside a record")


def _walk(buffer: bytes, record: struct.Struct) -> tuple[list[int], list[tuple[int, ...]], int, bool]:
    """Follow the chain of records through `buffer`; returns also where the first incomplete one begins."""
    starts: list[int] = []
    fields: list[tuple[int, ...]] = []
    position, size = 0, len(buffer)
    unpack = record.unpack_from
    while position + 16 <= size:
        row = unpack(buffer, position)
        captured = row[2]
        if captured > MAX_FRAME_BYTES:
            return starts, fields, position, True
        following = position + 16 + captured
        if following > size:
            break
        starts.append(position + 16)
        fields.append(row)
        position = following
    return starts, fields, position, False
