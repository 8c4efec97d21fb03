"""Packet sequence numbers: 24 bits, compared within half a turn."""

from __future__ import annotations

PSN_MASK = 0xFFFFFF
_HALF = 1 << 23


def unwrapped(psn: int, near: int) -> int:
    """The number congruent to `psn` modulo 2^24 that lies closest to `near`.

    >>> unwrapped(2, near=0xFFFFFF) - 0xFFFFFF
    3
    """
    return near + ((psn - near + _HALF) & PSN_MASK) - _HALF
