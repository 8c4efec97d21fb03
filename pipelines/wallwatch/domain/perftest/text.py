"""From the bytes of a log to lines as `perftest` printed them: compression, encodings, colours, what log collectors put before lines."""

from __future__ import annotations

import codecs
import re
import zlib

MOST_BYTES = 64 * 2**20
"""Of a log when unpacked: a run with each latency listed (`-U`) at every message size takes 2 MB."""

_GZIP = b"\x1f\x8b"
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COLLECTED = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]*\]? (?:std(?:out|err) [FP] )?"  # kubectl logs --timestamps, containerd, ts
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:]+: "  # syslog, journalctl
    r"|#(?=\s))"  # copied as a comment
)


def text_of(data: bytes) -> str:
    """The text of a file: gzip unpacked, UTF-8 or UTF-16 by its mark; invalid bytes become replacement characters.

    What is whole before the damage of a gzip file is used.

    Raises
    ------
    ValueError
        When it is larger than `MOST_BYTES`.
    """
    while data.startswith(_GZIP):
        data = _unpacked(data)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES // 2**20} MiB, too large for perftest output")
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    return data.decode("utf-8", errors="replace")


def _unpacked(data: bytes) -> bytes:
    unpacked = b""
    while data and len(unpacked) <= MOST_BYTES:
        member = zlib.decompressobj(wbits=31)
        try:
            unpacked += member.decompress(data, MOST_BYTES + 1 - len(unpacked))
        except zlib.error:
            break
        data = member.unused_data
    return unpacked


def lines_of(text: str) -> list[str]:
    """Lines with their ends, as the tool printed them.

    >>> lines_of("2024-05-01T10:00:00.123456789Z stdout F  65536  5000\\n# #bytes\\n\\x1b[32m 2  1000\\x1b[0m")
    [' 65536  5000\\n', ' #bytes\\n', ' 2  1000']
    """
    plain = _COLOUR.sub("", text.replace("\x00", "").lstrip("\ufeff\ufffd"))
    return [_COLLECTED.sub("", line) for line in plain.splitlines(keepends=True)]
