"""What makes the difference between a configuration that passes and one that fails, found by halving the way between them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wallwatch.domain.lab.device import Config, Device, Scalar, is_same

FEW_POSITIONS = 64
"""Between positions that are no further apart, each is tried until one can be used."""
Decide = Callable[[Config], bool | None]
"""True: bad; False: good; None: cannot be used (not valid, hidden, or due to a cause that is known)."""


@dataclass(frozen=True)
class Step:
    """Two configurations that differ in `names` only, one bad and one good. `names` has several where nothing between them can be used."""

    bad: Config
    good: Config
    names: tuple[str, ...]


def difference(device: Device, a: Config, b: Config) -> list[str]:
    return [one.name for one in device.parameters if not is_same(a[one.name], b[one.name])]


def step_between(device: Device, start: Config, end: Config, start_is_bad: bool, decide: Decide, rng: random.Random) -> Step:
    """Walk from one configuration to the other, parameter by parameter in random order, and find where the verdict changes.

    `start` and `end` have different verdicts. Costs about log2 of the number of parameters that differ. Parameters of the topology come
    together, first or last: mixed with others, few of the configurations between would be valid.
    """
    names = difference(device, start, end)
    rng.shuffle(names)
    chained = {name for edge in device.topology.edges for name in edge.when} if device.topology else set()
    if chained:
        chained_first = rng.random() < 0.5
        names.sort(key=lambda name: (name in chained) != chained_first)

    def at(position: int) -> Config:
        return {**start, **{name: end[name] for name in names[:position]}}

    low, high = change_between(0, len(names), lambda position: decide(at(position)), start_is_bad)
    before, after = at(low), at(high)
    bad, good = (before, after) if start_is_bad else (after, before)
    return Step(bad, good, tuple(names[low:high]))


def change_between(low: int, high: int, verdict: Callable[[int], bool | None], low_is_bad: bool) -> tuple[int, int]:
    """Neighbouring usable positions between which the verdict changes, by halving."""
    while high - low > 1:
        found = False
        for position in _from_the_middle(low, high):
            is_bad = verdict(position)
            if is_bad is None:
                continue
            found = True
            if is_bad == low_is_bad:
                low = position
            else:
                high = position
            break
        if not found:
            break
    return low, high


def _from_the_middle(low: int, high: int) -> Sequence[int]:
    """Positions between two, the middle first: all of a few, of many some at growing distances, since each costs a test."""
    middle = (low + high) // 2
    if high - low > FEW_POSITIONS:
        away = [2**i for i in range((high - low).bit_length()) if 2**i < (high - low) // 2]
        return [middle, *(middle + one * side for one in away for side in (-1, 1))]
    return sorted(range(low + 1, high), key=lambda position: (abs(position - middle), position))


def swaps(start: Sequence[Scalar], end: Sequence[Scalar]) -> list[tuple[Scalar, Scalar]]:
    """Swaps of neighbours that lead from one order to another; each pair (a, b) stood as a, b and stands as b, a from then on."""
    rank = {one: i for i, one in enumerate(end)}
    order, found = list(start), []
    for last in range(len(order) - 1, 0, -1):
        for i in range(last):
            if rank[order[i]] > rank[order[i + 1]]:
                found.append((order[i], order[i + 1]))
                order[i], order[i + 1] = order[i + 1], order[i]
    return found


def after_swaps(start: Sequence[Scalar], done: Sequence[tuple[Scalar, Scalar]]) -> tuple[Scalar, ...]:
    order = list(start)
    for first, second in done:
        i = order.index(first)
        order[i], order[i + 1] = second, first  # they stand next to each other: see swaps
    return tuple(order)


def minimal_failure(device: Device, passing: Config, failing: Config, decide: Decide, rng: random.Random) -> tuple[Config, list[str]]:
    """Change as few parameters of a passing configuration as possible to what they are in a failing one so that it fails.

    Returns
    -------
    (config, names)
        the failing configuration that differs from `passing` in `names` only
    """
    kept: list[str] = []
    bundled = False
    base = passing
    while True:
        step = step_between(device, base, failing, False, decide, rng)
        kept += step.names
        bundled = bundled or len(step.names) > 1
        failing = step.bad
        base = {**passing, **{name: failing[name] for name in kept}}
        if not difference(device, base, failing) or decide(base):
            break
    return _without_the_needless(passing, base, kept, decide) if bundled else (base, kept)


def _without_the_needless(passing: Config, failing: Config, names: list[str], decide: Decide) -> tuple[Config, list[str]]:
    """Parameters that came in a bundle, because nothing between could be used, may not all be needed."""
    for name in list(names):
        if len(names) == 1:
            break
        candidate = {**failing, name: passing[name]}
        if decide(candidate):
            failing = candidate
            names = [one for one in names if one != name]
    return failing, names
