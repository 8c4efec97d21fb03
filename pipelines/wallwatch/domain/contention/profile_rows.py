"""Reads blank-separated measurements and says which row and column cannot be one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from wallwatch.domain.contention.profile_columns import Column

MOST_SHOWN = 20
_LARGEST_SPREAD = 50.0
"""Throughput of one function on one card: contention takes at most 62% (Yala, figure 1), traffic a factor of a few."""
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
_DISJOINT = 1.5
"""Factor between all values of a counter in two profiles of one function from which on they are not the same counter: benches overlap."""
_NEIGHBOURS, _LARGEST_STEP = 7, 5.0
"""Rows with the most similar traffic, and the factor by which contention (2.6 at most) and a little other traffic may move throughput."""
_WRITE_PAIRS = (("l2_reads", "l2_writes"), ("memory_reads", "memory_writes"))


Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Problem:
    """`row` and `column` count from 1; None where the whole file is meant."""

    message: str
    row: int | None = None
    column: int | None = None
    name: str = ""

    def __str__(self) -> str:
        where = "" if self.row is None else f"row {self.row}"
        if self.column is not None:
            where = f"{where}{', ' if where else ''}column {self.column} ({self.name})"
        return f"{where}: {self.message}" if where else self.message


class BadProfile(ValueError):
    """Measurements that cannot be used; all problems of one file."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        lines = [f"{file}: {problem}" for problem in problems[:MOST_SHOWN]]
        if len(problems) > MOST_SHOWN:
            lines.append(f"{file}: and {len(problems) - MOST_SHOWN} more problems")
        super().__init__("\n".join(lines))
        self.problems = tuple(problems)


def read(text: str, columns: Sequence[Column], file: str) -> Array:
    """Rows of numbers, shape (rows, len(columns)). Empty lines are skipped.

    Raises
    ------
    BadProfile
        With every bad value, by row and column.
    """
    problems: list[Problem] = []
    rows: list[list[float]] = []
    numbers: list[int] = []
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if not line.strip():
            continue
        values, found = _values(line.split(), columns, number)
        problems += found
        if not found:
            rows.append(values)
            numbers.append(number)
    if not rows and not problems:
        problems.append(Problem("there are no rows"))
    if not problems:
        problems = [*_across_columns(rows, columns, numbers), *_across_rows(rows, columns, numbers)]
    if problems:
        raise BadProfile(file, problems)
    return np.array(rows, dtype=float)


def _values(words: Sequence[str], columns: Sequence[Column], row: int) -> tuple[list[float], list[Problem]]:
    if len(words) != len(columns):
        wanted = ", ".join(column.name for column in columns)
        return [], [Problem(f"{len(words)} columns, but {len(columns)} are required: {wanted}", row)]
    values, problems = [], []
    for at, (word, column) in enumerate(zip(words, columns, strict=True), 1):
        value = number_of(word)
        if value is None:
            advice = "; the file has no header" if row == 1 else ""
            problems.append(Problem(f"{word[:40]!r} is not a number{advice}", row, at, column.name))
            continue
        if message := _implausible(value, column):
            problems.append(Problem(message, row, at, column.name))
        values.append(value)
    return values, problems


def number_of(word: str) -> float | None:
    """The number that a word is, as measuring programs print them; None for words that only Python takes for numbers.

    >>> number_of("-1.5e3"), number_of("nan"), number_of("1_000"), number_of("\uff11")
    (-1500.0, nan, None, None)
    """
    return float(word) if _NUMBER.fullmatch(word) else None


def _implausible(value: float, column: Column) -> str | None:
    if not isfinite(value):
        return f"{value} is not a measurement: leave the row out"
    if value == 0 and column.zero_allowed:
        return None
    if not column.low <= value <= column.high:
        unit = f" {column.unit}" if column.unit else ""
        return f"{value:g} is outside of {column.low:g} to {column.high:g}{unit} ({column.hint}): wrong unit, or columns in another order"
    return None


def _across_columns(rows: Sequence[Sequence[float]], columns: Sequence[Column], numbers: Sequence[int]) -> list[Problem]:
    """Values that are possible alone, but not together."""
    place = {column.name: at for at, column in enumerate(columns)}
    if "memory_reads" not in place:
        return []
    problems = []
    for row, number in zip(rows, numbers, strict=True):
        reads, writes, instructions = (row[place[name]] for name in ("memory_reads", "memory_writes", "instructions"))
        at = place["instructions"] + 1
        if reads + writes > instructions:
            message = (
                f"{instructions:g} instructions/s cannot do {reads + writes:g} memory accesses/s: wrong unit, or columns in another order"
            )
            problems.append(Problem(message, number, at, "instructions"))
        l2 = row[place["l2_reads"]] + row[place["l2_writes"]]
        if l2 > reads + writes:
            message = f"{l2:g} L2 accesses/s exceed {reads + writes:g} memory accesses/s, which cause them: columns in another order"
            problems.append(Problem(message, number, place["l2_reads"] + 1, "l2_reads"))
        for name, cause in (("ipc", "instructions"), ("working_set_mb", "l2_reads")):
            if row[place[name]] == 0 and row[place[cause]] > 0:
                message = f"0, although there are {row[place[cause]]:g} {cause}/s: leave the row out, or measure it"
                problems.append(Problem(message, number, place[name] + 1, name))
    for first, second in _WRITE_PAIRS:
        more = [number for row, number in zip(rows, numbers, strict=True) if row[place[second]] > row[place[first]]]
        if 2 * len(more) > len(rows):
            message = f"more than {first} in {len(more)} of {len(rows)} rows: the two columns are probably swapped"
            problems.append(Problem(message, more[0], place[second] + 1, second))
    return problems


def _across_rows(rows: Sequence[Sequence[float]], columns: Sequence[Column], numbers: Sequence[int]) -> list[Problem]:
    """Throughputs that differ from the other rows' by more than contention and traffic can explain."""
    last = len(columns) - 1
    if columns[last].name != "throughput_kpps":
        return []
    values = [row[last] for row in rows]
    middle = float(np.median(values))
    problems = [
        Problem(
            f"{value:g} is {max(value / middle, middle / value):.0f} times away from the median {middle:g} kpps: wrong unit in this row",
            number,
            last + 1,
            columns[last].name,
        )
        for value, number in zip(values, numbers, strict=True)
        if max(value / middle, middle / value) > _LARGEST_SPREAD / 2
    ]
    if not problems and max(values) / min(values) > _LARGEST_SPREAD:
        message = f"values from {min(values):g} to {max(values):g}: mixed units, or columns in another order"
        problems.append(Problem(message, numbers[values.index(max(values))], last + 1, columns[last].name))
    return problems or _unlike_neighbours(rows, columns, numbers)


def _unlike_neighbours(rows: Sequence[Sequence[float]], columns: Sequence[Column], numbers: Sequence[int]) -> list[Problem]:
    """Throughputs of memory profiles that cannot be those of their traffic; matches, which other rows have, would explain more."""
    if columns[0].name != "flows" or len(rows) <= _NEIGHBOURS:
        return []
    last = len(columns) - 1
    table = np.array(rows, dtype=float)
    rates, traffic = table[:, last], np.log(table[:, :2])
    if len(np.unique(rates)) == 1 and len(np.unique(table[:, 1])) > len(rows) // 2:
        message = f"{rates[0]:g} in all rows, while {columns[1].name} differs in nearly all: the two columns are probably swapped"
        return [Problem(message, numbers[0], last + 1, columns[last].name)]
    problems = []
    for at, number in enumerate(numbers):
        apart = np.abs(traffic - traffic[at]).sum(axis=1)
        apart[at] = np.inf
        similar = float(np.median(rates[np.argsort(apart, kind="stable")[:_NEIGHBOURS]]))
        ratio = max(rates[at] / similar, similar / rates[at])
        if ratio > _LARGEST_STEP:
            message = f"{rates[at]:g} is {ratio:.0f} times away from the median {similar:g} kpps of rows with similar traffic"
            problems.append(Problem(f"{message}: measure it again, or leave the row out", number, last + 1, columns[last].name))
    return problems


def same_counters(rows: Array, others: Array, columns: Sequence[Column], file: str, other_file: str) -> None:
    """Check that two profiles of one function have their counters in the same columns and units.

    Raises
    ------
    BadProfile
        When the values of a counter in the one file all lie above those in the other.
    """
    problems = []
    for at, column in enumerate(columns):
        mine, theirs = (values[values > 0] for values in (rows[:, at], others[:, at]))
        if not column.zero_allowed or not len(mine) or not len(theirs):
            continue
        if mine.min() > _DISJOINT * theirs.max() or theirs.min() > _DISJOINT * mine.max():
            message = f"{mine.min():g} to {mine.max():g}, but {theirs.min():g} to {theirs.max():g} in {other_file}: another unit or order"
            problems.append(Problem(message, None, at + 1, column.name))
    if problems:
        raise BadProfile(file, problems)
