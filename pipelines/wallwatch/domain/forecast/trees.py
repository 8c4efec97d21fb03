"""Trained trees, evaluated for many rows at once; the same sums as `lightgbm.Booster.predict` gives, several times as fast.

LightGBM walks one row through one tree after another, and each step waits for the one before. Here each split of a tree is compared for a
block of rows together, which processors do eight at a time: a split that sends a row to the right strikes out the leaves on its left, and
the first leaf that is left is the row's (QuickScorer: Lucchese et al., SIGIR 2015, section 3). Forecasts of a fleet are bound by this. A
compiler of single models (LLVM) would be as fast, but has to compile at each new model; the loop here is compiled once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
from numba import njit

MOST_LEAVES = 32
"""Of a tree: the leaves are bits of one word."""
BLOCK = 512
"""Rows per block: their columns stay in the processor's caches while all trees are evaluated."""

_DE_BRUIJN = 0x077CB531
"""A word whose 32 runs of five bits all differ: times the lowest bit that is set, its first five bits name that bit."""


@dataclass(frozen=True, slots=True)
class Trees:
    """The splits and leaves of all trees of one model, in columns.

    Attributes
    ----------
    ends : int64 array (trees,)
        Where the splits of each tree end; they begin where those of the tree before end.
    features, thresholds, gaps_right, kept : arrays (splits,)
        A value above the threshold goes to the right, and a gap (NaN) where `gaps_right`; then only the leaves in `kept` remain.
    leaves : float64 array (trees, MOST_LEAVES)
        By the name of the leaf's bit.
    """

    ends: npt.NDArray[np.int64]
    features: npt.NDArray[np.int64]
    thresholds: npt.NDArray[np.float32]
    gaps_right: npt.NDArray[np.bool_]
    kept: npt.NDArray[np.uint32]
    leaves: npt.NDArray[np.float64]

    @classmethod
    def of(cls, booster: lightgbm.Booster) -> Trees:
        """Take a trained model apart.

        Raises
        ------
        ValueError
            When a tree has more leaves than `MOST_LEAVES`, or splits that are not comparisons with a number.
        """
        trees = booster.dump_model()["tree_info"]
        splits: list[tuple[int, float, bool, int]] = []
        ends = []
        leaves = np.zeros((len(trees), MOST_LEAVES))
        for tree, values in zip(trees, leaves, strict=True):
            if tree["num_leaves"] > MOST_LEAVES:
                raise ValueError(f"a tree has {tree['num_leaves']} leaves: at most {MOST_LEAVES} can be evaluated")
            for bit, value in enumerate(_taken_apart(tree["tree_structure"], 0, splits)):
                values[_name(bit)] = value
            ends.append(len(splits))
        features, thresholds, gaps_right, kept = zip(*splits, strict=True) if splits else ((), (), (), ())
        return cls(
            np.array(ends, dtype=np.int64),
            np.array(features, dtype=np.int64),
            np.array([_rounded_down(t) for t in thresholds], dtype=np.float32),
            np.array(gaps_right, dtype=np.bool_),
            np.array(kept, dtype=np.uint32),
            leaves,
        )

    def sums(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
        """The sum over all trees of the leaf that each row falls into, shape (len(rows),)."""
        found = np.zeros(len(rows))
        _add(rows, self.ends, self.features, self.thresholds, self.gaps_right, self.kept, self.leaves, found)
        return found


def _taken_apart(node: dict[str, Any], first: int, splits: list[tuple[int, float, bool, int]]) -> Iterator[float]:
    """The values of the leaves from left to right, the first of which has the bit `first`; adds the splits above them."""
    if "split_feature" not in node:
        yield node["leaf_value"]
        return
    if node["decision_type"] != "<=" or node["missing_type"] not in ("None", "NaN"):
        raise ValueError(f"a split by {node['decision_type']!r} with gaps as {node['missing_type']!r} cannot be evaluated")
    left = list(_taken_apart(node["left_child"], first, splits))
    # Where training saw no gap, LightGBM takes one for 0.
    gap_right = not node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] < 0.0
    struck_out = ((1 << len(left)) - 1) << first
    splits.append((node["split_feature"], node["threshold"], gap_right, ~struck_out & 0xFFFFFFFF))
    yield from left
    yield from _taken_apart(node["right_child"], first + len(left), splits)


def _name(bit: int) -> int:
    return ((1 << bit) * _DE_BRUIJN & 0xFFFFFFFF) >> 27


def _rounded_down(threshold: float) -> np.float32:
    """The largest single-precision number that is not above: values are of that precision, so they compare as with the threshold itself."""
    with np.errstate(over="ignore"):  # splits of gaps from all numbers have thresholds like 1e300
        near = np.float32(threshold)
    return near if float(near) <= threshold else np.float32(np.nextafter(near, np.float32(-np.inf)))


# Compiled by numba, from the types of what it is called with; coverage does not see into it.
@njit(nogil=True, cache=True)
def _add(rows, ends, features, thresholds, gaps_right, kept, leaves, sums):  # type: ignore[no-untyped-def]  # pragma: no cover
    columns = np.empty((rows.shape[1], BLOCK), dtype=np.float32)
    left = np.empty(BLOCK, dtype=np.uint32)
    for begin in range(0, rows.shape[0], BLOCK):
        count = min(BLOCK, rows.shape[0] - begin)
        for i in range(count):
            for f in range(rows.shape[1]):
                columns[f, i] = rows[begin + i, f]
        first = 0
        for tree in range(ends.size):
            left[:] = np.uint32(0xFFFFFFFF)
            for split in range(first, ends[tree]):
                column, threshold, mask = columns[features[split]], thresholds[split], kept[split]
                # Comparisons with a gap are false: one form of the test goes to the left, the other to the right.
                if gaps_right[split]:
                    for i in range(BLOCK):
                        left[i] &= np.uint32(0xFFFFFFFF) if column[i] <= threshold else mask
                else:
                    for i in range(BLOCK):
                        left[i] &= mask if column[i] > threshold else np.uint32(0xFFFFFFFF)
            first = ends[tree]
            values = leaves[tree]
            for i in range(count):
                lowest = left[i] & (~left[i] + np.uint32(1))
                sums[begin + i] += values[np.uint32(lowest * np.uint32(_DE_BRUIJN)) >> np.uint32(27)]
