"""Differences of cumulative counters: a wrap is distinguished from a reset, and no difference is ever negative or impossibly large."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum

from wallwatch.domain.isolation.readings import Counters

COUNTERS = tuple(field.name for field in fields(Counters))
"""rx_bytes, rx_packets, rx_dropped, tx_bytes, tx_packets, tx_dropped."""

WIDTHS = tuple(1 << bits for bits in (32, 40, 48, 64))
"""Counters of NICs and drivers have 32, 40, 48 or 64 bits."""

SMALLEST_PACKET = 40
"""Bytes: drivers count frames with or without their header, and never fewer than an IP header and a TCP header."""

LARGEST_PACKET = 1 << 16
"""Bytes: what segmentation offload counts as one packet."""

ABOVE_LINE_RATE = 2.5
"""Traffic between VFs of one card does not leave it, and may exceed the port's rate up to that of PCIe; above this it is an error."""

FASTEST_PORT_BPS = 1.6e12
"""Assumed line rate where none is known: the fastest port that is sold."""


class Outcome(StrEnum):
    """What a pair of readings of one entity is."""

    GOOD = "good"
    WRAPPED = "wraps"
    RESET = "resets"
    IMPOSSIBLE = "impossible"
    MISSING = "missing"


class Limits:
    """The largest increase per second that a counter may have."""

    __slots__ = ("bytes_per_s", "packets_per_s")

    def __init__(self, nic_bps: float | None) -> None:
        self.bytes_per_s = (nic_bps or FASTEST_PORT_BPS) / 8 * ABOVE_LINE_RATE
        self.packets_per_s = self.bytes_per_s / SMALLEST_PACKET


def careful_changes(old: Counters, new: Counters, span_s: float, limits: Limits, narrow: bool) -> tuple[Outcome, list[int | None]]:
    """Increase of each counter where the plain difference is not enough: a value is missing, or a counter went down.

    A counter that went down has wrapped when the increase around its width is possible; otherwise the counters have started again.
    A reset moves all counters of an entity, so one counter that cannot have wrapped makes all of them unknown.

    Parameters
    ----------
    span_s
        Seconds between the readings, larger than 0.
    narrow
        The byte counters are known to have 32 bits: at high rates they may wrap more than once in a reading.

    Returns
    -------
    tuple
        The outcome, and six increases in the order of `COUNTERS`; None where a counter is missing or the outcome is not good.
    """
    outcome = Outcome.GOOD
    increases: list[int | None] = []
    for name in COUNTERS:
        before, after = getattr(old, name), getattr(new, name)
        most = (limits.bytes_per_s if name.endswith("bytes") else limits.packets_per_s) * span_s
        if before is None or after is None:
            increases.append(None)
            continue
        increase = int(after) - int(before)
        if increase < 0:
            around = _around(int(before), increase, most)
            if around is None:
                return Outcome.RESET, [None] * len(COUNTERS)
            outcome, increase = Outcome.WRAPPED, around
        if increase > most:
            return Outcome.IMPOSSIBLE, [None] * len(COUNTERS)
        increases.append(increase)
    for byte, packet in ((0, 1), (3, 4)):
        size = _plausible(increases[byte], increases[packet], narrow)
        if size is None and increases[byte] is not None and increases[packet] is not None:
            return (Outcome.RESET if outcome is Outcome.WRAPPED else Outcome.IMPOSSIBLE), [None] * len(COUNTERS)
        increases[byte] = size if size is not None else increases[byte]
    if increases[0] is None or increases[1] is None:
        return Outcome.MISSING, increases
    return outcome, increases


def _around(before: int, difference: int, most: float) -> int | None:
    """The increase of a counter that went through its end, for the smallest width that makes it possible."""
    return next((difference + width for width in WIDTHS if before < width and difference + width <= most), None)


def _plausible(byte_count: int | None, packets: int | None, narrow: bool) -> int | None:
    """Bytes that fit to the packets; those of a 32-bit counter may lack whole turns. None: no packets have such sizes."""
    if byte_count is None or packets is None:
        return None
    while narrow and byte_count < packets * SMALLEST_PACKET:
        byte_count += WIDTHS[0]
    return byte_count if byte_count <= max(packets, 1) * LARGEST_PACKET else None
