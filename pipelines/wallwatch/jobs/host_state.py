"""What `classify` keeps of its hosts, in memory, and as parts in MessagePack for the changelog.

A host has one part for itself and one per RNIC. RNICs stay as the stage uses them (`RnicState`), from their first sample after a start on.
The host's own part is a dictionary; it is encoded while its host is not one of the recently used.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import msgspec
import orjson

from wallwatch.domain.symptoms.host_stage import HOST
from wallwatch.domain.symptoms.rnic_state import RnicState, from_plain

MOST_DECODED = 256
"""Hosts whose own parts stay decoded. All messages of one collection of a host arrive within a second or two and share it."""

packed = msgspec.msgpack.Encoder().encode
_unpacked = msgspec.msgpack.Decoder().decode


def unpacked(raw: bytes) -> Any:
    """Decode a part of the state: MessagePack, or JSON as earlier versions wrote it."""
    return orjson.loads(raw) if raw[:1] == b"{" else _unpacked(raw)


class HostState(MutableMapping[str, Any]):
    """The state of one host as the stage sees it: restored parts are decoded on first access."""

    __slots__ = ("_encoded", "_host", "_host_is_newer", "_rnics", "_unsaved")

    def __init__(self) -> None:
        self._encoded: dict[str, bytes] = {}
        """The host's own part when it was last encoded, and restored RNICs that sent nothing since."""
        self._host: dict[str, Any] | None = None
        self._host_is_newer = False
        """Than what is encoded."""
        self._rnics: dict[str, RnicState] = {}
        self._unsaved: set[str] = set()
        """Parts that were assigned since the last checkpoint."""

    def get(self, key: str, default: Any = None) -> Any:
        if key == HOST:
            if self._host is None and HOST in self._encoded:
                self._host = unpacked(self._encoded[HOST])
            return default if self._host is None else self._host
        found = self._rnics.get(key)
        if found is None:
            raw = self._encoded.pop(key, None)
            if raw is None:
                return default
            found = self._rnics[key] = from_plain(unpacked(raw))
        return found

    def __getitem__(self, key: str) -> Any:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: str, part: Any) -> None:
        if key == HOST:
            self._host = part
            self._host_is_newer = True
        else:
            self._rnics[key] = part
            self._encoded.pop(key, None)
        self._unsaved.add(key)

    def __delitem__(self, key: str) -> None:
        raise TypeError("the stage never deletes parts")

    def __iter__(self) -> Iterator[str]:
        of_host = () if self._host is None else (HOST,)
        return iter(dict.fromkeys((*self._encoded, *of_host, *self._rnics)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def restore(self, key: str, raw: bytes | None) -> None:
        """Take a part as a checkpoint has it; None: there is none."""
        self._unsaved.discard(key)
        if key == HOST:
            self._host, self._host_is_newer = None, False
        else:
            self._rnics.pop(key, None)
        if raw is None:
            self._encoded.pop(key, None)
        else:
            self._encoded[key] = raw

    def forget_decoded(self) -> None:
        """Keep the host's own part encoded only."""
        self._encode_host()
        self._host = None

    def _encode_host(self) -> None:
        if self._host_is_newer:
            self._encoded[HOST] = packed(self._host)
            self._host_is_newer = False

    def take_unsaved(self) -> Iterator[tuple[str, bytes]]:
        """The parts that were assigned since this was last asked for, encoded."""
        self._encode_host()
        for key in sorted(self._unsaved):
            yield key, self._encoded[HOST] if key == HOST else packed(self._rnics[key].plain())
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
