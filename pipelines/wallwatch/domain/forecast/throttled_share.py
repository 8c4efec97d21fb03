"""Share of the demand that passes overloaded RNICs.

The performance model takes the mean over packets in flight. Those that wait for a congested RNIC are in flight too, but no counter has
them: an RNIC whose deep receivers are congested seems to talk to the others. No counter on a host shows the demand. But a
congested RNIC slows down all that passes it by one factor (paper, section 4.2: shares are proportional), so when it gets worse, the packets
of all senders to this receiver, or of this sender to all its receivers, decrease at once by the same share, while a sender with less
demand decreases alone. So from report to report the weighted median of these changes is the change of the RNIC's share; it begins with 1
when congestion begins and ends with it. What was there before the first report, and that errors add up, is for `throttle_tracker`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.peers import Weights
from wallwatch.domain.forecast.targets import Floats

LEAST_PAIRS = 3
"""A median of fewer pairs is that of one job."""
LEAST_SHARE = 0.25
"""Changes add up, and so do their errors: the demand is assumed to be at most four times the capacity."""

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Congested:
    """Which RNICs have more demand than they let through; bool arrays (rnics,), false where it is unknown."""

    sends: Flags
    receives: Flags

    @classmethod
    def nowhere(cls, rnics: int) -> Congested:
        return cls(np.zeros(rnics, dtype=np.bool_), np.zeros(rnics, dtype=np.bool_))


@dataclass(frozen=True, slots=True)
class ThrottledShares:
    """Share of the demand that each RNIC sends, and receives; arrays (rnics,), 1 if nothing is held back."""

    sends: Floats
    receives: Floats

    @classmethod
    def nothing(cls, rnics: int) -> ThrottledShares:
        return cls(np.ones(rnics), np.ones(rnics))

    def asked(self, by: Weights) -> Floats:
        """Packets/s of each pair that would be sent if nothing were held back: the narrower end decides."""
        return np.asarray(by.packets / np.minimum(self.sends[by.senders], self.receives[by.receivers]))

    def still(self, congested: Congested) -> ThrottledShares:
        """The previous state, where congestion continues. A fleet may have grown meanwhile."""
        return ThrottledShares(_still(self.sends, congested.sends), _still(self.receives, congested.receives))


def _still(share: Floats, congested: Flags) -> Floats:
    grown = np.ones(len(congested))
    grown[: len(share)] = share
    return np.where(congested, grown, 1.0)


def step(held: ThrottledShares, before: Weights, now: Weights, congested: Congested) -> ThrottledShares:
    """What is held back, from two consecutive reports.

    Parameters
    ----------
    held : ThrottledShares
        At the report before.
    before, now : Weights
    congested : Congested
        Now.

    Examples
    --------
    Three senders send a third less to the congested RNIC 3, and as much as before to RNIC 4; one of them has more demand.

    >>> def report(packets):
    ...     senders, receivers = np.array([0, 1, 2, 0, 1, 2]), np.array([3, 3, 3, 4, 4, 4])
    ...     return Weights(senders, receivers, np.array(packets), np.zeros(6), np.full(6, np.nan), np.zeros(5))
    >>> congested = Congested(np.zeros(5, dtype=bool), np.array([False, False, False, True, False]))
    >>> held = step(ThrottledShares.nothing(5), report([30.0, 60, 30, 10, 20, 30]), report([20.0, 40, 25, 10, 20, 30]), congested)
    >>> held.receives.round(2).tolist(), held.asked(report([20.0, 40, 25, 10, 20, 30])).round(1).tolist()
    ([1.0, 1.0, 1.0, 0.67, 1.0], [30.0, 60.0, 37.5, 10.0, 20.0, 30.0])
    """
    n = len(now.elsewhere)
    held = held.still(congested)
    senders, receivers, change, weight = _changes(before, now, congested, n)
    out, into = congested.sends[senders], congested.receives[receivers]
    ends = held.sends[senders], held.receives[receivers]
    return ThrottledShares(
        _moved(held.sends, senders, out, ends[0] <= ends[1], change, weight, congested.sends),
        _moved(held.receives, receivers, into, ends[1] <= ends[0], change, weight, congested.receives),
    )


def _changes(before: Weights, now: Weights, congested: Congested, n: int) -> tuple[Places, Places, Floats, Floats]:
    """Pairs of both reports that pass a congested RNIC: sender, receiver, logarithm of the change, packets/s (geometric mean)."""
    was, is_now = (_of_congested(one, congested, n) for one in (before, now))
    pairs, left, right = np.intersect1d(was[0], is_now[0], assume_unique=True, return_indices=True)
    old, new = was[1][left], is_now[1][right]
    moving = (old > 0.0) & (new > 0.0)
    pairs, old, new = pairs[moving], old[moving], new[moving]
    return pairs // n, pairs % n, np.log(new / old), np.sqrt(old * new)


def _of_congested(by: Weights, congested: Congested, n: int) -> tuple[Places, Floats]:
    passing = congested.sends[by.senders] | congested.receives[by.receivers]
    numbers: Places = by.senders[passing] * n + by.receivers[passing]
    pairs, place = np.unique(numbers, return_inverse=True)
    return pairs, np.asarray(np.bincount(place, weights=by.packets[passing], minlength=len(pairs)), dtype=np.float64)


def _moved(share: Floats, rnic: Places, here: Flags, narrower: Flags, change: Floats, weight: Floats, congested: Flags) -> Floats:
    """The shares of congested RNICs after the change that their pairs have in common."""
    # A pair shows the state of its narrower end. Others count only if there are not enough of those.
    pairs = np.bincount(rnic[here & narrower], minlength=len(share))
    used = here & (narrower | (pairs[rnic] < LEAST_PAIRS))
    rnic, change, weight = rnic[used], change[used], weight[used]
    order = np.lexsort((change, rnic))
    rnic, change, weight = rnic[order], change[order], weight[order]
    rnics, first, count = np.unique(rnic, return_index=True, return_counts=True)
    enough = count >= LEAST_PAIRS
    moved = share.copy()
    if enough.any():
        total = np.cumsum(weight)
        begin = total[first] - weight[first]
        middle = np.searchsorted(total, begin + np.add.reduceat(weight, first) / 2.0)
        median = change[np.minimum(middle, first + count - 1)]
        moved[rnics[enough]] *= np.exp(median[enough])
    return np.where(congested, np.clip(moved, LEAST_SHARE, 1.0), 1.0)
