"""What the counters of ports say over a while: what was sent, and whether more was asked for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wallwatch.domain.catalogue.residual import residual_rule
from wallwatch.domain.forecast.physical_model import without_encapsulation
from wallwatch.domain.forecast.targets import Floats
from wallwatch.domain.forecast.throttled_share import Congested

COUNTERS: Mapping[str, tuple[str, ...]] = {
    "packets": ("port_xmit_packets",),
    "waited": ("port_xmit_wait",),
    "heeded": ("rp_cnp_handled", "cnpHandled"),
    "marked": ("np_ecn_marked_roce_packets", "RxECNMrkd"),
}
"""What is counted, and its names: those of mlx5 are columns of the store, those of irdma are not."""


def congested(rates: Mapping[str, Floats]) -> Congested:
    """Which ports are asked for too much, by the thresholds of rule U/2.

    A sender is, where data waited; where a card does not count that, where it heeded congestion notifications. A receiver is, where the
    packets that reach it were marked, in its own buffer or on the way to it.

    Parameters
    ----------
    rates : mapping of the keys of `COUNTERS` to arrays (rnics,)
        A second; NaN where not known, and below zero where the counter was reset, which says nothing.

    Examples
    --------
    >>> unknown = np.nan
    >>> waited, heeded, marked = np.array([[9000.0, unknown, 0.0, -5.0], [0.0, 50.0, 50.0, 0.0], [0.0, 20.0, unknown, 20.0]])
    >>> found = congested({"waited": waited, "heeded": heeded, "marked": marked})
    >>> found.sends.tolist(), found.receives.tolist()
    ([True, True, False, False], [False, True, False, True])
    """
    rule = residual_rule()
    with np.errstate(invalid="ignore"):
        heeded = np.isnan(rates["waited"]) & (rates["heeded"] >= rule.notified_per_s)
        sends = (rates["waited"] >= rule.waited_ticks_per_s) | heeded
        return Congested(np.asarray(sends), np.asarray(rates["marked"] >= rule.notified_per_s))


def sent_gbps(tx_gbps: Floats, packets_per_s: Floats) -> Floats:
    """What was sent without encapsulation; NaN where not known.

    >>> sent_gbps(np.array([100.0, 100.0, 100.0]), np.array([3e6, np.nan, -1.0])).round(1).tolist()
    [98.8, nan, nan]
    """
    with np.errstate(invalid="ignore"):
        return np.where(packets_per_s >= 0.0, without_encapsulation(tx_gbps, packets_per_s), np.nan)
