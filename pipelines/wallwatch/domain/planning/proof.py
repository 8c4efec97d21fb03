"""The proof that two rule sets treat every packet alike: symbolic, over all headers, not over samples.

A rule set is an ordered chain: the first rule that matches a packet decides. Two sets are equivalent when every packet that some rule of
either matches is decided by both, with the same actions. That holds when

1. each rule's packets are all matched by the other set, and
2. wherever a rule of one and a rule of the other overlap and their actions differ, no packet of the overlap is decided by these two: it is
   decided before, by another rule of one of them.

Both are checked for all rules; a remaining header is a packet for which they differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from wallwatch.domain.masks.rules import Numbers, RuleSet, Words
from wallwatch.domain.planning.overlap import NOWHERE, conflicts, contained, first_container
from wallwatch.domain.planning.region import Budget, Undecided, left_over

Verdict = Literal["equivalent", "different", "undecided"]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Witness:
    """A packet that the two sets treat differently; a row is None where none of the set's rules matches it.

    All packets with the bits `mask` as in `value` are treated differently; `value` has zeros elsewhere.
    """

    value: Words
    mask: Words
    before: int | None
    after: int | None
    reading: int
    """Which of the readings of the order it belongs to."""


@dataclass(frozen=True)
class Proof:
    """What was proven, and of how much."""

    verdict: Verdict
    witness: Witness | None = None
    reason: str = ""
    contested: int = 0
    """Pairs of rules that overlap across the sets and have different actions: their order decides."""
    searched: int = 0
    """Regions that were searched piece by piece, since no single rule decided them."""


def prove(
    before: RuleSet,
    after: RuleSet,
    readings: Sequence[tuple[Numbers, Numbers]] = (),
    may_miss: Mask | None = None,
    budget: Budget | None = None,
) -> Proof:
    """Prove that two rule sets over one header space are equivalent, or find a packet that they treat differently.

    Parameters
    ----------
    readings : sequence of (order of before, order of after)
        Orders in which the chains may stand; the sets must be equivalent in each. Without any, the orders that the sets have.
    may_miss : boolean array of shape (rules before,)
        Rules whose packets need not be matched afterwards (they then go to software, which decides as it did); if they are matched, it must
        be with the same actions.
    """
    budget = budget or Budget()
    readings = readings or [(before.order, after.order)]
    search = _Search(before, after, budget, np.zeros(len(before), dtype=bool) if may_miss is None else may_miss)
    try:
        witness = search.uncovered() or search.contested(readings)
    except Undecided:
        reason = "the rules overlap in too many ways to decide this within the search budget"
        return Proof("undecided", None, reason, search.pairs, search.searched)
    verdict: Verdict = "equivalent" if witness is None else "different"
    return Proof(verdict, witness, "", search.pairs, search.searched)


class _Search:
    def __init__(self, before: RuleSet, after: RuleSet, budget: Budget, may_miss: Mask) -> None:
        self.before, self.after, self.budget, self.may_miss = before, after, budget, may_miss
        self.pairs = self.searched = 0

    def uncovered(self) -> Witness | None:
        """A packet that only one of the sets matches."""
        before, after = self.before, self.after
        for row in np.flatnonzero(~contained(before, after) & ~self.may_miss):
            excused = before.take(np.flatnonzero(self.may_miss & (before.order < before.order[row])))
            values, masks = np.vstack([after.values, excused.values]), np.vstack([after.masks, excused.masks])
            if found := self._outside(before, int(row), values, masks):
                return found
        for row in np.flatnonzero(~contained(after, before)):
            if found := self._outside(after, int(row), before.values, before.masks):
                return found
        return None

    def contested(self, readings: Sequence[tuple[Numbers, Numbers]]) -> Witness | None:
        """A packet that both match, with different actions."""
        placed = [(self.before.ordered(first), self.after.ordered(second)) for first, second in readings]
        pending: list[list[tuple[Numbers, Numbers]]] = [[] for _ in readings]
        settled: list[tuple[Numbers, Numbers]] | None = None
        for rows_b, rows_a in conflicts(self.before, self.after):
            self.pairs += len(rows_b)
            settled = settled or [(_place(a, b), _place(b, a)) for b, a in placed]
            for number, ((b, a), (after_in_before, before_in_after)) in enumerate(zip(placed, settled, strict=True)):
                # Decided before: a rule ahead of one of the two matches all packets of the other.
                open_pairs = (b.order[rows_b] <= after_in_before[rows_a]) & (a.order[rows_a] <= before_in_after[rows_b])
                pending[number].append((rows_b[open_pairs], rows_a[open_pairs]))
        for number, (b, a) in enumerate(placed):
            for rows_b, rows_a in pending[number]:
                for row_b, row_a in zip(rows_b, rows_a, strict=True):
                    if found := self._decided_by(b, int(row_b), a, int(row_a), number):
                        return found
        return None

    def _decided_by(self, before: RuleSet, row_b: int, after: RuleSet, row_a: int, reading: int) -> Witness | None:
        value, mask = before.values[row_b] | after.values[row_a], before.masks[row_b] | after.masks[row_a]
        ahead_b, ahead_a = _ahead(before, row_b), _ahead(after, row_a)
        self.searched += 1
        values, masks = np.vstack([ahead_b.values, ahead_a.values]), np.vstack([ahead_b.masks, ahead_a.masks])
        left = left_over(value, mask, values, masks, self.budget)
        return None if left is None else Witness(left[0], left[1], row_b, row_a, reading)

    def _outside(self, rules: RuleSet, row: int, values: Words, masks: Words) -> Witness | None:
        self.searched += 1
        left = left_over(rules.values[row], rules.masks[row], values, masks, self.budget)
        if left is None:
            return None
        decides = first_match(rules, left[0])
        return Witness(*left, decides, None, 0) if rules is self.before else Witness(*left, None, decides, 0)


def first_match(rules: RuleSet, packet: Words) -> int | None:
    """The row of the rule that decides a packet."""
    rows = np.flatnonzero(~((rules.values ^ packet) & rules.masks).any(axis=1))
    return int(rows[rules.order[rows].argmin()]) if len(rows) else None


def _ahead(rules: RuleSet, row: int) -> RuleSet:
    return rules.take(np.flatnonzero(rules.order < rules.order[row]))


def _place(inner: RuleSet, outer: RuleSet) -> Numbers:
    """The order of the first container of each rule."""
    rows = first_container(inner, outer)
    return np.where(rows < 0, NOWHERE, outer.order[rows])
