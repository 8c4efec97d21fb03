"""Rule sets as arrays: rules with the same mask form a group, groups are tried one after another, the first that matches wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wallwatch.domain.masks.space import HeaderSpace

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RuleSet:
    """Rules over one header space.

    `values` and `masks` have shape (rules, words); `order` is the place of each rule in the chain, lower first, no two alike; `actions` are
    numbers that all compared sets share.
    """

    values: Words
    masks: Words
    actions: Numbers
    order: Numbers

    def __len__(self) -> int:
        return len(self.actions)

    @cached_property
    def groups(self) -> tuple[Words, Numbers]:
        """The different masks, shape (groups, words), and the group of each rule."""
        return distinct(self.masks)

    @cached_property
    def members(self) -> list[Numbers]:
        """The rules of each group."""
        _, group = self.groups
        by_group = np.argsort(group, kind="stable")
        return np.split(by_group, np.cumsum(np.bincount(group, minlength=len(self.groups[0])))[:-1]) if len(group) else []

    def take(self, rows: Numbers) -> RuleSet:
        """Some of the rules, with the order they had."""
        return RuleSet(self.values[rows], self.masks[rows], self.actions[rows], self.order[rows])

    def ordered(self, order: Numbers) -> RuleSet:
        """The same rules in another order."""
        return RuleSet(self.values, self.masks, self.actions, order)


def rule_set(words: Sequence[tuple[int, int]], actions: Sequence[int], space: HeaderSpace) -> RuleSet:
    """A rule set of (value, mask) pairs; their order is that of the sequence.

    Read everything that is to be compared before: the space must not grow any more.
    """
    numbers: dict[int, int] = {}
    which = [numbers.setdefault(mask, len(numbers)) for _, mask in words]
    masks = _words(list(numbers), space)[np.asarray(which, dtype=np.int64)]  # only a few
    places = np.arange(len(words), dtype=np.int64)
    return RuleSet(_words([value for value, _ in words], space), masks, np.asarray(actions, dtype=np.int64), places)


def _words(numbers: Sequence[int], space: HeaderSpace) -> Words:
    width = max(1, -(-space.width // 64))
    size = 8 * width
    raw = b"".join([number.to_bytes(size, "little") for number in numbers])
    return np.frombuffer(raw, dtype="<u8").reshape(len(numbers), width).astype(np.uint64)


def word(number: int, space: HeaderSpace) -> Words:
    """A number of header bits as words; shape (words,)."""
    return _words([number], space).reshape(-1)


def chain_order(masks: npt.ArrayLike) -> Numbers:
    """The place of each rule when masks are tried in the order in which they are first seen, and rules of one mask in theirs.

    Parameters
    ----------
    masks : array of shape (rules,)
        The number, or the name, of each rule's mask.

    Examples
    --------
    >>> chain_order(["m1", "m2", "m1"]).tolist()
    [0, 2, 1]
    """
    _, first, which = np.unique(np.asarray(masks), return_index=True, return_inverse=True)
    places = np.empty(len(which), dtype=np.int64)
    places[np.argsort(first[which], kind="stable")] = np.arange(len(which))
    return places


def hashed(rows: Words, seed: int = 0) -> Words:
    """A 64-bit hash of each row; equal rows have equal hashes."""
    result = np.full(len(rows), 0x9E3779B97F4A7C15 ^ seed, dtype=np.uint64)
    for column in range(rows.shape[1]):
        result ^= rows[:, column]
        result *= np.uint64(0xBF58476D1CE4E5B9)
        result ^= result >> np.uint64(29)
    result *= np.uint64(0x94D049BB133111EB)
    return result ^ (result >> np.uint64(32))


def distinct(rows: Words) -> tuple[Words, Numbers]:
    """The different rows, and which of them each row is."""
    if len(rows) == 0:
        return rows, np.zeros(0, dtype=np.int64)
    _, first, inverse = np.unique(hashed(rows), return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][inverse], rows):  # two rows with one hash: the slow way
        unlike, inverse = np.unique(rows, axis=0, return_inverse=True)
        return unlike, inverse.reshape(-1).astype(np.int64)
    return rows[first], inverse.astype(np.int64)
