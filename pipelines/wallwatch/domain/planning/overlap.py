"""Joins of rule sets: which rules contain others, and which overlap although they do something else.

Rules are compared by their masks' common bits and a hash of those bits, one group of masks at a time, so that the work grows with rules
times masks and not with pairs of rules. A hash only proposes; every pair that counts is compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.masks.rules import Numbers, RuleSet, Words, hashed

NOWHERE = np.iinfo(np.int64).max
"""Order of a container that does not exist."""
MOST_PAIRS = 200_000
"""Pairs compared at once, about 100 MB."""
SMALLEST_PART = 256
"""Rules below which taking parts apart costs more than the join itself."""


def first_container(inner: RuleSet, outer: RuleSet) -> Numbers:
    """For each rule of `inner` the row of the first rule of `outer`, in its order, that matches all of its packets; -1 where none does.

    Returns
    -------
    array of shape (inner rules,)
    """
    best = np.full(len(inner), NOWHERE, dtype=np.int64)
    row_of = np.full(len(inner), -1, dtype=np.int64)
    if len(inner) == 0 or len(outer) == 0:
        return row_of
    probe = _Probe.of(inner, outer)
    earliest = np.array([outer.order[rows].min() for rows in outer.members])
    for group in np.argsort(earliest):
        found, where = probe.containers(int(group), best > earliest[group])
        better = outer.order[where] < best[found]
        best[found[better]], row_of[found[better]] = outer.order[where[better]], where[better]
    return row_of


def contained(inner: RuleSet, outer: RuleSet) -> npt.NDArray[np.bool_]:
    """Whether one rule of `outer` matches all packets of each rule of `inner`. Most rules are in both sets: these are found at once."""
    found = _same(inner, outer)
    rest = np.flatnonzero(~found)
    if len(rest) and len(outer):
        probe = _Probe.of(inner.take(rest), outer)
        there = np.zeros(len(rest), dtype=bool)
        for group in np.argsort([-len(rows) for rows in outer.members], kind="stable"):  # large ones find most
            there[probe.containers(int(group), ~there)[0]] = True
        found[rest] = there
    return found


@dataclass(frozen=True)
class _Probe:
    """The search for rules that contain others, one mask of `outer` at a time. Bits that all of its masks look at are hashed once."""

    inner: RuleSet
    outer: RuleSet
    varying: Numbers
    """The words in which the masks of `outer` differ."""
    inner_base: Words
    outer_base: Words

    @classmethod
    def of(cls, inner: RuleSet, outer: RuleSet) -> _Probe:
        masks, _ = outer.groups
        common = np.bitwise_and.reduce(masks, axis=0)
        varying = np.flatnonzero((masks & ~common).any(axis=0))
        return cls(inner, outer, varying, hashed(inner.values & common), hashed(outer.values & common))

    def containers(self, group: int, wanted: npt.NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
        """Rows of `inner`, of those that are wanted, with the first row of the group that contains each of them."""
        inner, outer = self.inner, self.outer
        mask, rows = outer.groups[0][group], outer.members[group]
        inner_masks, inner_group = inner.groups
        open_rows = np.flatnonzero(~(mask & ~inner_masks).any(axis=1)[inner_group] & wanted)
        if len(open_rows) == 0:
            return open_rows, open_rows
        keys = self.outer_base[rows] ^ hashed(outer.values[rows][:, self.varying])
        sorting = np.lexsort((outer.order[rows], keys))
        keys, rows = keys[sorting], rows[sorting]
        sought = self.inner_base[open_rows] ^ hashed(inner.values[open_rows][:, self.varying] & mask[self.varying])
        at = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
        maybe = np.flatnonzero(keys[at] == sought)
        hit = maybe[(outer.values[rows[at[maybe]]] == inner.values[open_rows[maybe]] & mask).all(axis=1)]
        return open_rows[hit], rows[at[hit]]


def _same(inner: RuleSet, outer: RuleSet) -> npt.NDArray[np.bool_]:
    """Whether `outer` has each rule of `inner` as it is."""
    keys = hashed(outer.values) ^ hashed(outer.masks, seed=1)
    sorting = np.argsort(keys)
    sought = hashed(inner.values) ^ hashed(inner.masks, seed=1)
    found = np.zeros(len(inner), dtype=bool)
    if len(keys):
        rows = sorting[np.minimum(np.searchsorted(keys, sought, sorter=sorting), len(keys) - 1)]
        found = (outer.values[rows] == inner.values).all(axis=1) & (outer.masks[rows] == inner.masks).all(axis=1)
    return found


def conflicts(left: RuleSet, right: RuleSet) -> Iterator[tuple[Numbers, Numbers]]:
    """Pairs of rows (of left, of right) that overlap and have different actions, in batches."""
    for left_rows, right_rows in _contested(left, right, np.arange(len(left)), np.arange(len(right)), depth=0):
        a, b = left.take(left_rows), right.take(right_rows)
        if len(a.groups[0]) < len(b.groups[0]):  # the side with fewer masks is gone through one by one
            for rows_b, rows_a in _join(b, a):
                yield left_rows[rows_a], right_rows[rows_b]
        else:
            for rows_a, rows_b in _join(a, b):
                yield left_rows[rows_a], right_rows[rows_b]


def _contested(left: RuleSet, right: RuleSet, rows_l: Numbers, rows_r: Numbers, depth: int) -> Iterator[tuple[Numbers, Numbers]]:
    """Parts in which rules with different actions may meet: rules that overlap agree in the bits that all rules match exactly."""
    if len(rows_l) == 0 or len(rows_r) == 0:
        return
    exact = np.bitwise_and.reduce(left.masks[rows_l], axis=0) & np.bitwise_and.reduce(right.masks[rows_r], axis=0)
    keys = np.concatenate([hashed(left.values[rows_l] & exact), hashed(right.values[rows_r] & exact)])
    actions = np.concatenate([left.actions[rows_l], right.actions[rows_r]])
    names, part = np.unique(keys, return_inverse=True)
    lowest, highest = np.full(len(names), NOWHERE), np.full(len(names), -1)
    np.minimum.at(lowest, part, actions)
    np.maximum.at(highest, part, actions)
    differs = (lowest != highest)[part]
    of_l, of_r = part[: len(rows_l)], part[len(rows_l) :]
    keep_l, keep_r = differs[: len(rows_l)], differs[len(rows_l) :]
    left_names = np.unique(of_l[keep_l])
    if depth < 3 and len(names) > 1 and keep_l.sum() + keep_r.sum() > SMALLEST_PART and len(left_names) <= 64:
        for name in left_names:
            yield from _contested(left, right, rows_l[of_l == name], rows_r[of_r == name], depth + 1)
    elif keep_l.any() and keep_r.any():
        yield rows_l[keep_l], rows_r[keep_r]


def _join(left: RuleSet, right: RuleSet) -> Iterator[tuple[Numbers, Numbers]]:
    """Overlapping pairs with different actions, one mask of `right` after another."""
    left_masks, left_group = left.groups
    for mask, rows in zip(right.groups[0], right.members, strict=True):
        common, shared = _distinct_rows(left_masks & mask)
        salt = np.arange(len(common), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        expanded = (right.values[rows][None, :, :] & common[:, None, :]).reshape(-1, common.shape[1])
        keys = hashed(expanded) ^ np.repeat(salt, len(rows))
        sorting = np.argsort(keys, kind="stable")
        keys, where = keys[sorting], np.tile(rows, len(common))[sorting]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        ends = np.append(starts[1:], len(keys))
        doing = right.actions[where]
        lowest, highest = np.minimum.reduceat(doing, starts), np.maximum.reduceat(doing, starts)
        wanted = hashed(left.values & mask) ^ salt[shared[left_group]]
        at = np.minimum(np.searchsorted(keys[starts], wanted), len(starts) - 1)
        mine = left.actions
        probing = np.flatnonzero((keys[starts[at]] == wanted) & ((lowest[at] != mine) | (highest[at] != mine)))
        for batch in _batches(probing, (ends - starts)[at]):
            sizes = (ends - starts)[at[batch]]
            pairs_l = np.repeat(batch, sizes)
            offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            pairs_r = where[np.repeat(starts[at[batch]], sizes) + offsets]
            real = overlapping(left.values[pairs_l], left.masks[pairs_l], right.values[pairs_r], right.masks[pairs_r])
            real &= left.actions[pairs_l] != right.actions[pairs_r]
            if real.any():
                yield pairs_l[real], pairs_r[real]


def overlapping(values: Words, masks: Words, other_values: Words, other_masks: Words) -> npt.NDArray[np.bool_]:
    """Whether rules share a packet, row by row; shapes broadcast."""
    return np.asarray(~((values ^ other_values) & masks & other_masks).any(axis=-1))


def _batches(rows: Numbers, sizes: Numbers) -> Iterator[Numbers]:
    if len(rows) == 0:
        return
    share = np.cumsum(sizes[rows]) // MOST_PAIRS
    yield from np.split(rows, np.flatnonzero(np.diff(share)) + 1)


def _distinct_rows(rows: Words) -> tuple[Words, Numbers]:
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    return distinct, inverse.reshape(-1)
