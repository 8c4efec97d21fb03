"""`Q_r` of many RNICs: the ingress lookups of their peers, weighted by the packets that go to each (paper, section 4.2).

A collector reports the tunnel addresses that an RNIC sends to (`peers`), its own (`tunnel_addresses`), and the lookups of
packets from each address (`tunnel_sources`). An RNIC's mean over all senders is not what one of them meets: who sends through its deep
masks may meet twice as much as the others. So a pair keeps how far it was from the receiver's mean when that was reported, and follows the
mean from there. An address of several RNICs of a host counts alike for each. Where less than a quarter of the packets goes to RNICs that
are known, the own ingress chain is used instead, because a fleet's chains are similar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.targets import Floats

KNOWN_SHARE = 0.25
"""With a smaller share of packets to known peers, their mean is unreliable."""

MOST_OWNERS = 8
"""RNICs that a host has at most: an address claimed by more of them is duplicated in the fleet and ignored."""


@dataclass(frozen=True, slots=True)
class Report:
    """The last report of one RNIC's collector about its peers."""

    peers: str = ""
    """`address=packets/s ...`."""
    further: float = 0.0
    """Packets/s to further addresses."""
    addresses: str = ""
    """Own tunnel addresses."""
    sources: str = ""
    """`address=lookups/spread ...` of the packets that came from each address."""
    q_ingress: float = np.nan
    """Mean ingress lookups in the same sample."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Who sends how much to whom: arrays of length pairs, and packets/s of each RNIC to others."""

    senders: npt.NDArray[np.intp]
    receivers: npt.NDArray[np.intp]
    packets: Floats
    offset: Floats
    """Additional lookups over the receiver's mean; 0 if unknown."""
    spread: Floats
    """Spread of the pair's lookups; NaN if unknown."""
    elsewhere: Floats


def shares(peers: str) -> dict[str, float]:
    """Packets/s by address; malformed entries are skipped.

    >>> shares("192.0.2.8=25 192.0.2.7=10 192.0.2.9= x 192.0.2.6=nan")
    {'192.0.2.8': 25.0, '192.0.2.7': 10.0}
    """
    found: dict[str, float] = {}
    for part in peers.split():
        address, _, packets = part.rpartition("=")
        try:
            number = float(packets)
        except ValueError:
            continue
        if address and 0.0 <= number < np.inf:
            found[address] = number
    return found


def met(sources: str) -> dict[str, tuple[float, float]]:
    """Mean and spread of the lookups of packets from each address; malformed entries are skipped.

    >>> met("192.0.2.7=0/0 192.0.2.9=7/1.7 192.0.2.8=3")
    {'192.0.2.7': (0.0, 0.0), '192.0.2.9': (7.0, 1.7)}
    """
    found: dict[str, tuple[float, float]] = {}
    for part in sources.split():
        address, _, both = part.rpartition("=")
        mean, _, spread = both.partition("/")
        try:
            pair = (float(mean), float(spread))
        except ValueError:
            continue
        if address and all(0.0 <= one < np.inf for one in pair):
            found[address] = pair
    return found


def weights(reports: Mapping[int, Report], rnics: int, owners: Mapping[str, Sequence[int]] | None = None) -> Weights:
    """Weights from the newest report of each RNIC, by its row.

    Parameters
    ----------
    reports : mapping of row to Report
    rnics : int
    owners : mapping of address to rows
        Whose addresses they are; those of the reports unless given.
    """
    known = owners if owners is not None else owners_of(reports)
    seen = {row: met(report.sources) for row, report in reports.items()}
    pairs: list[tuple[int, int]] = []
    numbers: list[tuple[float, float, float]] = []
    elsewhere = np.zeros(rnics)
    for row, report in reports.items():
        elsewhere[row] = report.further
        from_here = report.addresses.split()
        for address, some in shares(report.peers).items():
            own = known.get(address, ())
            if not own:
                elsewhere[row] += some
            for one in own:
                there = seen.get(one, {})
                mean, spread = next((there[a] for a in from_here if a in there), (np.nan, np.nan))
                offset = mean - reports[one].q_ingress if one in reports else np.nan
                pairs.append((row, one))
                numbers.append((some / len(own), 0.0 if np.isnan(offset) else offset, spread))
    rows = np.array(pairs, dtype=np.intp).reshape(len(pairs), 2)
    columns = np.array(numbers, dtype=np.float64).reshape(len(numbers), 3)
    return Weights(rows[:, 0], rows[:, 1], columns[:, 0], columns[:, 1], columns[:, 2], elsewhere)


def owners_of(reports: Mapping[int, Report]) -> dict[str, list[int]]:
    """The rows of the RNICs that receive at each address; without addresses that too many claim."""
    found: dict[str, list[int]] = {}
    for row, report in reports.items():
        for address in report.addresses.split():
            found.setdefault(address, []).append(row)
    return {address: own for address, own in found.items() if len(own) <= MOST_OWNERS}


@dataclass(frozen=True, slots=True)
class Joined:
    """`Q_r`, its spread, and whether it is of peers (otherwise of the own ingress chain); arrays (rnics,)."""

    mean: Floats
    spread: Floats
    of_peers: npt.NDArray[np.bool_]


def join(by: Weights, q_ingress: Floats, spread: Floats, asked: Floats | None = None) -> Joined:
    """Mean and spread of the lookups that each RNIC's packets meet at their receivers.

    Parameters
    ----------
    by : Weights
    q_ingress, spread : arrays (rnics,)
        Mean ingress lookups and their standard deviation; NaN where not measured.
    asked : array (pairs,)
        Packets/s including those held back (`ThrottledShares.asked`), the weights of the means; defaults to those sent.

    Examples
    --------
    >>> pairs = (np.array([0, 0, 1]), np.array([2, 3, 2]), np.array([30.0, 10.0, 5.0]))
    >>> by = Weights(*pairs, np.array([0.0, 0.0, 1.0]), np.full(3, np.nan), np.array([0.0, 20.0, 0.0, 0.0]))
    >>> joined = join(by, np.array([1.0, 1.5, 2.0, 10.0]), np.zeros(4))
    >>> joined.mean.tolist(), joined.spread.round(2).tolist(), joined.of_peers.tolist()
    ([4.0, 1.5, 2.0, 10.0], [3.46, 0.0, 0.0, 0.0], [True, False, False, False])
    """
    n = len(by.elsewhere)
    there = ~np.isnan(q_ingress[by.receivers])
    senders, packets = by.senders[there], by.packets[there]
    queries = np.maximum(q_ingress[by.receivers] + by.offset, 0.0)[there]
    within = np.where(np.isnan(by.spread), spread[by.receivers], by.spread)[there]
    squares = queries**2 + np.nan_to_num(within) ** 2
    known = np.bincount(senders, weights=packets, minlength=n)
    total = np.bincount(by.senders, weights=by.packets, minlength=n) + by.elsewhere
    of_peers = (known > 0.0) & (known >= KNOWN_SHARE * total)
    if asked is not None:
        packets = asked[there]
        known = np.bincount(senders, weights=packets, minlength=n)
    share = np.where(of_peers, known, 1.0)
    mean = np.bincount(senders, weights=packets * queries, minlength=n) / share
    variance = np.bincount(senders, weights=packets * squares, minlength=n) / share - mean**2
    return Joined(np.where(of_peers, mean, q_ingress), np.where(of_peers, np.sqrt(np.maximum(variance, 0.0)), spread), np.asarray(of_peers))
