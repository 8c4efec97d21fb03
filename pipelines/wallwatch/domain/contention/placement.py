"""Placement of network functions on cards so that every function keeps what it was promised (Yala, section 7.5.1).

A function may lose at most a share of its solo throughput (its SLA). A card takes a function when the prediction keeps the SLA of **all**
its residents. Predictions come from outside: this module does not know how they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import erfc, sqrt

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Kind:
    """A function with its traffic and SLA; arrivals of the same kind are interchangeable."""

    name: str
    cores: int
    most_drop: float
    """Share of its solo throughput that it may lose, 0 to 1."""
    error: float = 0.0
    """Standard error of its predicted drop, as a share of its solo throughput; 0 where predictions are taken as exact."""


Drops = Callable[[tuple[Kind, ...]], Sequence[float]]
"""Predicted drop of every resident, as shares of the solo throughput, in the order given (sorted by name)."""


ManyDrops = Callable[[Sequence[Kind], npt.NDArray[np.int64]], npt.NDArray[np.float64]]
"""The same for many combinations: kinds, and their places in each combination, shape (combinations, residents)."""


CAUTION = 1.0
_CAUTIOUS_CHANCE = 0.5 * erfc(CAUTION / sqrt(2.0))
"""Of a normal error to exceed so many standard errors."""


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
    """Whether residents keep their SLAs; each combination is predicted once.

    One by one, a function whose prediction has an error must stay `CAUTION` standard errors below its SLA.
    """

    drops: Drops
    cores: int
    margin: float = 0.0
    """Predicted drops must stay this much (a share of the solo throughput) below the SLA."""
    many: ManyDrops | None = None
    """Makes the search over combinations ten times as fast."""
    chances: ManyDrops | None = None
    """Chance that each resident breaks its SLA, where it is known better than by the errors of the kinds."""
    _known: dict[tuple[Kind, ...], bool] = field(default_factory=dict)
    _judged: frozenset[Kind] = frozenset()
    """Kinds of which every combination that keeps its SLAs is in `_known`."""

    def know(self, kinds: Iterable[Kind], kept: Iterable[Sequence[Kind]]) -> None:
        """Take over what is known already: all combinations of these kinds, in order, that keep their SLAs."""
        self._judged = frozenset(kinds)
        self._known.update((tuple(residents), True) for residents in kept)

    def certain(self, kinds: Iterable[Kind]) -> bool:
        """Whether predictions are taken as exact."""
        return self.chances is None and not any(kind.error for kind in kinds)

    def expected_violations(self, residents: Iterable[Kind]) -> float:
        """How many residents are expected to lose more than their SLA allows, given the errors of their predictions."""
        key = in_order(residents)
        if len(key) < 2:
            return 0.0  # alone on a card: what is left is the function's own solo throughput
        if self.chances is not None:
            return float(self.chances(key, np.arange(len(key)).reshape(1, -1)).sum())
        return expected_violations(key, self.drops)

    def keeps(self, residents: Iterable[Kind]) -> bool:
        """Whether the residents fit and none of them breaks its SLA."""
        key = in_order(residents)
        if key not in self._known:
            if len(key) > 1 and self._judged.issuperset(key):
                return False
            self._known[key] = self.keeps_as_predicted(key)
        return self._known[key]

    def keeps_as_predicted(self, residents: Iterable[Kind]) -> bool:
        """The same by a prediction of its own, whatever is known: a search passes over combinations without a feasible part."""
        key = in_order(residents)
        return sum(kind.cores for kind in key) <= self.cores and (len(key) < 2 or self._kept(key))

    def _kept(self, key: tuple[Kind, ...]) -> bool:
        if self.chances is not None and (self.chances(key, np.arange(len(key)).reshape(1, -1)) > _CAUTIOUS_CHANCE).any():
            return False
        return all(drop + self.margin + CAUTION * kind.error <= kind.most_drop for kind, drop in zip(key, self.drops(key), strict=True))


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


def expected_violations(residents: Sequence[Kind], drops: Drops) -> float:
    """How many residents are expected to lose more than their SLA allows, given the errors of their predictions."""
    key = in_order(residents)
    if len(key) < 2:
        return 0.0
    found = 0.0
    for kind, drop in zip(key, drops(key), strict=True):
        excess = drop - kind.most_drop
        found += 0.5 * erfc(-excess / kind.error / sqrt(2.0)) if kind.error > 0 else float(excess > 0)
    return found


def check_cores(kinds: Iterable[Kind], cores: int) -> None:
    """Raise `ValueError` for a function that no card has enough cores for."""
    for kind in kinds:
        if kind.cores > cores:
            raise ValueError(f"{kind.name} needs {kind.cores} cores, and a card has {cores}")


def place(arrivals: Sequence[Kind], feasible: Feasibility, policy: Policy = Policy.FULLEST, most_cards: int | None = None) -> Placed:
    """Place arrivals one after the other; nothing moves later.

    Cards with the same residents are interchangeable, so a choice looks at each combination once: 500 arrivals take milliseconds.
    """
    cards: list[tuple[Kind, ...]] = []
    alike: dict[tuple[Kind, ...], list[int]] = {}
    assignment: list[int | None] = []
    check_cores(arrivals, feasible.cores)
    for kind in arrivals:
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
