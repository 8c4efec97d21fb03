"""The performance model of an RNIC (paper, section 4.2 and Table 3).

`Q_l` is the mean number of mask lookups of packets in the local egress chain, `Q_r` in the remote ingress chain; the head mask is 0.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.performance.remembered import surface_of


def bandwidth_gbps(p: Performance, q_l: float, q_r: float) -> float:
    """Predicted bandwidth of `send` and `write`, in Gbit/s.

    `u * exp(-((Q_l - m)^2 + (Q_r - n)^2) / (2 v^2)) + w`. The exponent printed in the paper lacks the bracket around the sum; the
    surface is rotationally symmetric, as its text states.

    Parameters
    ----------
    p : Performance
        Table 3's parameters.
    q_l, q_r : float
        Mean mask lookups, >= 0.

    Examples
    --------
    >>> from wallwatch.domain.catalogue.load import profiles
    >>> {name: round(bandwidth_gbps(x.performance, 0, 0), 1) for name, x in profiles().items() if x.performance_basis == "paper"}
    {'CX-4': 38.0, 'CX-5': 78.8, 'CX-6': 158.2, 'CX-7': 352.5, 'BF-3': 354.4, 'E810': 170.1}
    """
    return surface_of(p).bandwidth_gbps(q_l, q_r)


def bandwidths_gbps(p: Performance, q_l: npt.ArrayLike, q_r: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """`bandwidth_gbps` for arrays of the same shape (or shapes that broadcast); NaN where an input is NaN."""
    left, right = np.asarray(q_l, dtype=np.float64), np.asarray(q_r, dtype=np.float64)
    return np.asarray(p.u * np.exp(-((left - p.m) ** 2 + (right - p.n) ** 2) / (2.0 * p.v**2)) + p.w, dtype=np.float64)


def latency_us(p: Performance, q_l: float, q_r: float) -> float:
    """Predicted latency in microseconds: `a Q_l + b Q_r + c`.

    >>> from wallwatch.domain.catalogue.load import profiles
    >>> round(latency_us(profiles()["CX-6"].performance, 10, 10), 2)
    3.84
    """
    return surface_of(p).latency_us(q_l, q_r)


def bandwidth_share(p: Performance, q_l: float, q_r: float) -> float:
    """Predicted bandwidth divided by that of the head of both chains; 1 at `Q_l = Q_r = 0`."""
    surface = surface_of(p)
    return surface.bandwidth_gbps(q_l, q_r) / surface.head_gbps


def masks_at_bandwidth_loss(p: Performance, loss_share: float, direction: Literal["egress", "ingress"] | str) -> int:
    """Masks of one direction at which evenly spread traffic loses `loss_share` of the head's bandwidth.

    With n masks used evenly the mean is `Q = (n - 1) / 2`; the other direction stays at its head. The equation is solved for Q and the
    number rounded down, so at the limit the loss has not been exceeded.

    Raises
    ------
    ValueError
        When the loss can never be reached because the model's floor `w` is higher.

    Examples
    --------
    >>> from wallwatch.domain.catalogue.load import profiles
    >>> masks_at_bandwidth_loss(profiles()["CX-6"].performance, 0.3, "egress")
    43
    """
    target = (1.0 - loss_share) * bandwidth_gbps(p, 0.0, 0.0) - p.w
    if not 0.0 < loss_share < 1.0 or target <= 0.0:
        raise ValueError(f"a decline of {loss_share:.0%} is never reached: the model's floor is {p.w} Gbit/s")
    radius_squared = -2.0 * p.v**2 * math.log(target / p.u)
    own, other = (p.m, p.n) if direction == "egress" else (p.n, p.m)
    q = own + math.sqrt(radius_squared - other**2)
    return math.floor(2.0 * q) + 1
