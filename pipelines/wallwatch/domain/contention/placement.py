"""Placement of network functions on cards so that every function keeps what it was promised (Yala, section 7.5.1).

A function may lose at most a share of its solo throughput (its SLA). A card takes a function when the prediction keeps the SLA of **all**
its residents. Predictions come from outside: this module does not know how they are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array


@dataclass(frozen=True, slots=True)
class Kind:
    """A function with its traffic and SLA; arrivals of the same kind are interchangeable."""

    name: str
    cores: int
    most_drop: float
    """Share of its solo throughput that it may lose, 0 to 1."""


Drops = Callable[[tuple[Kind, ...]], Sequence[float]]
"""Predicted drop of every resident, as shares of the solo throughput, in the order given (sorted by name)."""


class Policy(StrEnum):
    """How a card is chosen."""

    FULLEST = "fullest"
    """Of the cards that keep all SLAs, the fullest; a new card when there is none."""
    MONOPOLISE = "monopolise"
    """A card for each function."""
    GREEDY = "greedy"
    """The card with most free cores, whatever the contention."""


@dataclass
class Feasibility:
    """Whether residents keep their SLAs; each combination is predicted once."""

    drops: Drops
    cores: int
    margin: float = 0.0
    """Predicted drops must stay this much (a share of the solo throughput) below the SLA."""
    _known: dict[tuple[Kind, ...], bool] = field(default_factory=dict)

    def keeps(self, residents: Iterable[Kind]) -> bool:
        """Whether the residents fit and none of them breaks its SLA."""
        key = in_order(residents)
        if key not in self._known:
            fits = sum(kind.cores for kind in key) <= self.cores
            self._known[key] = fits and (len(key) < 2 or not violations(key, self.drops, self.margin))
        return self._known[key]


@dataclass(frozen=True, slots=True)
class Placed:
    """`cards[i]` are the residents of card i; `assignment[j]` is the card of arrival j, None where `most_cards` were full."""

    cards: tuple[tuple[Kind, ...], ...]
    assignment: tuple[int | None, ...]


def in_order(residents: Iterable[Kind]) -> tuple[Kind, ...]:
    """Residents as a key: their order on the card does not matter."""
    return tuple(sorted(residents, key=lambda kind: (kind.name, kind.cores, kind.most_drop)))


def violations(residents: Sequence[Kind], drops: Drops, margin: float = 0.0) -> int:
    """How many residents lose more than their SLA allows."""
    key = in_order(residents)
    if len(key) < 2:
        return 0  # alone on a card: what is left is the function's own solo throughput
    return sum(drop + margin > kind.most_drop for kind, drop in zip(key, drops(key), strict=True))


def place(arrivals: Sequence[Kind], feasible: Feasibility, policy: Policy = Policy.FULLEST, most_cards: int | None = None) -> Placed:
    """Place arrivals one after the other; nothing moves later.

    Cards with the same residents are interchangeable, so a choice looks at each combination once: 500 arrivals take milliseconds.
    """
    cards: list[tuple[Kind, ...]] = []
    alike: dict[tuple[Kind, ...], list[int]] = {}
    assignment: list[int | None] = []
    for kind in arrivals:
        if kind.cores > feasible.cores:
            raise ValueError(f"{kind.name} needs {kind.cores} cores, and a card has {feasible.cores}")
        at = _chosen(kind, alike, feasible, policy)
        if at is None:
            if most_cards is not None and len(cards) >= most_cards:
                assignment.append(None)
                continue
            at = len(cards)
            cards.append(())
        else:
            same = alike[cards[at]]
            same.remove(at)
            if not same:
                del alike[cards[at]]
        cards[at] = in_order((*cards[at], kind))
        alike.setdefault(cards[at], []).append(at)
        assignment.append(at)
    return Placed(tuple(cards), tuple(assignment))


def _chosen(kind: Kind, alike: dict[tuple[Kind, ...], list[int]], feasible: Feasibility, policy: Policy) -> int | None:
    if policy is Policy.MONOPOLISE:
        return None

    def used(residents: tuple[Kind, ...]) -> int:
        return sum(resident.cores for resident in residents)

    if policy is Policy.GREEDY:
        fitting = [residents for residents in alike if used(residents) + kind.cores <= feasible.cores]
        best = min(fitting, key=lambda residents: (used(residents), alike[residents][0]), default=None)
    else:
        fitting = [residents for residents in alike if feasible.keeps((*residents, kind))]
        best = min(fitting, key=lambda residents: (-used(residents), alike[residents][0]), default=None)
    return None if best is None else alike[best][0]


MOST_COMBINATIONS = 20_000
"""Of residents, in the integer program: beyond, arrivals are placed one after the other."""


def fewest_cards(arrivals: Sequence[Kind], feasible: Feasibility, seconds: float = 60.0) -> tuple[Placed, int | None]:
    """The best assignment of a whole batch, and a proven lower bound of the number of cards.

    Where the program is too large, or no solution is found in time, the assignment is that of `place`, and the bound may be None.

    Chooses how often each feasible combination of residents is used (an integer program over combinations, as in cutting stock): no
    search over single functions is needed, because functions of one kind are interchangeable.
    """
    wanted = Counter(arrivals)
    kinds = in_order(wanted)
    if not kinds:
        return Placed((), ()), 0
    online = place(arrivals, feasible)
    patterns = _patterns(kinds, feasible)
    if patterns is None:
        return online, None
    matrix = lil_array((len(kinds), len(patterns)))
    for column, pattern in enumerate(patterns):
        for kind, count in Counter(pattern).items():
            matrix[kinds.index(kind), column] = count
    found = milp(
        np.ones(len(patterns)),
        integrality=np.ones(len(patterns)),
        bounds=Bounds(0, np.inf),
        constraints=LinearConstraint(matrix.tocsc(), [wanted[kind] for kind in kinds], np.inf),
        options={"time_limit": seconds},
    )
    bound = None if found.mip_dual_bound is None else int(np.ceil(found.mip_dual_bound - 1e-6))
    if found.x is None:
        return online, bound
    left = Counter(wanted)
    cards: list[tuple[Kind, ...]] = []
    for pattern, times in zip(patterns, np.rint(found.x).astype(int), strict=True):
        for _ in range(times):
            taken = in_order((Counter(pattern) & left).elements())  # more than wanted may be covered: leave it out
            left -= Counter(taken)
            if taken:
                cards.append(taken)
    if len(online.cards) <= len(cards):
        return online, bound
    return Placed(tuple(cards), _assigned(arrivals, cards)), bound


def _patterns(kinds: Sequence[Kind], feasible: Feasibility) -> list[tuple[Kind, ...]] | None:
    """All feasible combinations; None beyond `MOST_COMBINATIONS`.

    One more resident never helps the others, so a combination can be feasible only where it is without its last.
    """
    found: list[tuple[Kind, ...]] = []
    last: list[tuple[Kind, ...]] = [()]
    while last:
        longer = []
        for combination in last:
            first = kinds.index(combination[-1]) if combination else 0
            longer += [(*combination, kind) for kind in kinds[first:] if feasible.keeps((*combination, kind))]
            if len(found) + len(longer) > MOST_COMBINATIONS:
                return None
        found += longer
        last = longer
    return found


def _assigned(arrivals: Sequence[Kind], cards: Sequence[Sequence[Kind]]) -> tuple[int | None, ...]:
    places: dict[Kind, list[int]] = {}
    for at, residents in enumerate(cards):
        for kind in residents:
            places.setdefault(kind, []).append(at)
    return tuple(places[kind].pop(0) for kind in arrivals)
