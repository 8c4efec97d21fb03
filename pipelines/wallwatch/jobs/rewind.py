"""Where a process that starts again begins to read: some minutes before where this one is."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

MARK_EVERY_S = 5.0


class _Mark(NamedTuple):
    read_s: float
    offset: int


class Marks:
    """When this process had read each partition up to an offset.

    By the process's own clock: the time in a message is that of its host, and one host whose clock is wrong must not decide for all.

    Parameters
    ----------
    kept_back_s : float
        How far behind the newest message the offsets of `behind` are, seconds.

    >>> marks = Marks(kept_back_s=120.0)
    >>> for second in range(0, 300, 10):
    ...     marks.add(partition=0, offset=second * 100, read_s=float(second))
    >>> marks.behind()
    {0: 17000}
    """

    def __init__(self, kept_back_s: float) -> None:
        self._kept_back_s = kept_back_s
        self._marks: dict[int, deque[_Mark]] = {}

    def add(self, partition: int, offset: int, read_s: float) -> None:
        """Note a message; `read_s` comes from a clock that never goes back."""
        marks = self._marks.setdefault(partition, deque())
        if not marks or read_s - marks[-1].read_s >= MARK_EVERY_S:
            marks.append(_Mark(read_s, offset))

    def behind(self) -> dict[int, int]:
        """Partition -> the newest offset that is old enough; the first one that was read while none is."""
        for marks in self._marks.values():
            while len(marks) > 1 and marks[1].read_s <= marks[-1].read_s - self._kept_back_s:
                marks.popleft()
        return {partition: marks[0].offset for partition, marks in self._marks.items()}

    def clear(self) -> None:
        """Forget all partitions."""
        self._marks.clear()
