"""Port load from counters over a time span: how much was sent, and which ports were congested."""

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
"""Quantity -> counter names: those of mlx5 are columns of the store, those of irdma are not."""


def congested(rates: Mapping[str, Floats]) -> Congested:
    """Which ports are congested, by the thresholds of rule U/2.

    A sender is congested where data waited or, if the RNIC does not count that, where it reacted to congestion notifications. A receiver is
    congested where the packets that reach it were marked, in its own buffer or on the way.

    Parameters
    ----------
    rates : mapping of the keys of `COUNTERS` to arrays (rnics,)
        Per second; NaN where unknown. Values below zero (the counter was reset) are ignored.

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
    """Sent bandwidth without encapsulation; NaN where unknown.

    >>> sent_gbps(np.array([100.0, 100.0, 100.0]), np.array([3e6, np.nan, -1.0])).round(1).tolist()
    [98.8, nan, nan]
    """
    with np.errstate(invalid="ignore"):
        return np.where(packets_per_s >= 0.0, without_encapsulation(tx_gbps, packets_per_s), np.nan)
