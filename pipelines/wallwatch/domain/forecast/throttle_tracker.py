"""Estimates the demand held back by congested RNICs from their throughput.

`throttled_share` follows changes, which do not show what was held back before, and whose errors add up. But a
congested RNIC lets through exactly its capacity (paper, section 4.2), which is known in two ways. By its lookups, with
the packets that wait: equation (1). And by what it sends, with what others hold back of it: of a pair that its receiver
lets through by the share `r`, an RNIC with the share `s > r` would send `s / r` times as much. The same at receivers.
Each congested RNIC so gives one equation of its own share and those of its peers; where these are wrong, its two
capacities differ. A few steps of Gauss-Newton (its diagonal alone, so that 40,000 RNICs take a moment) bring the shares
nearer to all equations, and do not lead far from the changes, unless an RNIC was congested when it was first
seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from wallwatch.domain.forecast.peers import Weights, join
from wallwatch.domain.forecast.physical_model import Parameters, bandwidth_gbps, in_flight
from wallwatch.domain.forecast.targets import Floats
from wallwatch.domain.forecast.throttled_share import LEAST_SHARE, Congested, ThrottledShares, step

OF_SENDERS, OF_RECEIVERS = 0.06, 0.08
"""Assumed errors of the equations: the model's own, a minute's noise, and at receivers the positions of their senders."""
FOLLOWED = 0.05
"""How much a share may differ per minute from the changes."""
UNSEEN = 1.0
"""The same for an RNIC that is seen for the first time; it decreases by `SETTLING` per minute."""
SETTLING = 0.86
UNSEEN_SHARE = 0.75
"""Start of the search for an RNIC that is congested when first seen."""
STEPS, STEP = 20, 0.5
EVEN = 0.05
"""Shares closer than this both count as partly binding, so that a share that does not bind yet can be found to bind."""
ELSEWHERE = 0.05
"""With a larger share of packets to unknown RNICs, as many may come from unknown ones: then receivers have no equation."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RnicMinute:
    """The measurements of one minute; arrays (rnics,), NaN where it is unknown.

    Attributes
    ----------
    parameters : physical.Parameters
    q_l, spread_l, q_ingress, spread_ingress : mean lookups over packets at both chains, and their standard deviations
    sent_gbps : what was sent, without encapsulation
    link_gbps : what the PCIe link carries
    """

    parameters: Parameters
    q_l: Floats
    spread_l: Floats
    q_ingress: Floats
    spread_ingress: Floats
    sent_gbps: Floats
    link_gbps: Floats

    def capacity(self, q_l: Floats, spread_l: Floats, q_r: Floats, spread_r: Floats) -> Floats:
        """Bandwidth by equation (1) for means over packets, Gbit/s."""
        found = bandwidth_gbps(self.parameters, *in_flight(self.parameters, q_l, np.nan_to_num(q_r), spread_l, spread_r))
        return np.asarray(np.fmin(found, self.link_gbps))


@dataclass(frozen=True, slots=True)
class Doubt:
    """How far shares may be from the changes, as standard deviations of their logarithms; arrays (rnics,)."""

    sends: Floats
    receives: Floats

    def a_minute_later(self) -> Doubt:
        """The unknown state before an RNIC was first seen matters less each minute."""
        return Doubt(np.maximum(self.sends * SETTLING, FOLLOWED), np.maximum(self.receives * SETTLING, FOLLOWED))


def still(held: ThrottledShares, doubt: Doubt, congested: Congested) -> tuple[ThrottledShares, Doubt]:
    """The held-back demand where congestion continues, extended for new RNICs.

    An RNIC that is congested within minutes of its first sample may have been so for any time, and may hold back any amount.
    """
    n = len(congested.sends)
    doubt = Doubt(_with_room(doubt.sends, n), _with_room(doubt.receives, n))
    held = held.still(congested)
    return ThrottledShares(
        _begun(held.sends, doubt.sends, congested.sends), _begun(held.receives, doubt.receives, congested.receives)
    ), doubt


class ThrottleTracker:
    """What is held back, followed from minute to minute; the fleet may grow at its end."""

    def __init__(self, by: Weights | None = None) -> None:
        self.held = ThrottledShares.nothing(0)
        self._doubt = Doubt(np.empty(0), np.empty(0))
        self._by = by

    def step(self, by: Weights, congested: Congested, rnics: RnicMinute | None) -> ThrottledShares:
        """Take in one minute: the traffic matrix (the same object until there is a new report), and the measurements."""
        self.held, self._doubt = still(self.held, self._doubt, congested)
        if self._by is not None and by is not self._by:
            self.held = step(self.held, self._by, by, congested)
        self._by = by
        if rnics is not None:
            self.held = settled(self.held, self._doubt, by, congested, rnics)
        self._doubt = self._doubt.a_minute_later()
        return self.held


def _with_room(doubt: Floats, n: int) -> Floats:
    return np.concatenate([doubt, np.full(max(n - len(doubt), 0), UNSEEN)])


def _begun(share: Floats, doubt: Floats, congested: Flags) -> Floats:
    return np.where(congested & (share == 1.0) & (doubt > UNSEEN / 2), UNSEEN_SHARE, share)


def settled(held: ThrottledShares, doubt: Doubt, by: Weights, congested: Congested, rnics: RnicMinute) -> ThrottledShares:
    """Shares at which congested RNICs send and receive at capacity; see the module.

    Examples
    --------
    Receiver 3 lets through a half of its demand, which is unknown. Sender 0 has more demand than capacity, too: it sends
    what its chain lets through to RNIC 4, and by its own capacity it would send more to RNIC 3.

    >>> p = Parameters.of(["CX-6"] * 5)
    >>> nothing, congested = np.zeros(5), Congested(np.arange(5) == 0, np.arange(5) == 3)
    >>> by = Weights(np.array([0, 0]), np.array([3, 4]), np.array([1e6, 3e6]), np.zeros(2), np.full(2, np.nan), nothing)
    >>> sent = np.full(5, float(bandwidth_gbps(p, nothing, nothing)[0]) / 1.25)
    >>> rnics = RnicMinute(p, nothing, nothing, nothing, nothing, sent, np.full(5, np.nan))
    >>> before = ThrottledShares(np.array([0.8, 1, 1, 1, 1]), np.array([1, 1, 1, 0.6, 1]))
    >>> found = settled(before, Doubt(np.full(5, 0.05), np.full(5, 1.0)), by, congested, rnics)
    >>> bool(found.receives[3] < 0.45), found.sends.round(1).tolist()
    (True, [0.8, 1.0, 1.0, 1.0, 1.0])
    """
    passing = congested.sends[by.senders] | congested.receives[by.receivers]
    if not passing.any():
        return held
    n = len(by.elsewhere)
    total = np.bincount(by.senders, weights=by.packets, minlength=n) + by.elsewhere
    with np.errstate(invalid="ignore", divide="ignore"):
        bits = rnics.sent_gbps / total
        usual = np.nanmedian(np.where(total > 0.0, bits, np.nan)) if np.isfinite(bits[total > 0.0]).any() else np.nan
    bits = np.where(np.isfinite(bits), bits, usual)
    outside = by.elsewhere.sum() > ELSEWHERE * total.sum()
    some = Weights(by.senders[passing], by.receivers[passing], by.packets[passing], by.offset[passing], by.spread[passing], by.elsewhere)
    bits = np.nan_to_num(bits)
    equations = _Equations(some, rnics, some.packets * bits[some.senders], by.elsewhere * bits)
    can_send = congested.sends & ~np.isnan(rnics.sent_gbps)
    can_let_in = congested.receives & (not outside)
    sends, receives = np.log(held.sends), np.log(held.receives)
    before = sends, receives
    for _ in range(STEPS):
        by_sender, by_receiver = equations.steps(sends, receives, can_send, can_let_in, before, doubt)
        sends = np.where(congested.sends, np.clip(sends - STEP * by_sender, np.log(LEAST_SHARE), 0.0), 0.0)
        receives = np.where(congested.receives, np.clip(receives - STEP * by_receiver, np.log(LEAST_SHARE), 0.0), 0.0)
    return ThrottledShares(np.exp(sends), np.exp(receives))


@dataclass(frozen=True, slots=True)
class _Equations:
    """The equations of one minute; shares are logarithms."""

    by: Weights
    """Arrays of the pairs that pass a congested RNIC."""
    rnics: RnicMinute
    gbps: Floats
    """Of each pair."""
    elsewhere_gbps: Floats
    """Traffic of each RNIC to unknown RNICs, which are assumed to hold nothing back."""

    def steps(
        self, sends: Floats, receives: Floats, can_send: Flags, can_let_in: Flags, before: tuple[Floats, Floats], doubt: Doubt
    ) -> tuple[Floats, Floats]:
        """A step of Gauss-Newton for the share of each RNIC at either side, by the diagonal of its matrix."""
        i, j, n = self.by.senders, self.by.receivers, len(sends)
        wider = sends[i] - receives[j]
        out, into = self.gbps * np.exp(np.maximum(wider, 0.0)), self.gbps * np.exp(np.maximum(-wider, 0.0))
        sent, let_in = _sums(i, out, n) + self.elsewhere_gbps, _sums(j, into, n)
        could_send, could_let_in = self._capacities(np.minimum(sends[i], receives[j]))
        with np.errstate(invalid="ignore", divide="ignore"):
            too_much, weight = _weighed(np.log(sent / could_send), can_send, OF_SENDERS)
            too_much_in, weight_in = _weighed(np.log(let_in / could_let_in), can_let_in, OF_RECEIVERS)
            # Derivatives of the logarithms by the sender's share and, with the other sign, the receiver's.
            side = expit(wider / EVEN)
            of_sender = np.where(sent[i] > 0.0, side * out / sent[i], 0.0)
            of_receiver = np.where(let_in[j] > 0.0, (1.0 - side) * into / let_in[j], 0.0)
        own, own_in = _sums(i, of_sender, n), _sums(j, of_receiver, n)
        tied, tied_in = 1.0 / doubt.sends**2, 1.0 / doubt.receives**2
        slope = too_much * weight * own - _sums(i, (too_much_in * weight_in)[j] * of_receiver, n) + (sends - before[0]) * tied
        slope_in = too_much_in * weight_in * own_in - _sums(j, (too_much * weight)[i] * of_sender, n) + (receives - before[1]) * tied_in
        bend = weight * own**2 + _sums(i, (weight_in * own_in)[j] * of_receiver, n) + tied
        bend_in = weight_in * own_in**2 + _sums(j, (weight * own)[i] * of_sender, n) + tied_in
        return slope / bend, slope_in / bend_in

    def _capacities(self, narrower: Floats) -> tuple[Floats, Floats]:
        """What each RNIC could send and receive for its lookups, including the waiting packets."""
        rnics, n = self.rnics, len(self.rnics.q_l)
        i, j = self.by.senders, self.by.receivers
        there = join(self.by, rnics.q_ingress, rnics.spread_ingress, self.by.packets / np.exp(narrower))
        sending = rnics.capacity(rnics.q_l, rnics.spread_l, there.mean, there.spread)
        asked = self.gbps / np.exp(narrower)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = _sums(j, asked * rnics.q_l[i], n) / _sums(j, asked, n)
            square = _sums(j, asked * (rnics.q_l**2 + np.nan_to_num(rnics.spread_l) ** 2)[i], n) / _sums(j, asked, n)
            letting_in = rnics.capacity(mean, np.sqrt(np.maximum(square - mean**2, 0.0)), rnics.q_ingress, rnics.spread_ingress)
        return sending, letting_in


def _sums(rnic: npt.NDArray[np.intp], values: Floats, n: int) -> Floats:
    return np.asarray(np.bincount(rnic, weights=values, minlength=n), dtype=np.float64)


def _weighed(error: Floats, there: Flags, usual: float) -> tuple[Floats, Floats]:
    """Errors and weights of equations, 0 if there is none.

    Large errors weigh less: an RNIC that differs from its model has a finding of its own.
    """
    there = there & np.isfinite(error)
    error = np.where(there, error, 0.0)
    return error, np.where(there, 1.0 / (usual**2 * np.sqrt(1.0 + (error / usual) ** 2)), 0.0)
