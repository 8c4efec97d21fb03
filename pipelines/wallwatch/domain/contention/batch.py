"""Placement of a batch of functions that have trained models, compared with where they run now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from wallwatch.domain.contention.batch_placement import fewest_cards
from wallwatch.domain.contention.card import Card, Occupant, Outlook
from wallwatch.domain.contention.card_batch import CardBatch, Places
from wallwatch.domain.contention.gaussian_process import Array
from wallwatch.domain.contention.placement import Drops, Feasibility, Kind, ManyDrops, Placed, Policy, place

SECONDS = 2.0
"""For the integer program; what it has by then is at least as good as placing one by one."""
MOST_CORES = 64
_AT_ONCE = 20_000
"""Cards that are predicted together: their counters take some megabytes."""


class UnusableBatch(ValueError):
    """Functions or cards that cannot be placed as they are given."""


@dataclass(frozen=True, slots=True)
class BatchFunction:
    """One function to place; `occupant.name` is unique in the batch."""

    occupant: Occupant
    cores: int
    most_drop: float
    card: str | None = None
    """Where it runs now."""

    @property
    def spec(self) -> tuple[object, ...]:
        """Functions with the same are interchangeable."""
        occupant = self.occupant
        return id(occupant.model), occupant.traffic, occupant.counters, self.cores, self.most_drop


@dataclass(frozen=True, slots=True)
class BatchCard:
    name: str
    host: str
    cores: int


@dataclass(frozen=True, slots=True)
class Seat:
    """A function on its card, with what is predicted there."""

    function: BatchFunction
    outlook: Outlook

    @property
    def violates(self) -> bool:
        return self.outlook.drop > self.function.most_drop

    @property
    def chance(self) -> float:
        """Chance that its SLA breaks, given the error of its model."""
        return self.outlook.chance_of_breaking(self.function.most_drop)


@dataclass(frozen=True, slots=True)
class Assignment:
    """`cards` maps the names of used cards to what runs there; `unplaced` found no card."""

    cards: Mapping[str, tuple[Seat, ...]]
    unplaced: tuple[BatchFunction, ...] = ()
    lower_bound: int | None = None
    """Cards that any assignment of the batch needs, where it is proven."""

    @property
    def violations(self) -> int:
        return sum(seat.violates for seats in self.cards.values() for seat in seats)

    @property
    def expected_violations(self) -> float:
        """Of predictions that err as their intervals say."""
        return sum(seat.chance for seats in self.cards.values() for seat in seats)


@dataclass
class _Kinds:
    """Kinds of the placement, and a function of the batch that stands for each."""

    functions: dict[Kind, BatchFunction] = field(default_factory=dict)
    by_spec: dict[tuple[object, ...], Kind] = field(default_factory=dict)
    solo: dict[Kind, float] = field(default_factory=dict)

    def of(self, function: BatchFunction) -> Kind:
        if function.spec not in self.by_spec:
            kind = Kind(f"{len(self.by_spec):06d}", function.cores, function.most_drop)
            self.by_spec[function.spec] = kind
            self.functions[kind] = function
            self.solo[kind] = Card([function.occupant]).throughput(0)
        return self.by_spec[function.spec]

    def many(self, cautious: bool) -> ManyDrops:
        """The same as `drops` for many combinations at once."""

        def predicted(kinds: Sequence[Kind], combinations: Places) -> Array:
            batch = CardBatch([self.functions[kind].occupant for kind in kinds])
            solo = np.array([self.solo[kind] for kind in kinds])
            parts = [combinations[start : start + _AT_ONCE] for start in range(0, len(combinations), _AT_ONCE)]
            return np.concatenate([1.0 - batch.throughput(part, cautious) / solo[part] for part in parts])

        return predicted

    def drops(self, cautious: bool) -> Drops:
        def predicted(residents: tuple[Kind, ...]) -> list[float]:
            card = Card([self.functions[kind].occupant for kind in residents])
            return [1.0 - card.throughput(at, cautious) / self.solo[kind] for at, kind in enumerate(residents)]

        return predicted


def assign(
    functions: Sequence[BatchFunction],
    cards: Sequence[BatchCard],
    policy: Policy | None = None,
    margin: float = 0.0,
    cautious: bool = False,
    seconds: float = SECONDS,
) -> Assignment:
    """Assign functions to cards so that none loses more than its SLA allows.

    Parameters
    ----------
    policy
        One function after the other by this rule; None looks for the fewest cards of the whole batch.
    margin
        Predicted drops must stay this share of the solo throughput below the SLA.
    cautious
        Judge by the lower end of the 90% interval instead of the prediction.

    Raises
    ------
    UnusableBatch
        When a function lacks what a placement needs, or does not fit on any card.
    """
    size = _check(functions, cards)
    kinds = _Kinds()
    arrivals = [kinds.of(function) for function in functions]
    feasible = Feasibility(kinds.drops(cautious), size, margin, kinds.many(cautious))
    bound = None
    if policy is None:
        found, bound = fewest_cards(arrivals, feasible, seconds)
    else:
        found = place(arrivals, feasible, policy, len(cards))
    return _seated(functions, found, cards, bound)


def present_assignment(functions: Sequence[BatchFunction]) -> Assignment | None:
    """Where the functions run now; None when no function names its card. Functions without a card are left out."""
    by_card: dict[str, list[BatchFunction]] = {}
    for function in functions:
        if function.card is not None:
            by_card.setdefault(function.card, []).append(function)
    if not by_card:
        return None
    outlooks = _Outlooks()
    return Assignment({name: outlooks.seats(residents) for name, residents in by_card.items()})


def node_affinity(host: str) -> dict[str, Any]:
    """The part of a pod's specification that keeps it on a host.

    >>> rules = node_affinity("node-7")["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    >>> rules["nodeSelectorTerms"][0]["matchExpressions"][0]["values"]
    ['node-7']
    """
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}


def _check(functions: Sequence[BatchFunction], cards: Sequence[BatchCard]) -> int:
    sizes = {card.cores for card in cards}
    if len(sizes) != 1:
        raise UnusableBatch("cards must have the same number of cores" if sizes else "at least one card is required")
    size = sizes.pop()
    for function in functions:
        name = function.occupant.name
        if function.occupant.model is None:
            raise UnusableBatch(f"{name} has no model")
        if function.occupant.counters is None:
            raise UnusableBatch(f"the own load of {name} is unknown, so its neighbours cannot be predicted: upload a profile *own_load*")
        if function.cores > size:
            raise UnusableBatch(f"{name} needs {function.cores} cores, and a card has {size}")
    return size


def _seated(functions: Sequence[BatchFunction], found: Placed, cards: Sequence[BatchCard], bound: int | None) -> Assignment:
    residents: list[list[BatchFunction]] = [[] for _ in found.cards]
    unplaced: list[BatchFunction] = []
    for function, at in zip(functions, found.assignment, strict=True):
        (unplaced if at is None else residents[at]).append(function)
    names = _names_near_the_present(residents, cards)
    outlooks = _Outlooks()
    seated = {name: outlooks.seats(group) for name, group in names.items() if group}
    placed = {id(function) for group in names.values() for function in group}
    unplaced += [function for group in residents for function in group if id(function) not in placed]
    return Assignment(seated, tuple(unplaced), bound)


def _names_near_the_present(residents: Sequence[list[BatchFunction]], cards: Sequence[BatchCard]) -> dict[str, list[BatchFunction]]:
    """Give each group a real card: the one on which most of it runs already, so that few functions move."""
    pairs = sorted(
        (-sum(function.card == card.name for function in group), at, index)
        for at, group in enumerate(residents)
        for index, card in enumerate(cards)
    )
    named: dict[str, list[BatchFunction]] = {}
    taken: set[int] = set()
    for _, at, index in pairs:
        if at not in taken and cards[index].name not in named:
            taken.add(at)
            named[cards[index].name] = residents[at]
    return named


class _Outlooks:
    """Outlooks of cards; those with interchangeable residents are predicted once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], list[Outlook]] = {}

    def seats(self, residents: Sequence[BatchFunction]) -> tuple[Seat, ...]:
        """Seats of one card, in the order of its residents."""
        ordered = sorted(residents, key=lambda function: repr(function.spec))
        key = tuple(function.spec for function in ordered)
        if key not in self._known:
            card = Card([replace(function.occupant, name=str(at)) for at, function in enumerate(ordered)])
            self._known[key] = [card.outlook(at) for at in range(len(ordered))]
        names = {str(at): function.occupant.name for at, function in enumerate(ordered)}
        seats = {id(function): Seat(function, _named(found, names)) for function, found in zip(ordered, self._known[key], strict=True)}
        return tuple(seats[id(function)] for function in residents)


def _named(found: Outlook, names: Mapping[str, str]) -> Outlook:
    contributors = {names[number]: value for number, value in found.contributors.items()}
    return replace(found, contributors=contributors, unknown=tuple(names[number] for number in found.unknown))
