"""Classic pcap: microseconds or nanoseconds, both byte orders."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from wallwatch.domain.transport.frames import CHUNK_BYTES, MAX_FRAME_BYTES, ByteSource, CaptureError, FrameBlock, ReadReport

_RECORD_BYTES = 16
"""Of the header before each frame: seconds, fraction, captured length, length on the wire."""
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
    captured_length = struct.Struct(order + "I")
    field = np.dtype(order + "u4")
    rest = head[24:]
    while chunk := source.read(CHUNK_BYTES):
        buffer = rest + chunk
        starts, position, damaged = _walk(buffer, captured_length)
        if starts:
            data, at = np.frombuffer(buffer, dtype=np.uint8), np.array(starts, dtype=np.int64)
            headers = data[at[:, None] + np.arange(-_RECORD_BYTES, 0)].view(field).astype(np.int64)
            yield FrameBlock(
                data,
                at,
                headers[:, 2].copy(),
                np.maximum(headers[:, 3], headers[:, 2]),
                headers[:, 0] * 1_000_000_000 + headers[:, 1] * unit_ns,
                np.full(len(starts), link_type, dtype=np.int64),
            )
        if damaged:
            report.end_early("damaged record: reading ended there")
            return
        rest = buffer[position:]
    if rest:
        report.end_early("the file ends inside a record")


def _walk(buffer: bytes, captured_length: struct.Struct) -> tuple[list[int], int, bool]:
    """Follow the chain of records through `buffer`; returns also where the first incomplete one begins, and whether it is damaged."""
    starts: list[int] = []
    append, unpack = starts.append, captured_length.unpack_from
    start, size = _RECORD_BYTES, len(buffer)
    while start <= size:
        (captured,) = unpack(buffer, start - 8)
        following = start + captured + _RECORD_BYTES
        if following - _RECORD_BYTES > size:
            return starts, start - _RECORD_BYTES, captured > MAX_FRAME_BYTES
        if captured > MAX_FRAME_BYTES:
            return starts, start - _RECORD_BYTES, True
        append(start)
        start = following
    return starts, start - _RECORD_BYTES, False
