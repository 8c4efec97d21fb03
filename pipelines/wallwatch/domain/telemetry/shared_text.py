"""One object for equal texts that a fleet repeats: names of drivers, models, addresses on the bus, functions, tenants."""

from __future__ import annotations

from sys import getsizeof
from typing import Final

MOST_BYTES: Final = 32_000_000
"""Of the texts that are shared, with their places: some 200,000 addresses."""

_PLACE: Final = 100
"""Bytes of a text's place in the dict, which grows by doubling."""

_shared: Final[dict[str, str]] = {}
_used = 0


def shared_text(text: str) -> str:
    """The first object with these characters; beyond `MOST_BYTES` all are forgotten, and their owners keep what they have.

    `sys.intern` does the same, but up to Python 3.12.6 what it has once seen is never freed (cpython PR 123065): a host
    that names new pods, or invents tags, would fill the memory.

    >>> one, other = "".join(["mlx5", "_0"]), "".join(["mlx5", "_0"])
    >>> one is other, shared_text(one) is shared_text(other)
    (False, True)
    """
    global _used
    try:
        return _shared[text]
    except KeyError:
        pass
    size = getsizeof(text) + _PLACE
    if size > MOST_BYTES:
        return text
    if _used + size > MOST_BYTES:
        _shared.clear()
        _used = 0
    _used += size
    _shared[text] = text
    return text
