"""The packets of a direction's present round, the last ones only: PSN, frame and time of each."""

from __future__ import annotations

from itertools import islice

DUPLICATE_NS = 1_000
"""The same packet again within this time was mirrored twice: no RNIC retransmits that fast."""
_KEPT, _MOST = 4_096, 16_384
_MOST_SEARCHED = 1 << 11
_MOST_REPEATS_SEARCHED = 16


def moment_ago(then_ns: int, now_ns: int) -> bool:
    """Whether two frames are so close that one is the other's mirror image; frames without a time (0) may be any time apart.

    >>> moment_ago(5_000, 5_900), moment_ago(5_000, 6_100), moment_ago(0, 0)
    (True, False, False)
    """
    return now_ns > 0 and now_ns - then_ns <= DUPLICATE_NS


class SentLog(list[tuple[int, int, int]]):
    """A list, because a packet is appended at a time; what is searched is bounded."""

    def trim(self) -> None:
        """Forget the oldest once there are many."""
        if len(self) > _MOST:
            del self[:-_KEPT]

    def has(self, number: int) -> bool:
        """Whether this PSN is among the last ones."""
        return any(entry[0] == number for entry in islice(reversed(self), _MOST_SEARCHED))

    def is_mirrored_twice(self, number: int, time_ns: int) -> bool:
        """Whether the same packet was seen a moment ago, on another mirror port."""
        for entry in islice(reversed(self), _MOST_REPEATS_SEARCHED):
            if not moment_ago(entry[2], time_ns):
                return False
            if entry[0] == number:
                return True
        return False

    def first_behind(self, number: int, reordered: int) -> tuple[int, int, int] | None:
        """The earliest packet with a PSN above `number`; packets may be out of order by `reordered` PSNs."""
        earliest = None
        for entry in islice(reversed(self), _MOST_SEARCHED):
            if entry[0] > number:
                earliest = entry
            elif entry[0] < number - reordered:
                break
        return earliest
