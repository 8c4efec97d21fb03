"""Counters of the functions that compete for the memory subsystem, and their sum (Yala, section 5.1.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

COUNTER_NAMES = ("ipc", "instructions", "l2_reads", "l2_writes", "memory_reads", "memory_writes", "working_set_mb")


class Counters(NamedTuple):
    """Of the **competitors** of a function, not of itself: the profiles' columns are read wrongly otherwise."""

    ipc: float
    """Instructions per cycle."""
    instructions: float
    """Retired per second."""
    l2_reads: float
    """Per second, as all below but the last."""
    l2_writes: float
    memory_reads: float
    memory_writes: float
    working_set_mb: float


NONE = Counters(0, 0, 0, 0, 0, 0, 0)


def total(competitors: Iterable[Sequence[float]]) -> Counters:
    """What several competitors do together: rates and working sets add up, and so do their cycles.

    >>> total([Counters(2, 2e9, 1, 1, 1, 1, 3), Counters(1, 1e9, 1, 1, 1, 1, 4)]).ipc
    1.5
    """
    rows = [Counters(*row) for row in competitors]
    if not rows:
        return NONE
    instructions = sum(row.instructions for row in rows)
    cycles = sum(row.instructions / row.ipc for row in rows if row.ipc > 0)
    sums = [sum(column) for column in list(zip(*rows, strict=True))[2:]]
    return Counters(instructions / cycles if cycles else 0.0, instructions, *sums)
