"""How many packets each flow had in the last minute, and how local a mask's traffic is (paper, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.masks.dump import Flow

WINDOW_S = 60.0
"""`PM` counts the packets of the past 60 seconds."""
IDLE_S = 600.0
"""A cascading mask without packets for ten minutes is removed."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Traffic:
    """Packets of each flow in the last minute, with how they were estimated."""

    packets: Floats
    idle_s: Floats
    """How long ago each flow was used last; infinite for one that was never used."""
    basis: str


def recent(flows: Sequence[Flow], earlier: Sequence[Flow] = (), elapsed_s: float = 0.0) -> Traffic:
    """The packets of the last minute: the difference to an earlier dump, or, without one, what can be told from one dump alone.

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
        basis = "counters of flows that were used in the last minute; an earlier dump (--earlier) would tell the rate"
        return Traffic(np.where(idle <= WINDOW_S, packets, 0.0), idle, basis)
    known = {flow.ufid or flow.match: flow.packets for flow in earlier}
    before = np.array([known.get(flow.ufid or flow.match, 0) for flow in flows], dtype=np.float64)
    grown = np.where(packets >= before, packets - before, packets)  # a counter that fell began anew
    return Traffic(grown * (WINDOW_S / elapsed_s), idle, f"difference of two dumps, {elapsed_s:g} s apart, scaled to one minute")


def locality(packets: float, length_bits: int) -> float:
    """The locality score `LS = PM * LM`: packets of the last minute times the mask's length in bits (paper, section 4.3).

    >>> locality(1000, 72)
    72000
    """
    return packets * length_bits
