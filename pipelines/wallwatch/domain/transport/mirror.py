"""Lumina's mirror metadata and its integrity check (section 3.5).

The switch writes a 48-bit mirror sequence number over the source MAC address, its clock in nanoseconds over the
destination MAC address, and what it did to the packet over the TTL. Numbers that are consecutive prove that no mirrored
packet is missing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from wallwatch.domain.transport.frames import FrameBlock
from wallwatch.domain.transport.headers import ETHERNET

EVENTS = {0: "none", 1: "ecn", 2: "drop", 3: "corrupt"}
"""TTL values **[ours]**; any other value counts as `ttl_<n>`."""


class MirrorCheck:
    """Collects sequence numbers; times of the frames become those of the switch."""

    def __init__(self) -> None:
        self._previous: int | None = None
        self._first = 0
        self._received = 0
        self._breaks = 0
        self._foreign = 0
        self._events: Counter[int] = Counter()

    def read(self, block: FrameBlock) -> FrameBlock:
        """The same frames with the switch's times."""
        mirrored = (block.link_type == ETHERNET) & (block.length >= 14)
        self._foreign += int(np.count_nonzero(~mirrored))
        at = block.start[mirrored]
        if not len(at):
            return block
        weights = 1 << np.arange(40, -8, -8, dtype=np.int64)
        stamps = (block.data[at[:, None] + np.arange(6)].astype(np.int64) * weights).sum(axis=1)
        numbers = (block.data[at[:, None] + np.arange(6, 12)].astype(np.int64) * weights).sum(axis=1)
        chained = numbers if self._previous is None else np.concatenate([[self._previous], numbers])
        if self._previous is None:
            self._first = int(numbers[0])
        self._breaks += int(np.count_nonzero(np.diff(chained) != 1))
        self._previous = int(numbers[-1])
        self._received += len(numbers)
        ipv4 = mirrored & (block.length >= 34)
        places = block.start[ipv4]
        places = places[(block.data[places + 12] == 8) & (block.data[places + 13] == 0)]
        self._events.update(block.data[places + 22].tolist())
        times = block.time_ns.copy()
        times[mirrored] = stamps
        return replace(block, time_ns=times)

    def summary(self) -> dict[str, object]:
        """Whether the trace is complete, and how often the switch did what."""
        last = self._previous if self._previous is not None else 0
        expected = last - self._first + 1 if self._received else 0
        return {
            "complete": self._breaks == 0 and self._foreign == 0 and self._received > 0,
            "received": self._received,
            "mirrored": max(expected, 0),
            "breaks": self._breaks,
            "frames_without_metadata": self._foreign,
            "events": {EVENTS.get(ttl, f"ttl_{ttl}"): count for ttl, count in sorted(self._events.items())},
        }
