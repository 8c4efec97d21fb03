"""Lumina's mirror metadata and its integrity check (sections 3.4 and 3.5).

The switch writes a 48-bit mirror sequence number over the source MAC address, its clock in nanoseconds over the
destination MAC address, and what it does to the packet over the TTL. Packets are mirrored before the switch acts: a
packet that it drops or corrupts is in the capture, whole, and a packet that it marks has no mark yet. Numbers that are
consecutive prove that no mirrored packet is missing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from wallwatch.domain.transport.frames import Bytes, FrameBlock, Integers
from wallwatch.domain.transport.headers import ETHERNET

NONE, DROP, ECN, CORRUPT = 0, 1, 2, 3
EVENT_CODES = {"none": NONE, "drop": DROP, "ecn": ECN, "corrupt": CORRUPT}
"""TTL values of Lumina's own switch program; any other value counts as `ttl_<n>`."""
_VLANS = np.array([0x8100, 0x88A8])


@dataclass(frozen=True)
class MirroredBlock:
    """Frames in the switch's order.

    Attributes:
        frames: the frames with the switch's times.
        place: shape (n,), where each frame stood in the file, counted from the block's first.
        event: shape (n,), what the switch did to it.
    """

    frames: FrameBlock
    place: Integers
    event: Integers


class MirrorCheck:
    """Collects sequence numbers; frames get the switch's order and times.

    Args:
        codes: TTL value of each event; the default is Lumina's own.
    """

    def __init__(self, codes: dict[str, int] | None = None) -> None:
        codes = {**EVENT_CODES, **(codes or {})}
        self._names = {code: name for name, code in codes.items()}
        self._meaning = np.zeros(256, dtype=np.int64)
        for name, code in codes.items():
            self._meaning[code] = EVENT_CODES[name]
        self._first: int | None = None
        self._last = 0
        self._received = 0
        self._breaks = 0
        self._foreign = 0
        self._repeated = 0
        self._disordered = 0
        self._events: Counter[int] = Counter()

    def read(self, block: FrameBlock) -> MirroredBlock:
        """The same frames by mirror sequence number, which several dumpers' cores may have written out of order."""
        mirrored = (block.link_type == ETHERNET) & (block.length >= 14)
        self._foreign += int(np.count_nonzero(~mirrored))
        at = block.start[mirrored]
        place, event = np.arange(len(block)), np.zeros(len(block), dtype=np.int64)
        if not len(at):
            return MirroredBlock(block, place, event)
        numbers = np.zeros(len(block), dtype=np.int64)
        numbers[mirrored] = _u48(block.data, at + 6)
        times = block.time_ns.copy()
        times[mirrored] = _u48(block.data, at)
        lifetimes, known = _lifetimes(block, mirrored)
        event[known] = self._meaning[lifetimes]
        self._events.update(lifetimes.tolist())
        self._count(numbers[mirrored])
        if np.all(mirrored) and np.any(np.diff(numbers) < 0):
            place = np.argsort(numbers, kind="stable")
            self._disordered += int(np.count_nonzero(np.diff(numbers) < 0))
        return MirroredBlock(_reordered(replace(block, time_ns=times), place), place, event[place])

    def _count(self, numbers: Integers) -> None:
        ordered = np.sort(numbers)
        gaps = np.diff(ordered if self._first is None else np.concatenate([[self._last], ordered]))
        self._breaks += int(np.count_nonzero(gaps > 1))
        self._repeated += int(np.count_nonzero(gaps == 0))
        # Below what an earlier block held: sorted no more, so the order of the file is not the switch's.
        self._disordered += int(np.count_nonzero(gaps < 0))
        if self._first is None:
            self._first = int(ordered[0])
        self._first = min(self._first, int(ordered[0]))
        self._last = max(self._last, int(ordered[-1]))
        self._received += len(numbers)

    def summary(self) -> dict[str, object]:
        """Whether the trace is complete, and how often the switch did what."""
        expected = self._last - self._first + 1 if self._first is not None else 0
        whole = self._breaks == 0 and self._foreign == 0 and self._repeated == 0 and expected == self._received
        return {
            "complete": whole and self._received > 0,
            "received": self._received,
            "mirrored": max(expected, 0),
            "breaks": self._breaks,
            "repeated": self._repeated,
            "out_of_order": self._disordered,
            "frames_without_metadata": self._foreign,
            "events": {self._names.get(ttl, f"ttl_{ttl}"): count for ttl, count in sorted(self._events.items())},
        }


def _u48(data: Bytes, at: Integers) -> Integers:
    weights = 1 << np.arange(40, -8, -8, dtype=np.int64)
    found: Integers = (data[at[:, None] + np.arange(6)].astype(np.int64) * weights).sum(axis=1)
    return found


def _lifetimes(block: FrameBlock, mirrored: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[Integers, Integers]:
    """TTLs or hop limits, and the rows that they belong to; up to two VLAN tags are skipped."""
    rows = np.flatnonzero(mirrored & (block.length >= 42))
    at = block.start[rows] + 12
    for _ in range(2):
        tagged = np.isin(block.data[at].astype(np.int64) << 8 | block.data[at + 1], _VLANS)
        at = at + 4 * tagged
    kind = block.data[at].astype(np.int64) << 8 | block.data[at + 1]
    four, six = kind == 0x0800, kind == 0x86DD
    places = at + np.where(four, 10, 9)
    keep = (four | six) & (places < block.start[rows] + block.length[rows])
    return block.data[places[keep]].astype(np.int64), rows[keep]


def _reordered(block: FrameBlock, order: Integers) -> FrameBlock:
    return FrameBlock(
        block.data, block.start[order], block.length[order], block.wire_length[order], block.time_ns[order], block.link_type[order]
    )
