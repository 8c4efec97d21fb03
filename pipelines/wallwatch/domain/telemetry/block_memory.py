"""What of the hosts' blocks stays decoded: bounded by bytes, as tags may be of any number and length. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import getsizeof
from typing import TYPE_CHECKING, Generic, TypeVar

from wallwatch.domain.telemetry.shared_text import shared_text

if TYPE_CHECKING:
    from wallwatch.domain.telemetry.block_layouts import Named
    from wallwatch.domain.telemetry.blocks import Envelope

T = TypeVar("T")

LONGEST_BYTES = 2_048
"""Longest text that is remembered: collectors write some 300 bytes, and a longer one is decoded each time."""

_OBJECTS = 250
"""Around an entry: its places in dicts, its tuple or dataclass."""
_NAME = 64
"""A tag's name, if it is not one of the registry, which all share."""
_NAMES_OF_REGISTRY = 16
_OF_ENVELOPE = 500
"""Bytes of an envelope's objects without its texts."""
_OF_NAME = 72
"""Bytes of the name of a field without a place, and of its place in what sorts the values."""


class Budget:
    """Counts the bytes of entries.

    Parameters
    ----------
    most_bytes : int
    forget : callable
        Removes all entries, when the next one would be too much.
    """

    def __init__(self, most_bytes: int, forget: Callable[[], None]) -> None:
        self._most_bytes = most_bytes
        self._forget = forget
        self.used = 0

    def has_room(self, text_bytes: int, size: int) -> bool:
        """Whether an entry is to be remembered, which is then counted; room is made for it.

        >>> Budget(1_000, lambda: None).has_room(3_000, 10), Budget(1_000, lambda: None).has_room(30, 10)
        (False, True)
        """
        if text_bytes > LONGEST_BYTES or size > self._most_bytes:
            return False
        if self.used + size > self._most_bytes:
            self._forget()
            self.used = 0
        self.used += size
        return True


def size_of(key: object, tags: Mapping[str, str], *more: object) -> int:
    """About the memory that an entry with these tags takes, in bytes; texts that it shares with others are counted, too."""
    texts = sum(map(getsizeof, (key, tags, *tags.values(), *more)))
    return _OBJECTS + texts + _NAME * max(0, len(tags) - _NAMES_OF_REGISTRY)


class Memory(Generic[T]):
    """What is known of blocks by the texts of their envelopes, with the tags of their rows; all is forgotten when it is too much."""

    def __init__(self, most_bytes: int) -> None:
        self.known: dict[bytes, T] = {}
        self._named: dict[tuple[str, str, tuple[str, ...]], Named] = {}
        self._tags: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._budget = Budget(most_bytes, self._clear)
        self.has_room = self._budget.has_room

    def keep(self, raw: bytes, envelope: Envelope, known: T) -> bool:
        """Remember an envelope if it is not too long; those with the same fields share their names."""
        key = (envelope.measurement.name, envelope.fields, tuple(envelope.more))
        named = self._named.get(key)
        size = size_of(raw, envelope.tags, envelope.fields, *envelope.tags, *envelope.more) + _OF_ENVELOPE
        if named is None:
            size += sum(map(getsizeof, envelope.named[:2])) + _OF_NAME * len(envelope.named.names)
        if not self.has_room(len(raw), size):
            return False
        envelope.named = self._named.setdefault(key, envelope.named)
        envelope.fields = shared_text(envelope.fields)
        # A host's envelopes, one for each measurement and set of fields, have the same tags.
        envelope.tags = self._tags.setdefault(tuple(envelope.tags.items()), envelope.tags)
        self.known[raw] = known
        return True

    @property
    def used(self) -> int:
        """About how many bytes are remembered."""
        return self._budget.used

    def forget(self) -> None:
        """Begin again."""
        self._budget.used = 0
        self._clear()

    def _clear(self) -> None:
        self.known.clear()
        self._named.clear()
        self._tags.clear()
