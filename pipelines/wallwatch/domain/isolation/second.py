"""What one interval says about the RNIC as a whole, before anything is judged."""

from __future__ import annotations

from dataclasses import dataclass, field

from wallwatch.domain.isolation.verdicts import Mechanism
from wallwatch.domain.isolation.vf_track import VfTrack

FEW_PARTS = 0.001
"""Fewer drops than 0.1 % of the packets ..."""

FEW_PER_S = 10_000.0
"""... and than the paper's 10,000 per second (section 2.4) are a note while the engine is calm."""


@dataclass(slots=True)
class Second:
    """Sums over the VFs with known rates, and the drops of the engine."""

    tracks: list[VfTrack]
    """VFs with known rates that had traffic."""
    packets: float
    """Received packets per second."""
    bytes: float
    """Received bytes per second."""
    vf_drops: float
    """Receive drops that the VFs count, per second, without those of their own limiters."""
    slow: list[VfTrack]
    """VFs whose delay is above the promise."""
    delays: int
    """VFs with a promised and measured delay."""
    estimated: bool
    port_drops: float | None = None
    """Receive drops of the port per second, without those of the VFs' own limiters; None where unknown."""
    port_tx_drops: float = 0.0
    drops: float = 0.0
    """Drops of the engine per second: of the port, or those that many VFs count at the same time."""
    tx_backlog_bytes: float | None = None

    @property
    def loss(self) -> float:
        """Dropped fraction of what arrived at the engine."""
        arrived = self.packets + self.drops
        return self.drops / arrived if arrived > 0 else 0.0

    @property
    def dropping(self) -> bool:
        """More drops than the few that are a note."""
        return self.drops > FEW_PER_S or self.loss > FEW_PARTS


@dataclass(slots=True)
class Breakage:
    """A broken interval: who did it to whom, and where."""

    mechanism: Mechanism
    victims: list[VfTrack]
    aggressors: list[VfTrack]
    reasons: dict[str, str] = field(default_factory=dict)
    """VF -> why its promise is broken, or why nothing was owed to it."""


def engine_drops(second: Second, port_drops: float | None, own_drops: float) -> None:
    """Decide how many packets the engine dropped, from the port's counter and those of the VFs.

    Some drivers count the drops of VFs at the port as well, some do not; those of a VF's own limiter are never drops of the engine.

    Parameters
    ----------
    port_drops
        Receive drops of the port per second; None where unknown.
    own_drops
        Drops of the VFs' own limiters per second.
    """
    if port_drops is not None and own_drops > 0:
        with_own = abs(port_drops - own_drops - second.vf_drops)
        without = abs(port_drops - second.vf_drops)
        if with_own < without and with_own <= 0.1 * port_drops:
            port_drops = max(0.0, port_drops - own_drops)
    second.port_drops = port_drops
    second.drops = port_drops or 0.0
    if second.vf_drops > second.drops and _spread(second):
        second.drops = second.vf_drops


def _spread(second: Second) -> bool:
    """Whether at least half of the receiving VFs, and two, lose packets: then the drops are of the shared engine, not of one guest."""
    receiving = losing = 0
    for track in second.tracks:
        if track.rx_packets + track.rx_dropped > 0:
            receiving += 1
            losing += track.loss > FEW_PARTS
    return losing >= 2 and 2 * losing >= receiving
