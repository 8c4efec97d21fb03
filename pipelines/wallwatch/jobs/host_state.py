"""One host's state in a key-value store, part by part, in MessagePack; what was used last is kept decoded."""

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
"""Parts that are kept decoded, some 20 kB each. All messages of a host's gathering come within a second or two, and share its part."""

packed = msgspec.msgpack.Encoder().encode
_unpacked = msgspec.msgpack.Decoder().decode


def unpacked(raw: bytes) -> Any:
    """A part of the state: MessagePack, or the JSON of versions before it."""
    return orjson.loads(raw) if raw[:1] == b"{" else _unpacked(raw)


class DecodedValues:
    """The parts that were used last, decoded, each with the bytes that it stands for.

    What the store holds decides: a part is taken from here only when the store's bytes are the very same, so that nothing stale is
    used after another process has had the partition.
    """

    def __init__(self, most: int = MOST_DECODED) -> None:
        self._most = most
        self._kept: dict[tuple[str, str], tuple[bytes, Any]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: tuple[str, str], raw: bytes) -> Any:
        """The part that these bytes of the store stand for."""
        known = self._kept.get(key)
        if known is not None and known[0] == raw:
            return known[1]
        part = unpacked(raw)
        self.keep(key, raw, part)
        return part

    def keep(self, key: tuple[str, str], raw: bytes, part: Any) -> None:
        """Remember what was read or written just now; the one that was longest ago goes."""
        self._kept.pop(key, None)
        self._kept[key] = (raw, part)
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]


class HostState(MutableMapping[str, Any]):
    """The state of one host as the stage sees it: parts are read when they are asked for, and written when they were changed."""

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
        raise TypeError("the stage keeps its parts")

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)
