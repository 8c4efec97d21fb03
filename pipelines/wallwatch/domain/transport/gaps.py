"""What waits for a decision about packets that are missing: a NACK, and the packets that fill a gap."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Nack:
    """A NACK that waits for its retransmission; `generation_ns` as in `Retransmission`."""

    psn: int
    frame: int
    time_ns: int
    frame_trigger: int | None
    generation_ns: int | None


@dataclass
class Filling:
    """Packets that fill a gap: late ones, or the first of a retransmission; the next packet decides."""

    start: int
    end: int
    frame: int
    time_ns: int
    waited_ns: int
    distance: int
    """From the first of them to the highest PSN that was sent before."""
