"""READ requests of a flow: how many PSNs their responses take, and which are asked for again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

MTUS = (256, 512, 1024, 2048, 4096)
_MOST_OUTSTANDING = 1024


def spans(length: int) -> frozenset[int]:
    """How many packets a response of `length` bytes has, for each MTU.

    >>> sorted(spans(4096))
    [1, 2, 4, 8, 16]
    """
    return frozenset(max(1, -(-length // mtu)) for mtu in MTUS)


@dataclass
class ReadRequests:
    """The latest requests with the PSNs that they cover."""

    mtu: int | None = None
    longest: int = 0
    _ranges: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_MOST_OUTSTANDING))

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def request(self, number: int, length: int) -> frozenset[int]:
        """Remember a request; returns the PSNs that may follow it."""
        possible = spans(max(length, 0)) if self.mtu is None else frozenset({max(1, -(-max(length, 0) // self.mtu))})
        self.longest = max(self.longest, *possible)
        self._ranges.append((number, length))
        return frozenset(number + span for span in possible)

    def covers(self, start: int, end: int) -> bool:
        """Whether some request asked for a PSN in [start, end)."""
        # The latest first: requests ascend, so the search ends at the first one that lies wholly before.
        for first, length in reversed(self._ranges):
            span = min(spans(max(length, 0))) if self.mtu is None else max(1, -(-max(length, 0) // self.mtu))
            if first < end:
                return start < first + span
        return False

    def first_unanswered(self, number: int) -> int:
        """Where responses begin whose first seen one is `number`: at the first request of the capture, if that is before."""
        return min(self._ranges[0][0], number) if self._ranges else number
