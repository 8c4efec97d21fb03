"""How many packets each flow had in the last minute, and how local a mask's traffic is (paper, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.masks.dump import Flow

SOON_S, LATER_S = 60.0, 180.0
"""How long after the dump a plan's effect is expected, and how long at the latest it still is: a plan is judged for three minutes."""
WINDOW_S = 60.0
"""`PM` counts the packets of the past 60 seconds."""
IDLE_S = 600.0
"""A cascading mask without packets for ten minutes is removed."""
RESTS_S = 5.0
"""A flow used within this time continues. Open vSwitch deletes an entry that is idle for 10 s (`max-idle`), and counters of
the RNIC are read once per second; a flow that was idle for half of this is in doubt, and an entry for it may be useless."""

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Traffic:
    """Packets of each flow in the last minute, with how they were estimated."""

    packets: Floats
    idle_s: Floats
    """How long ago each flow was used last; infinite for one that was never used."""
    basis: str
    lasting: Bools
    """Flows that continue: those in the earlier dump that still have packets. An idle or new one
    may lose an exact entry before it has used it. Of one dump alone nothing is known, so all flows with packets count."""
    newcomers_per_s: float
    """Share of the packets that moves to new flows per second; 0 where only one dump is known."""

    def staying(self, seconds: float) -> float:
        """Share of the packets of flows that last which is still theirs after a time; the rest has moved to other flows."""
        return float(np.exp(-self.newcomers_per_s * seconds))


def recent(flows: Sequence[Flow], earlier: Sequence[Flow] = (), elapsed_s: float = 0.0) -> Traffic:
    """The packets of the last minute: the difference to an earlier dump, or, without one, an estimate from one dump alone.

    Of one dump the counters of flows that were used within the last minute are taken whole: the share of each flow is right when flows are
    of one age, and too high for old ones.

    Parameters
    ----------
    earlier : sequence of Flow
        An earlier dump of the same switch, `elapsed_s` before.
    """
    packets = np.array([flow.packets for flow in flows], dtype=np.float64)
    idle = np.array([np.inf if flow.used_s is None else flow.used_s for flow in flows], dtype=np.float64)
    if not earlier or elapsed_s <= 0.0:
        basis = "counters of flows used in the last minute; an earlier dump (--earlier) would give the rate"
        live = np.where(idle <= WINDOW_S, packets, 0.0)
        return Traffic(live, idle, basis, live > 0, 0.0)
    known = {flow.ufid or flow.match: flow.packets for flow in earlier}
    before = np.array([known.get(flow.ufid or flow.match, -1) for flow in flows], dtype=np.float64)
    old, before = before >= 0, np.maximum(before, 0.0)
    grown = np.where(packets >= before, packets - before, packets)  # a lower counter was reset
    basis = f"difference of two dumps, {elapsed_s:g} s apart, scaled to one minute"
    going_on = (grown > 0) & (idle <= RESTS_S)
    # New flows that continue were present for half of the time on average.
    came = 2.0 * float(grown[going_on & ~old].sum()) / (float(grown.sum()) or 1.0) / elapsed_s
    return Traffic(grown * (WINDOW_S / elapsed_s), idle, basis, going_on & old, came)


def locality(packets: float, length_bits: int) -> float:
    """The locality score `LS = PM * LM`: packets of the last minute times the mask's length in bits (paper, section 4.3).

    >>> locality(1000, 72)
    72000
    """
    return packets * length_bits
