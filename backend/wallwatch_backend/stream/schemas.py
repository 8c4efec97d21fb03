"""What travels in the stream."""

from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True)
class StreamEvent:
    """One server-sent event, already in bytes: it is made once and sent to many."""

    kind: str
    frame: bytes


def event(kind: str, data: Any, id: int | None = None) -> StreamEvent:
    r"""Make an event; a browser that reconnects gives back the last `id` that it got.

    >>> event("incident", {"id": "1", "state": "open"}).frame
    b'event: incident\ndata: {"id":"1","state":"open"}\n\n'
    """
    number = b"" if id is None else b"id: %d\n" % id
    return StreamEvent(kind, number + b"event: " + kind.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n")
