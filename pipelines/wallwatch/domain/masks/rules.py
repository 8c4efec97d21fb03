"""Rule sets as arrays: rules with the same mask form a group, groups are tried one after another, the first that matches wins."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
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
        return _distinct(self.masks)

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


def rule_set(words: Sequence[tuple[int, int]], actions: Sequence[int], space: HeaderSpace, order: Sequence[int] | None = None) -> RuleSet:
    """A rule set of (value, mask) pairs; their order is that of the sequence unless it is given.

    Read everything that is to be compared before: the space must not grow any more.
    """
    width = max(1, -(-space.width // 64))
    size = 8 * width
    raw = b"".join(value.to_bytes(size, "little") + mask.to_bytes(size, "little") for value, mask in words)
    both = np.frombuffer(raw, dtype="<u8").reshape(len(words), 2, width).astype(np.uint64)
    places = np.arange(len(words), dtype=np.int64) if order is None else np.asarray(order, dtype=np.int64)
    return RuleSet(np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1]), np.asarray(actions, dtype=np.int64), places)


def chain_order(masks: Iterable[Hashable]) -> Numbers:
    """The place of each rule when masks are tried in the order in which they are first seen, and rules of one mask in theirs.

    >>> chain_order(["m1", "m2", "m1"]).tolist()
    [0, 2, 1]
    """
    first: dict[Hashable, int] = {}
    ranks = np.array([first.setdefault(mask, len(first)) for mask in masks], dtype=np.int64)
    places = np.empty(len(ranks), dtype=np.int64)
    places[np.argsort(ranks, kind="stable")] = np.arange(len(ranks))
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


def _distinct(rows: Words) -> tuple[Words, Numbers]:
    if len(rows) == 0:
        return rows, np.zeros(0, dtype=np.int64)
    _, first, inverse = np.unique(hashed(rows), return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][inverse], rows):  # two rows with one hash: the slow way
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        return distinct, inverse.reshape(-1).astype(np.int64)
    return rows[first], inverse.astype(np.int64)
