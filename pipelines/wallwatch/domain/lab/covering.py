"""Rows that together try every combination of levels of so many parameters, one at a time and around what is known.

A library's covering array is made in one piece. Here each row depends on what the earlier ones showed: rows that a known cause
makes fail show nothing else and do not count, and combinations that only such rows could have are left out.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wallwatch.domain.lab.device import Config, Device, Parameter, Value, as_integer, as_order, is_same

CANDIDATES = 24
MOST_TUPLES = 3_000_000
TRIES_OF_A_PART = 4
"""Random rows that are tried before a part of a combination is taken to be impossible."""
SHUFFLED = object()
STRATA = 4
"""Parts of an integer's range, next to its ends; each row has another value of the part, so that narrow windows are met too."""
Grid = Literal["parts", "ends", "ends and inside"]
"""The levels of an integer: its ends and parts of the range between; the ends only; or the ends and anything between."""
GRIDS: tuple[Grid, ...] = ("parts", "ends", "ends and inside")
Accept = Callable[[Config, Sequence[str]], Config | None]
"""Turns a row into one that may be tested and keeps the values of the named parameters; None if there is none."""


@dataclass(frozen=True)
class Stratum:
    """Some value of an integer between two, both inside."""

    low: int
    high: int


def strata(parameter: Parameter) -> list[object]:
    """Both ends of an integer and parts of the range between."""
    ends = {parameter.minimum, parameter.maximum}
    if parameter.size <= STRATA + len(ends):
        return [*range(parameter.minimum, parameter.maximum + 1, parameter.step)]
    cuts = [parameter.between(parameter.minimum, parameter.maximum, i / STRATA) for i in range(STRATA + 1)]
    parts: list[object] = []
    for low, high in itertools.pairwise(cuts):
        first = low + parameter.step
        last = high - parameter.step if high == parameter.maximum else high
        if first <= last:
            parts.append(Stratum(first, last))
    return [*sorted(ends), *parts]


def integer_levels(parameter: Parameter, grid: Grid) -> list[object]:
    """The levels of an integer on a grid."""
    if grid == "parts":
        return strata(parameter)
    ends: list[object] = [*sorted({parameter.minimum, parameter.maximum})]
    if grid == "ends" or parameter.size <= len(ends):
        return ends
    return [*ends, Stratum(parameter.minimum + parameter.step, parameter.maximum - parameter.step)]


def factor_levels(device: Device, only: Sequence[str], grid: Grid) -> list[tuple[Parameter, list[object]]]:
    """The levels of each parameter: of an integer by the grid; all values of a choice; the default order, its reverse and another."""
    found: list[tuple[Parameter, list[object]]] = []
    for one in device.parameters:
        default = device.default[one.name]
        levels: list[object]
        if only and one.name not in only:
            continue
        if one.kind == "integer":
            levels = integer_levels(one, grid)
        elif one.kind == "sequence":
            order = as_order(default)
            levels = [order, order[::-1], SHUFFLED] if len(order) > 2 else [order, order[::-1]]
        else:
            levels = list(one.values)
        if len(levels) > 1:
            found.append((one, levels))
    return found


class Coverage:
    """Which combinations of `strength` levels have been seen in rows that show the whole device."""

    def __init__(self, device: Device, only: Sequence[str], strength: int, grid: Grid, rng: random.Random) -> None:
        self._device = device
        self._rng = rng
        self._factors = factor_levels(device, only, grid)
        self.strength = min(strength, len(self._factors))
        counts = np.array([len(levels) for _, levels in self._factors], dtype=np.int64)
        combinations = list(itertools.combinations(range(len(self._factors)), self.strength)) if self._factors else []
        self._sets = np.array(combinations, dtype=np.int64).reshape(len(combinations), self.strength)
        sizes = counts[self._sets] if len(self._sets) else np.zeros((0, self.strength), dtype=np.int64)
        self._strides = np.ones_like(sizes)
        for i in range(self.strength - 2, -1, -1):
            self._strides[:, i] = self._strides[:, i + 1] * sizes[:, i + 1]
        # A row's combinations are its product with this matrix plus the offsets. A product is below MOST_TUPLES, so 32-bit floating point
        # is exact (below 2**24), and ten times as fast as integers or 64 bits.
        self._matrix = np.zeros((len(self._factors), len(self._sets)), dtype=np.float32)
        for i in range(self.strength):
            self._matrix[self._sets[:, i], np.arange(len(self._sets))] = self._strides[:, i]
        self._with_factor = [np.flatnonzero(self._matrix[i]) for i in range(len(self._factors))]
        self._belongs = (self._matrix != 0).astype(np.float32)
        lengths = sizes.prod(axis=1)
        self._offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else np.zeros(0, dtype=np.int64)
        self.tuples = int(lengths.sum())
        self._open = np.ones(self.tuples, dtype=bool)
        self._counts = counts

    @property
    def is_complete(self) -> bool:
        return not self._open.any()

    def _combinations(self, row: np.ndarray) -> np.ndarray:
        """The combinations of one row whose values are levels; -1 in the row where they are not."""
        index: np.ndarray = self._whole(row[None, :])[0]
        return index if (row >= 0).all() else index[(row[self._sets] >= 0).all(axis=1)]

    def _whole(self, rows: np.ndarray) -> np.ndarray:
        """The combinations of rows that consist of levels; shape (rows, sets)."""
        return (rows.astype(np.float32) @ self._matrix).astype(np.int64) + self._offsets

    def _encode(self, config: Config) -> np.ndarray:
        row = np.full(len(self._factors), -1, dtype=np.int64)
        for i, (parameter, levels) in enumerate(self._factors):
            value = config[parameter.name]
            row[i] = _level_of(value, levels)
        return row

    def mark(self, config: Config) -> None:
        """This configuration was seen whole."""
        if self.tuples:
            self._open[self._combinations(self._encode(config))] = False

    def next_row(self, accept: Accept) -> Config | None:
        """A row with many combinations that were not seen yet; None when there is no such row."""
        while self._open.any():
            best: Config | None = None
            best_gain = 0
            fixed, target = self._some_open()
            rows, gains = self._candidates(target, fixed)
            for i in np.argsort(-gains, kind="stable")[:6]:
                drawn = self._decode(rows[i], self._needed(rows[i], fixed).tolist())
                config = accept(drawn, [self._factors[j][0].name for j in fixed])
                if config is None:
                    continue
                gain = int(self._open[self._combinations(self._encode(config))].sum())
                if gain > best_gain:
                    best, best_gain = config, gain
                if gain >= gains[i]:
                    break
            if best is not None:
                return best
            self._give_up(fixed, target, accept)
        return None

    def _give_up(self, fixed: np.ndarray, target: np.ndarray, accept: Accept) -> None:
        """Close the smallest part of a combination that no row can have, with everything that contains it."""
        for size in range(1, len(fixed)):
            for part in itertools.combinations(fixed, size):
                if not self._is_possible(np.array(part), target, accept):
                    self._close(part, target)
                    return
        self._close(tuple(fixed), target)

    def _is_possible(self, part: np.ndarray, target: np.ndarray, accept: Accept) -> bool:
        names = [self._factors[j][0].name for j in part]
        for _ in range(TRIES_OF_A_PART):
            row = np.array([self._rng.randrange(int(one)) for one in self._counts])
            row[part] = target[part]
            if accept(self._decode(row, [i in part for i in range(len(self._factors))]), names) is not None:
                return True
        return False

    def _close(self, part: tuple[int, ...], target: np.ndarray) -> None:
        sets = np.flatnonzero(np.isin(self._sets, part).sum(axis=1) == len(part))
        for number in sets:
            shape = self._counts[self._sets[number]]
            levels = tuple(int(target[one]) if one in part else slice(None) for one in self._sets[number])
            begin = int(self._offsets[number])
            self._open[begin : begin + int(shape.prod())].reshape(shape)[levels] = False

    def _some_open(self) -> tuple[np.ndarray, np.ndarray]:
        """A combination that was not seen: the factors of it, and a row with its levels."""
        positions = np.flatnonzero(self._open)
        position = int(positions[self._rng.randrange(len(positions))])
        number = int(np.searchsorted(self._offsets, position, side="right")) - 1
        rest = position - int(self._offsets[number])
        row = np.full(len(self._factors), -1, dtype=np.int64)
        for factor, stride in zip(self._sets[number], self._strides[number], strict=True):
            row[factor], rest = divmod(rest, int(stride))
        return self._sets[number], row

    def _candidates(self, target: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows with a combination that was not seen, the best one improved factor by factor, and how many such combinations each has."""
        generator = np.random.default_rng(self._rng.randrange(2**32))
        rows: np.ndarray = generator.integers(0, self._counts, size=(CANDIDATES, len(self._factors)))
        rows[:, fixed] = target[fixed]
        drawn_gains = self._gain(rows)
        best = rows[int(np.argmax(drawn_gains))].copy()
        index = self._whole(best[None, :])[0]
        for factor in generator.permutation(len(self._factors)):
            if factor in fixed:
                continue
            concerned = self._with_factor[factor]
            moves = (np.arange(self._counts[factor]) - best[factor])[:, None] * self._matrix[factor, concerned].astype(np.int64)
            gains = self._open[index[concerned] + moves].sum(axis=1)
            level = int(np.argmax(gains))
            if gains[level] > gains[best[factor]]:  # a factor that makes no difference keeps the level that it was drawn with
                index[concerned] += moves[level]
                best[factor] = level
        return np.vstack([best[None, :], rows]), np.concatenate([[self._open[index].sum()], drawn_gains])

    def _gain(self, rows: np.ndarray) -> np.ndarray:
        gains: np.ndarray = self._open[self._whole(rows)].sum(axis=1)
        return gains

    def _needed(self, row: np.ndarray, fixed: np.ndarray) -> np.ndarray:
        """Of each factor whether its level belongs to a combination that was not seen yet."""
        needed: np.ndarray = self._belongs @ self._open[self._whole(row[None, :])[0]].astype(np.float32) > 0
        needed[fixed] = True
        return needed

    def _decode(self, row: np.ndarray, needed: Sequence[bool]) -> Config:
        """A configuration with these levels. An integer whose level is not needed takes any value, so that narrow windows are met too."""
        config = dict(self._device.default)
        for i, (number, (parameter, levels)) in enumerate(zip(row, self._factors, strict=True)):
            level = levels[int(number)]
            if parameter.kind == "integer" and not needed[i]:
                config[parameter.name] = parameter.between(parameter.minimum, parameter.maximum, self._rng.random())
            elif isinstance(level, Stratum):
                config[parameter.name] = parameter.between(level.low, level.high, self._rng.random())
            else:
                config[parameter.name] = self._shuffled(parameter) if level is SHUFFLED else level  # type: ignore[assignment]
        return config

    def _shuffled(self, parameter: Parameter) -> tuple[Value, ...]:
        return tuple(self._rng.sample(parameter.values, len(parameter.values)))


def _level_of(value: Value, levels: Sequence[object]) -> int:
    """The number of the level that a value belongs to; -1 for none."""
    for i, level in enumerate(levels):
        if level == value and type(level) is type(value):
            return i
    for i, level in enumerate(levels):
        if level is SHUFFLED or (isinstance(level, Stratum) and level.low <= as_integer(value) <= level.high):
            return i
    return -1


def one_at_a_time(device: Device, only: Sequence[str]) -> Iterator[Config]:
    """The default with one parameter at another of its ends or values."""
    for parameter, levels in factor_levels(device, only, "ends"):
        for level in levels:
            if level is not SHUFFLED and not is_same(level, device.default[parameter.name]):  # type: ignore[arg-type]
                yield {**device.default, parameter.name: level}  # type: ignore[dict-item]


def tuples_of(device: Device, only: Sequence[str], strength: int, grid: Grid) -> int:
    """How many combinations of so many levels there are."""
    counts = [len(levels) for _, levels in factor_levels(device, only, grid)]
    return sum(map(math.prod, itertools.combinations(counts, min(strength, len(counts))))) if counts else 0
