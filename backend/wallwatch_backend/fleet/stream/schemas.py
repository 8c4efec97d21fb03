"""Events of the stream."""

from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True)
class StreamEvent:
    """One server-sent event, already serialised: once for all clients."""

    kind: str
    frame: bytes


def event(kind: str, data: Any, id: int | None = None) -> StreamEvent:
    r"""Create an event; a browser that reconnects sends the last `id` that it received.

    >>> event("incident", {"id": "1", "state": "open"}).frame
    b'event: incident\ndata: {"id":"1","state":"open"}\n\n'
    """
    number = b"" if id is None else b"id: %d\n" % id
    return StreamEvent(kind, number + b"event: " + kind.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n")
