"""What `classify` keeps of its hosts: in memory, in MessagePack, part by part; recently used hosts stay decoded.

A host has one part for itself and one per RNIC. What the stage assigns is encoded when its host leaves the decoded ones or when a
checkpoint asks for it: not once per message.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import msgspec
import orjson

MOST_DECODED = 256
"""Hosts that stay decoded, about 20 kB per RNIC. All messages of one collection of a host arrive within a second or two and share it."""

packed = msgspec.msgpack.Encoder().encode
_unpacked = msgspec.msgpack.Decoder().decode


def unpacked(raw: bytes) -> Any:
    """Decode a part of the state: MessagePack, or JSON as earlier versions wrote it."""
    return orjson.loads(raw) if raw[:1] == b"{" else _unpacked(raw)


class HostState(MutableMapping[str, Any]):
    """The state of one host as the stage sees it: parts are decoded on first access, and assigned parts are encoded by `encode`."""

    __slots__ = ("_assigned", "_decoded", "_encoded", "_unsaved")

    def __init__(self) -> None:
        self._encoded: dict[str, bytes] = {}
        self._decoded: dict[str, Any] = {}
        self._assigned: set[str] = set()
        """Parts that are newer than what is encoded."""
        self._unsaved: set[str] = set()
        """Parts whose encoded form no checkpoint has taken."""

    def get(self, key: str, default: Any = None) -> Any:
        found = self._decoded.get(key)
        if found is None:
            raw = self._encoded.get(key)
            if raw is None:
                return default
            found = self._decoded[key] = unpacked(raw)
        return found

    def __getitem__(self, key: str) -> Any:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: str, part: Any) -> None:
        self._decoded[key] = part
        self._assigned.add(key)

    def __delitem__(self, key: str) -> None:
        raise TypeError("the stage never deletes parts")

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded.keys() | self._decoded.keys())

    def __len__(self) -> int:
        return len(self._encoded.keys() | self._decoded.keys())

    def restore(self, key: str, raw: bytes | None) -> None:
        """Take a part as a checkpoint has it; None: there is none."""
        self._decoded.pop(key, None)
        if raw is None:
            self._encoded.pop(key, None)
        else:
            self._encoded[key] = raw

    def encode(self) -> None:
        """Encode what was assigned."""
        for key in self._assigned:
            self._encoded[key] = packed(self._decoded[key])
        self._unsaved |= self._assigned
        self._assigned.clear()

    def forget_decoded(self) -> None:
        """Keep the encoded parts only."""
        self.encode()
        self._decoded.clear()

    def take_unsaved(self) -> Iterator[tuple[str, bytes]]:
        """The parts that changed since this was last asked for, encoded."""
        self.encode()
        for key in sorted(self._unsaved):
            yield key, self._encoded[key]
        self._unsaved.clear()


class HostStates:
    """The hosts of all partitions that a process reads.

    Parameters
    ----------
    most_decoded : int
        Hosts that stay decoded.
    """

    def __init__(self, most_decoded: int = MOST_DECODED) -> None:
        self._most_decoded = most_decoded
        self._hosts: dict[int, dict[bytes, HostState]] = {}
        self._used: dict[int, dict[bytes, HostState]] = {}
        """By partition, the hosts that were asked for since the last checkpoint."""
        self._recent: dict[tuple[int, bytes], HostState] = {}

    @property
    def partitions(self) -> set[int]:
        """Those of which something is kept."""
        return set(self._hosts)

    def of(self, partition: int, host: bytes) -> HostState:
        """The state of one host, to be read and changed; a host that was not used for long is encoded and leaves the decoded ones."""
        key = (partition, host)
        found = self._recent.pop(key, None)
        if found is None:
            found = self.at_rest(partition, host)
            if len(self._recent) >= self._most_decoded:
                oldest = next(iter(self._recent))
                self._recent.pop(oldest).forget_decoded()
        self._recent[key] = found
        self._used.setdefault(partition, {})[host] = found
        return found

    def at_rest(self, partition: int, host: bytes) -> HostState:
        """The state of one host, to be restored."""
        hosts = self._hosts.setdefault(partition, {})
        found = hosts.get(host)
        if found is None:
            found = hosts[host] = HostState()
        return found

    def take_unsaved(self, partition: int) -> Iterator[tuple[bytes, str, bytes]]:
        """Host, name and content of each part that changed since this was last asked for."""
        for host, state in self._used.pop(partition, {}).items():
            for name, raw in state.take_unsaved():
                yield host, name, raw

    def drop(self, partition: int) -> None:
        """Forget a partition that another process reads now."""
        for host in self._hosts.pop(partition, {}):
            self._recent.pop((partition, host), None)
        self._used.pop(partition, None)
