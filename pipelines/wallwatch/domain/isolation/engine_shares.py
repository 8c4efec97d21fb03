"""Weighted max-min shares of an engine in floating point, for every second of every RNIC; the exact ones are in `shares`."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def water_level(capacity: float, demands: Sequence[float], weights: Sequence[float]) -> float:
    """Level L so that the weighted max-min shares are `min(demand, L * weight)`; infinite when all demands fit.

    Water-filling (PicNIC, section 5.3.1): what the VFs below the level leave is shared again by weight.

    Parameters
    ----------
    capacity
        Capacity of the engine, in the unit of `demands`.
    demands, weights
        One value per VF; weights are larger than 0.

    >>> water_level(10.0, [1.0, 20.0, 4.0], [1.0, 1.0, 1.0])
    5.0
    """
    if sum(demands) <= capacity:
        return inf
    left = max(capacity, 0.0)
    weight_left = sum(weights)
    for ratio, demand, weight in sorted((demand / weight, demand, weight) for demand, weight in zip(demands, weights, strict=True)):
        level = left / weight_left
        if ratio > level:
            return level
        left -= demand
        weight_left -= weight
    return inf  # rounding only: the demands fit after all


def smallest_set(excesses: Sequence[float], overload: float, rest: float) -> list[int]:
    """Positions of the fewest VFs whose excess adds up to the overload, largest first.

    The largest excesses end the overload with the fewest VFs: no other set of that size removes more.

    Parameters
    ----------
    excesses
        Demand above the fair share, one per VF; at most 0 for those that stay below.
    overload
        Demand of all above the capacity.
    rest
        Overload that may remain: the error of the measurement.

    >>> smallest_set([0.0, 0.3, 0.01, 0.5], 0.81, 0.02)
    [3, 1]
    """
    chosen: list[int] = []
    remaining = overload
    for position in sorted(range(len(excesses)), key=excesses.__getitem__, reverse=True):
        if excesses[position] <= 0.0 or (chosen and remaining <= rest):
            break
        chosen.append(position)
        remaining -= excesses[position]
    return chosen
