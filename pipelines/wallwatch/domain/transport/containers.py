"""Which container a capture is in, and its frames."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import IO, cast

from wallwatch.domain.transport.frames import ByteSource, CaptureError, FrameBlock, ReadReport
from wallwatch.domain.transport.pcap import is_pcap, read_pcap
from wallwatch.domain.transport.pcapng import SECTION_MAGIC, read_pcapng

_GZIP_MAGIC = b"\x1f\x8b"


class _Prefixed:
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, source: IO[bytes]) -> None:
        self._head, self._source = head, source

    def read(self, size: int = -1, /) -> bytes:
        if self._head:
            taken, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
            return taken
        return self._source.read(size)


class _Decompressed:
    """Gzip's content; damage ends it and is reported instead of raised."""

    def __init__(self, compressed: _Prefixed, report: ReadReport) -> None:
        self._file = gzip.GzipFile(fileobj=cast("IO[bytes]", compressed), mode="rb")  # reading, gzip calls read() alone
        self._report = report
        self._ended = False

    def read(self, size: int, /) -> bytes:
        pieces: list[bytes] = []
        missing = size
        while missing and not self._ended:
            try:
                # Small steps: when the stream breaks, at most one step of good bytes is lost.
                piece = self._file.read1(min(missing, 1 << 16))
            except (EOFError, zlib.error, OSError) as problem:
                self._ended = True
                self._report.end_early("the gzip stream is cut" if isinstance(problem, EOFError) else "the gzip stream is damaged")
                break
            if not piece:
                break
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)


def read_frames(stream: IO[bytes], report: ReadReport) -> Iterator[FrameBlock]:
    """The frames of a pcap or pcapng capture, gzipped or not, in bounded memory.

    Raises:
        CaptureError: the stream is neither, or ends inside its header.
    """
    head = stream.read(4)
    source: ByteSource = stream
    if head[:2] == _GZIP_MAGIC:
        source = _Decompressed(_Prefixed(head, stream), report)
        head = source.read(4)
    if is_pcap(head):
        return read_pcap(source, head, report)
    if head == SECTION_MAGIC:
        return read_pcapng(source, head, report)
    if not head:
        message = "the file is empty: capture again"
    else:
        message = f"not a capture: it begins with {head.hex(' ')}; expected pcap or pcapng, gzipped or not"
    raise CaptureError(message)
