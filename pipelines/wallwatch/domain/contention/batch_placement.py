"""Placement of a whole batch of network functions on the fewest cards, with a proven lower bound.

How often is each feasible combination of residents used? This is an integer program over combinations, as in cutting stock: no search over
single functions is needed, because functions of one kind are interchangeable. Combinations are many, so only those that the program would
use are given to it (column generation: Gilmore and Gomory, A linear programming approach to the cutting-stock problem, 1961).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array, csc_array
from scipy.special import ndtr

from wallwatch.domain.contention.placement import Feasibility, Kind, Placed, check_cores, in_order, place

MOST_TRIED = 400_000
"""Combinations that are predicted with each number of residents. Of more, some are drawn, and nothing is proven of the rest."""
_DRAWN = 100_000
_GAP = 0.003
"""The integer program ends when its assignment is proven to be this close to the best of its combinations (1 card of 300)."""
_ADDED = 300
"""Combinations that a round of column generation adds."""
_MOST_ROUNDS = 60
_IMPROVES = 1e-7
_NEGLIGIBLE = 1e-6
"""Expected violations of a card below which it counts as certain: chances of 1e-50 next to 1 leave the solver without a solution."""

Places = npt.NDArray[np.int64]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Combinations:
    """Feasible combinations as places in the list of kinds, -1 where a card has fewer residents; and their expected violations."""

    places: Places
    expected: Array
    complete: bool


def fewest_cards(arrivals: Sequence[Kind], feasible: Feasibility, seconds: float = 60.0, risk: float = 1.0) -> tuple[Placed, int | None]:
    """The best assignment of a whole batch, and a proven lower bound of the number of cards.

    Where there are too many combinations to try, the bound is None. Where predictions have errors, the
    expected share of functions that lose more than their SLA allows is at most `risk`: cards whose residents are close to their limits are
    used where they save most.
    """
    wanted = Counter(arrivals)
    kinds = in_order(wanted)
    if not kinds:
        return Placed((), ()), 0
    check_cores(kinds, feasible.cores)
    combinations = _feasible(kinds, feasible)
    if combinations.complete and feasible.certain(kinds):
        feasible.know(kinds, ([kinds[at] for at in row if at >= 0] for row in combinations.places))
    counts = np.array([wanted[kind] for kind in kinds], dtype=float)
    chosen, value = _relaxed(combinations, counts, risk * len(arrivals))
    bound = int(np.ceil(value - 1e-6)) if combinations.complete else None
    times = _whole(combinations, chosen, counts, risk * len(arrivals), seconds)
    if times is None:
        return place(arrivals, feasible), bound
    certain = feasible.certain(kinds)
    left = Counter(wanted)
    loose: list[Kind] = []
    cards: list[tuple[Kind, ...]] = []
    for at, count in zip(chosen, times, strict=True):
        for _ in range(count):
            # More than wanted may be covered: leave it out.
            taken = in_order((Counter(kinds[place] for place in combinations.places[at] if place >= 0) & left).elements())
            left -= Counter(taken)
            part = len(taken) < int((combinations.places[at] >= 0).sum())
            if certain and part and not feasible.keeps_as_predicted(taken):  # a learnt model may predict more loss for fewer residents
                loose += taken
            elif taken:
                cards.append(taken)
    for kind in loose:
        at = next((at for at, residents in enumerate(cards) if feasible.keeps_as_predicted((*residents, kind))), None)
        if at is None:
            cards.append((kind,))
        else:
            cards[at] = in_order((*cards[at], kind))
    if certain and len((online := place(arrivals, feasible)).cards) <= len(cards):
        return online, bound
    return Placed(tuple(cards), _assigned(arrivals, cards)), bound


def _feasible(kinds: Sequence[Kind], feasible: Feasibility) -> _Combinations:
    """All feasible combinations, or those among the ones that were drawn.

    One more resident never helps the others, so a combination can be feasible only where it is without its last.
    """
    cores = np.array([kind.cores for kind in kinds])
    limits, errors = np.array([kind.most_drop for kind in kinds]), np.array([kind.error for kind in kinds])
    last = np.flatnonzero(cores <= feasible.cores).reshape(-1, 1)
    levels, expected = [last], [np.zeros(len(last))]  # alone on a card, what is left is the function's own solo throughput
    random, complete = np.random.default_rng(len(kinds)), True
    while True:
        last = last[cores[last].sum(axis=1) + cores.min() <= feasible.cores]
        if not len(last):
            break
        longer = _longer(last, len(kinds))
        if longer is None:
            complete = False
            drawn = last[random.integers(0, len(last), _DRAWN)]
            longer = np.unique(np.sort(np.column_stack([drawn, random.integers(0, len(kinds), _DRAWN)]), axis=1), axis=0)
        longer = longer[cores[longer].sum(axis=1) <= feasible.cores]
        drops = _drops(kinds, longer, feasible)
        kept = (drops + feasible.margin <= limits[longer]).all(axis=1)
        last, drops = longer[kept], drops[kept]
        levels.append(last)
        if feasible.chances is not None and len(last):
            expected.append(feasible.chances(kinds, last).sum(axis=1))
            continue
        certain = errors[last] <= 0
        chances = ndtr((drops - limits[last]) / np.where(certain, 1.0, errors[last]))
        expected.append(np.where(certain, 0.0, chances).sum(axis=1))
    width = max(level.shape[1] for level in levels)
    padded = [np.pad(level, ((0, 0), (0, width - level.shape[1])), constant_values=-1) for level in levels]
    violations = np.concatenate(expected)
    return _Combinations(np.vstack(padded), np.where(violations < _NEGLIGIBLE, 0.0, violations), complete)


def _longer(last: Places, size: int) -> Places | None:
    """Each with every kind that does not come before its last, so that each set of residents comes once; None beyond `MOST_TRIED`."""
    more = size - last[:, -1]
    if more.sum() > MOST_TRIED:
        return None
    added = np.concatenate([np.arange(first, size) for first in last[:, -1]])
    return np.column_stack([np.repeat(last, more, axis=0), added])


def _drops(kinds: Sequence[Kind], combinations: Places, feasible: Feasibility) -> Array:
    if not len(combinations):
        return np.zeros(combinations.shape)
    if feasible.many is not None:
        return feasible.many(kinds, combinations)
    return np.array([list(feasible.drops(tuple(kinds[at] for at in combination))) for combination in combinations])


def _matrix(combinations: _Combinations, chosen: Places, size: int) -> csc_array:
    """Residents of each kind in each combination, and in the last row expected violations; shape (kinds + 1, chosen)."""
    places = combinations.places[chosen]
    column, slot = np.nonzero(places >= 0)
    rows = np.concatenate([places[column, slot], np.full(len(chosen), size)])
    columns = np.concatenate([column, np.arange(len(chosen))])
    values = np.concatenate([np.ones(len(column)), combinations.expected[chosen]])
    return csc_array(coo_array((values, (rows, columns)), shape=(size + 1, len(chosen))))


def _relaxed(combinations: _Combinations, counts: Array, budget: float) -> tuple[Places, float]:
    """Column generation for the relaxed program: the combinations it was given, and its value, which no assignment undercuts."""
    size = len(counts)
    chosen = np.arange(size)  # each function alone on its card
    value = float(counts.sum())
    for _ in range(_MOST_ROUNDS):
        matrix = _matrix(combinations, chosen, size)
        found = linprog(
            np.ones(len(chosen)),
            A_ub=csc_array(matrix.multiply(np.append(-np.ones(size), 1.0)[:, None])),
            b_ub=np.append(-counts, budget),
            method="highs",
        )
        worth = np.append(-found.ineqlin.marginals[:size], 0.0)  # the last for places without a resident
        price = -found.ineqlin.marginals[size]
        saved = worth[combinations.places].sum(axis=1) - price * combinations.expected - 1.0
        saved[chosen] = -np.inf
        value = float(found.fun)
        best = np.argsort(-saved)[:_ADDED]
        best = best[saved[best] > _IMPROVES]
        if not len(best):
            return chosen, value
        # Also unfinished, the duals scaled to be feasible give a bound (Farley's).
        value = float((counts @ worth[:size] - price * budget) / (1.0 + max(float(saved[best[0]]), 0.0)))
        chosen = np.concatenate([chosen, best])
    return chosen, value


def _whole(combinations: _Combinations, chosen: Places, counts: Array, budget: float, seconds: float) -> npt.NDArray[np.int64] | None:
    """How often each of the chosen combinations is used, in whole numbers; None where that is not found in time."""
    found = milp(
        np.ones(len(chosen)),
        integrality=np.ones(len(chosen)),
        bounds=Bounds(0, np.inf),
        constraints=LinearConstraint(
            _matrix(combinations, chosen, len(counts)), np.append(counts, -np.inf), np.append(np.full(len(counts), np.inf), budget)
        ),
        options={"time_limit": seconds, "mip_rel_gap": _GAP},
    )
    return None if found.x is None else np.rint(found.x).astype(np.int64)


def _assigned(arrivals: Sequence[Kind], cards: Sequence[Sequence[Kind]]) -> tuple[int | None, ...]:
    places: dict[Kind, list[int]] = {}
    for at, residents in enumerate(cards):
        for kind in residents:
            places.setdefault(kind, []).append(at)
    return tuple(places[kind].pop(0) for kind in arrivals)
