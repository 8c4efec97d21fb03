"""What the counters of a port say from one sample to the next: what it sent, and whether it was asked for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wallwatch.domain.catalogue.residual import residual_rule
from wallwatch.domain.forecast.physical import without_encapsulation

WAITED = ("port_xmit_wait",)
HEEDED = ("rp_cnp_handled", "cnpHandled")
"""Congestion notifications that it heeded; of cards that do not count how long data waited."""
MARKED = ("np_ecn_marked_roce_packets", "RxECNMrkd")
PAUSED = ("tx_pause_ctrl_phy", "tx_global_pause", "tx_prio3_pause")
"""Pauses that it asked for."""
PACKETS = ("port_xmit_packets",)
COUNTERS = (*WAITED, *HEEDED, *MARKED, *PAUSED, *PACKETS)


@dataclass(frozen=True, slots=True)
class Counted:
    """One port between two samples."""

    sent_gbps: float
    """Without encapsulation; NaN where not known."""
    sends: bool
    """More was asked for than it sent: data waited."""
    receives: bool
    """More came than it lets in, or than the network brings: packets were marked, or it asked for a pause."""


def counted(sent_gbps: float | None, before: Mapping[str, Any], now: Mapping[str, Any], seconds: float) -> Counted:
    """From two samples of a port's counters; one that is absent or went back says nothing.

    Examples
    --------
    >>> before = {"port_xmit_wait": 0, "port_xmit_packets": 0, "np_ecn_marked_roce_packets": 5}
    >>> now = {"port_xmit_wait": 9_000_000, "port_xmit_packets": 180_000_000, "np_ecn_marked_roce_packets": 5}
    >>> counted(100.0, before, now, 60.0)
    Counted(sent_gbps=98.8, sends=True, receives=False)
    """
    rule = residual_rule()
    rates: dict[str, float] = {}
    for name in COUNTERS:
        old, new = before.get(name), now.get(name)
        if old is not None and new is not None and new >= old and seconds > 0.0:
            rates[name] = (float(new) - float(old)) / seconds

    def most(names: tuple[str, ...]) -> float:
        return max((rates[name] for name in names if name in rates), default=0.0)

    sends = most(WAITED) >= rule.waited_ticks_per_s if WAITED[0] in rates else most(HEEDED) >= rule.notified_per_s
    receives = most(MARKED) >= rule.notified_per_s or most(PAUSED) >= rule.paused_per_s
    packets = rates.get(PACKETS[0])
    known = sent_gbps is not None and packets is not None
    sent = float(without_encapsulation(np.array(sent_gbps), np.array(packets))) if known else float("nan")
    return Counted(round(sent, 6), sends, receives)
