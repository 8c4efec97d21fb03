"""What waits for a decision about packets that are missing: a NACK, and the packets that fill a gap."""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.transport.sequence import unwrapped

REORDER_WINDOW = 256
"""Packets may come out of order by so many PSNs."""


@dataclass(frozen=True)
class Nack:
    """A NACK that waits for its retransmission; `generation_ns` as in `Retransmission`."""

    psn: int
    frame: int
    time_ns: int
    frame_trigger: int | None
    generation_ns: int | None


@dataclass(frozen=True)
class EarlyNack:
    """A NACK that came before the capture's first data packet: the packets that it answers are not in the capture."""

    psn: int
    frame: int
    time_ns: int

    def before(self, first: int) -> Nack | None:
        """What still waits for its retransmission, if the first packet was sent before the NACK arrived."""
        number = unwrapped(self.psn, first)
        return Nack(number, self.frame, self.time_ns, None, None) if first - REORDER_WINDOW <= number < first else None


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
