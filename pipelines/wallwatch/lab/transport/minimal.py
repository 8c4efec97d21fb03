"""Smallest inputs that keep a property: delta debugging of lists, bisection of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def fewest(items: Sequence[T], shows: Callable[[Sequence[T]], bool]) -> list[T]:
    """A sublist that shows the property and of which nothing can be left out (Zeller and Hildebrandt's ddmin).

    `items` itself must show it.

    >>> fewest(range(20), lambda kept: {3, 17} <= set(kept))
    [3, 17]
    """
    kept, pieces = list(items), 2
    if kept and shows([]):
        return []
    while len(kept) >= 2:
        size = -(-len(kept) // pieces)
        starts = range(0, len(kept), size)
        smaller = next(
            (rest for start in starts if (rest := kept[:start] + kept[start + size :]) and shows(rest)),
            None,
        )
        if smaller is not None:
            kept, pieces = smaller, max(pieces - 1, 2)
        elif size == 1:
            break
        else:
            pieces = min(pieces * 2, len(kept))
    return kept


def smallest(least: int, value: int, shows: Callable[[int], bool]) -> int:
    """The smallest number from `least` to `value` that shows the property, if larger ones show it too; `value` shows it.

    >>> smallest(1, 48, lambda number: number >= 12)
    12
    """
    low, high = least, value
    while low < high:
        middle = (low + high) // 2
        if shows(middle):
            high = middle
        else:
            low = middle + 1
    return high
