"""Counters of all RNICs together, over event time: how much more was caused than everybody's counters of the causes show.

What a peer counts names nobody: notifications that a sender handles may come from any receiver, and requests that arrive again from any
requester. But all of them come from somebody. So what the whole fleet counts of an effect, less what it counts of the cause, is what some
RNIC did without counting it, whoever it is.

Counters are known at samples only, which every host takes at times of its own. Between two samples a counter is taken to grow evenly. At
any instant that errs, for one RNIC, by no more than its rate has lately changed, or changes by the next sample: that is the doubt of the
instant. What exceeds the doubts at both ends of a window is certain; what happens between them needs no assumption.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

STEP_MS = 1_000
"""Windows begin and end at whole steps."""

MOST_STEPS = 600
"""Steps that are kept: ten minutes, of which the windows need one or two; hosts whose clocks are ahead take the rest."""

WINDOWS_S = (10, 20, 30, 60)
"""At least the usual interval between samples, at most the window of the contradictions. Short ones show a beginning, long ones what little
exceeds the doubts of a busy fleet."""


class Growth:
    """One counter of one RNIC between two samples: by how much it grew, and by how much its growth per interval has varied lately."""

    __slots__ = ("amount", "change", "column")

    def __init__(self, column: int, amount: float, change: float) -> None:
        self.column = column
        self.amount = amount
        self.change = change


class Unexplained(NamedTuple):
    """What is certain of the last minute."""

    amount: float
    per_s: float
    """The largest of all windows."""


class FleetTotals:
    """Increase of each counter and its doubts, by steps of event time. Columns are the caller's."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._grown: dict[int, list[float]] = {}
        """Step -> increase of each counter within it."""
        self._doubts: dict[int, list[float]] = {}
        """Step -> doubt of each counter at its begin."""
        self._known_from_ms = 0

    def unknown_until(self, at_ms: int) -> None:
        """Some RNIC's counters are not known before `at_ms`: it was not heard, or they were reset."""
        self._known_from_ms = max(self._known_from_ms, at_ms)

    def add(self, from_ms: int, to_ms: int, growths: Iterable[Growth]) -> None:
        """Spread what counters of one RNIC grew by over the time between its samples."""
        first, last = from_ms // STEP_MS, (to_ms - 1) // STEP_MS
        elapsed_ms = max(to_ms - from_ms, 1)
        for growth in growths:
            column, change = growth.column, growth.change
            per_ms = growth.amount / elapsed_ms
            per_step = per_ms * STEP_MS
            for step in range(first, last + 1):
                begin = step * STEP_MS
                if per_ms:
                    row = self._row(self._grown, step)
                    if first < step < last:
                        row[column] += per_step
                    else:
                        row[column] += per_ms * (min(begin + STEP_MS, to_ms) - max(begin, from_ms))
                if change and begin > from_ms:
                    row = self._row(self._doubts, step)
                    row[column] += change

    def _row(self, table: dict[int, list[float]], step: int) -> list[float]:
        row = table.get(step)
        if row is None:
            row = table[step] = [0.0] * self._columns
            if len(table) > MOST_STEPS:
                del table[min(table)]
        return row

    def unexplained(self, effect: int, cause: int, until_ms: int) -> Unexplained | None:
        """How much more of the effect than of its cause was certainly counted, at most a minute before `until_ms`.

        None while no window is known from begin to end.
        """
        until = later = until_ms // STEP_MS
        end = self._doubt(until, effect, cause)
        surplus, amounts, rates = 0.0, [], []
        for seconds in WINDOWS_S:
            begin = until - seconds * 1000 // STEP_MS
            if begin * STEP_MS < self._known_from_ms:
                break
            surplus += sum(self._surplus(step, effect, cause) for step in range(begin, later))
            later = begin
            certain = max(surplus - end - self._doubt(begin, effect, cause), 0.0)
            amounts.append(certain)
            rates.append(certain / seconds)
        return Unexplained(max(amounts), max(rates)) if amounts else None

    def _surplus(self, step: int, effect: int, cause: int) -> float:
        row = self._grown.get(step)
        return row[effect] - row[cause] if row is not None else 0.0

    def _doubt(self, step: int, effect: int, cause: int) -> float:
        row = self._doubts.get(step)
        return row[effect] + row[cause] if row is not None else 0.0
