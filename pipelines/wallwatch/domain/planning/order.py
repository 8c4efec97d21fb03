"""Which masks to move so that traffic meets its mask early, with few flows re-added.

A recreated mask goes to the end of the chain; none can be inserted before another. So the masks that stay keep their order in front, and
those that are moved follow behind them, by locality score. Moving cold masks out of the way of hot ones costs less than sorting all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from wallwatch.domain.planning.chain import ChainMask
from wallwatch.domain.planning.traffic import Floats

SLACK_SHARE, SLACK_QUERIES = 0.05, 0.1
"""Accepted excess over the best order, in mean lookups, for moving fewer flows: 5%, at least 0.1 lookups."""


MOST_OPTIONS = 48
"""Scores that are tried as the limit between cold and hot; more of them find nothing that is noticed."""


@dataclass(frozen=True)
class Order:
    """The masks by their index: those that stay, then those that are re-added, in this order."""

    stay: tuple[int, ...]
    moved: tuple[int, ...]


def arrange(
    masks: Sequence[ChainMask],
    packets: Sequence[float],
    forced: Collection[int],
    before: Collection[tuple[int, int]],
    heads: Collection[int] = (),
) -> Order:
    """The cheapest order whose mean lookups are near those of the best one.

    Parameters
    ----------
    masks : sequence of ChainMask
        The masks in the order of the chain.
    packets : sequence of float
        Packets of the last minute that still meet each mask (those of exact entries do not).
    forced : collection of int
        Masks that have to be re-added whatever their traffic is.
    before : collection of (int, int)
        Pairs of which the first must stay ahead of the second: their flows overlap and have other actions.
    heads : collection of int
        Hyper masks: they never move.
    """
    traffic = np.asarray(packets, dtype=np.float64)
    scores = np.array([load * one.length_bits for load, one in zip(packets, masks, strict=True)])
    sizes = np.array([len(one.rows) for one in masks])
    limits = (0.0, *np.unique(scores[scores > 0]))
    limits = limits[:: -(-len(limits) // MOST_OPTIONS)] if len(forced) + len(heads) < len(masks) else limits[:1]
    scores[list(heads)] = np.inf
    while any(scores[first] < scores[second] for first, second in before):  # a mask that must precede a hot mask is as hot
        for first, second in before:
            scores[first] = max(scores[first], scores[second])
    options = [_option(scores, frozenset(forced), limit, before, every) for limit in limits for every in (False, True)]
    costs = [float(traffic[[*one.stay, *one.moved]] @ np.arange(len(masks))) for one in options]
    total = float(traffic.sum()) or 1.0
    best = min(costs, default=0.0)
    slack = max(SLACK_SHARE * best, SLACK_QUERIES * total)
    fitting = [
        (int(sizes[list(one.moved)].sum()), cost, at)
        for at, (one, cost) in enumerate(zip(options, costs, strict=True))
        if cost <= best + (slack if one.moved else 2 * slack)  # a well-placed mask is not moved for a small gain
    ]
    return options[min(fitting)[2]]


def _option(scores: Floats, forced: frozenset[int], limit: float, before: Collection[tuple[int, int]], every: bool) -> Order:
    """Masks below a score are moved where one above it would stand behind them, or all of them (`every`): those at the end of the chain
    stand ahead of what is moved. With them whatever has to stay behind them."""
    moved = np.zeros(len(scores), dtype=bool)
    moved[list(forced)] = True
    hot = scores >= limit
    staying = np.flatnonzero(hot & ~moved)
    # A hot mask that is moved will stand behind all that stay.
    last = len(scores) if every or (hot & moved).any() else int(staying[-1]) if len(staying) else 0
    moved[:last] |= ~hot[:last]
    while any(moved[first] and not moved[second] for first, second in before):
        for first, second in before:
            moved[second] |= moved[first]
    rows = np.flatnonzero(moved)
    ranked = rows[np.argsort(-scores[rows], kind="stable")].tolist()
    return Order(tuple(np.flatnonzero(~moved).tolist()), _allowed(ranked, before))


def _allowed(ranked: list[int], before: Collection[tuple[int, int]]) -> tuple[int, ...]:
    """The masks in this order as far as the pairs allow."""
    moved = set(ranked)
    waiting = {second: {first for first, other in before if other == second and first in moved} for _, second in before}
    if not any(waiting.values()):
        return tuple(ranked)
    placed: list[int] = []
    while ranked:
        following = next(at for at in ranked if waiting.get(at, set()) <= set(placed))
        ranked.remove(following)
        placed.append(following)
    return tuple(placed)
