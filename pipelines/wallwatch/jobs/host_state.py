"""One host's state in a key-value store, part by part, in MessagePack; recently used parts stay decoded in memory."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, Protocol

import msgspec
import orjson


class Bytes(Protocol):
    """A store's entries of one host, as Quix Streams' `State` gives them."""

    def get_bytes(self, key: str) -> bytes | None: ...
    def set_bytes(self, key: str, value: bytes) -> None: ...


MOST_DECODED = 1024
"""Parts that stay decoded, about 20 kB each. All messages of one collection of a host arrive within a second or two and share its part."""

packed = msgspec.msgpack.Encoder().encode
_unpacked = msgspec.msgpack.Decoder().decode


def unpacked(raw: bytes) -> Any:
    """Decode a part of the state: MessagePack, or JSON as earlier versions wrote it."""
    return orjson.loads(raw) if raw[:1] == b"{" else _unpacked(raw)


class DecodedValues:
    """The most recently used parts, decoded, each with its encoded bytes.

    The store decides: a cached part counts only when the store's bytes are identical, so nothing stale is used after another process
    has owned the partition.
    """

    def __init__(self, most: int = MOST_DECODED) -> None:
        self._most = most
        self._kept: dict[tuple[str, str], tuple[bytes, Any]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: tuple[str, str], raw: bytes) -> Any:
        """Decode these bytes of the store, from the cache if possible."""
        known = self._kept.get(key)
        if known is not None and known[0] == raw:
            return known[1]
        part = unpacked(raw)
        self.keep(key, raw, part)
        return part

    def keep(self, key: tuple[str, str], raw: bytes, part: Any) -> None:
        """Cache a part that was read or written just now; the least recently used part leaves."""
        self._kept.pop(key, None)
        self._kept[key] = (raw, part)
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]


class HostState(MutableMapping[str, Any]):
    """The state of one host as the stage sees it: parts are read on first access, and changed parts are written by `save`."""

    def __init__(self, state: Bytes, decoded: DecodedValues, host: str) -> None:
        self._state = state
        self._decoded = decoded
        self._host = host
        self._loaded: dict[str, Any] = {}
        self._changed: dict[str, Any] = {}

    def get(self, key: str, default: Any = None) -> Any:
        if key in self._loaded:
            return self._loaded[key]
        raw = self._state.get_bytes(key)
        if raw is None:
            return default
        found = self._loaded[key] = self._decoded.take((self._host, key), raw)
        return found

    def __getitem__(self, key: str) -> Any:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: str, part: Any) -> None:
        self._loaded[key] = self._changed[key] = part

    def save(self) -> None:
        for key, part in self._changed.items():
            raw = packed(part)
            self._state.set_bytes(key, raw)
            self._decoded.keep((self._host, key), raw, part)

    def __delitem__(self, key: str) -> None:
        raise TypeError("the stage never deletes parts")

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)
