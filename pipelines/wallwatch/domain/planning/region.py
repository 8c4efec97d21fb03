"""A set of packets given by fixed header bits, and what of it a list of rules leaves over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.masks.rules import Words
from wallwatch.domain.planning.overlap import overlapping


class Undecided(Exception):
    """The search was given up: too many rules cut the region into too many pieces."""


@dataclass(slots=True)
class Budget:
    """How many pieces may still be looked at, over all searches of one proof."""

    left: int = 40_000

    def spend(self) -> None:
        """Count one piece.

        Raises
        ------
        Undecided
            When none is left.
        """
        self.left -= 1
        if self.left < 0:
            raise Undecided


def left_over(value: Words, mask: Words, rules_values: Words, rules_masks: Words, budget: Budget) -> tuple[Words, Words] | None:
    """Part of a region that no rule matches, as (value, mask); None when the rules match all of it.

    The region is cut along the rule that needs the fewest cuts; of each piece only the rules that still overlap are kept. The search is
    complete: None is a proof.

    Parameters
    ----------
    value, mask : arrays of shape (words,)
    rules_values, rules_masks : arrays of shape (rules, words)

    Raises
    ------
    Undecided
        When the budget is spent.

    Examples
    --------
    >>> word = lambda *bits: np.array(bits, dtype=np.uint64)
    >>> left_over(word(0), word(0), np.array([[0], [2]], dtype=np.uint64), np.array([[2], [3]], dtype=np.uint64), Budget())
    (array([3], dtype=uint64), array([3], dtype=uint64))
    """
    pieces = [(value, mask, rules_values, rules_masks)]
    while pieces:
        budget.spend()
        value, mask, values, masks = pieces.pop()
        near = overlapping(values, masks, value, mask)
        values, masks = values[near], masks[near]
        if len(values) == 0:
            return value, mask
        free = masks & ~mask
        cuts = _ones(free)
        nearest = int(cuts.argmin())
        if cuts[nearest] == 0:
            continue  # this rule matches all of the piece
        pieces.extend(_cut(value, mask, values[nearest], free[nearest], values, masks))
    return None


def _cut(value: Words, mask: Words, rule: Words, free: Words, values: Words, masks: Words) -> list[tuple[Words, Words, Words, Words]]:
    """The region without a rule: for each bit that only the rule fixes, the part that differs there and agrees before."""
    pieces = []
    value, mask = value.copy(), mask.copy()
    for word in range(len(free)):
        bits = int(free[word])
        while bits:
            bit = np.uint64(bits & -bits)
            bits &= bits - 1
            mask = mask.copy()
            mask[word] |= bit
            other = value.copy()
            other[word] |= ~rule[word] & bit
            pieces.append((other, mask, values, masks))
            value = value.copy()
            value[word] |= rule[word] & bit
    return pieces


def _ones(rows: Words) -> npt.NDArray[np.int64]:
    return np.asarray(np.bitwise_count(rows).sum(axis=1, dtype=np.int64))
