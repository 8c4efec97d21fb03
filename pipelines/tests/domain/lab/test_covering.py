"""Rows that cover: what is called covered really occurs, what is impossible is given up, and nothing is tried without end."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.covering import GRIDS, Coverage, Grid, Stratum, factor_levels, one_at_a_time, strata, tuples_of
from wallwatch.domain.lab.device import Config, Device, Parameter

from .planted import boolean, choice, device_of, integer, sequence

parameters = st.lists(
    st.sampled_from(
        [
            integer("", 1, 64),
            integer("", 0, 3),
            integer("", 5, 5),
            boolean(""),
            choice("", "a", "b", "c"),
            sequence("", 1, 2, 3),
            sequence("", 1, 2),
        ]
    ),
    min_size=1,
    max_size=6,
).map(lambda several: device_of(*[{**one, "name": f"p{i}"} for i, one in enumerate(several)]))


def rows_of(coverage: Coverage, accept: Any = lambda row, fixed: row, limit: int = 2000) -> list[Config]:
    rows: list[Config] = []
    while (row := coverage.next_row(accept)) is not None:
        rows.append(row)
        coverage.mark(row)
        assert len(rows) < limit
    return rows


def _level(device: Device, parameter: Parameter, grid: Grid, value: Any) -> int | None:
    """The number of a value's level, by a naive reading of the levels."""
    levels = next((levels for one, levels in factor_levels(device, (), grid) if one is parameter), None)
    if levels is None:
        return 0
    for i, level in enumerate(levels):
        if isinstance(level, Stratum):
            if level.low <= value <= level.high:
                return i
        elif level == value or not isinstance(level, int | str | bool | tuple):
            return i
    return None


@settings(derandomize=True, max_examples=25)
@given(parameters, st.integers(1, 3), st.sampled_from(GRIDS), st.integers(0, 99))
def test_every_combination_of_levels_occurs_in_some_row(device: Device, strength: int, grid: Grid, seed: int) -> None:
    coverage = Coverage(device, (), strength, grid, random.Random(seed))
    rows = rows_of(coverage)
    assert coverage.is_complete
    assert all(one.contains(row[one.name]) for row in rows for one in device.parameters)
    varied = factor_levels(device, (), grid)
    assert bool(rows) == bool(varied)
    for several in itertools.combinations(varied, min(strength, len(varied))) if varied else ():
        wanted = set(itertools.product(*(range(len(levels)) for _, levels in several)))
        seen = {tuple(_level(device, one, grid, row[one.name]) for one, _ in several) for row in rows}
        assert wanted <= seen


@settings(derandomize=True, max_examples=20)
@given(st.integers(0, 999))
def test_every_three_ends_occur_with_a_constraint_wherever_they_may(seed: int) -> None:
    device = device_of(*[integer(f"p{i}", 0, 100) for i in range(5)], boolean("on"))

    def accept(row: Config, fixed: Sequence[str]) -> Config | None:
        """p0 and p1 must not both be at their ends above: one that is free is moved."""
        if row["p0"] != 100 or row["p1"] != 100:
            return row
        free = [name for name in ("p0", "p1") if name not in fixed]
        return {**row, free[0]: 0} if free else None

    coverage = Coverage(device, (), 3, "ends", random.Random(seed))
    rows = rows_of(coverage, accept)
    names = [one.name for one in device.parameters]
    for three in itertools.combinations(names, 3):
        seen = {tuple(row[name] for name in three) for row in rows}
        for values in itertools.product(*((False, True) if name == "on" else (0, 100) for name in three)):
            asked = dict(zip(three, values, strict=True))
            possible = not (asked.get("p0") == asked.get("p1") == 100)
            assert (values in seen) == possible, (three, values)
    assert coverage.is_complete


def test_where_nothing_is_accepted_there_is_no_row_and_no_endless_search() -> None:
    device = device_of(*[integer(f"p{i}", 0, 100) for i in range(6)])
    coverage = Coverage(device, (), 2, "parts", random.Random(1))
    assert coverage.next_row(lambda row, fixed: None) is None
    assert coverage.is_complete


def test_integers_whose_ends_are_not_needed_take_values_between_them() -> None:
    """A window of one parameter that matters only together with two others shows neither at ends nor in pairs."""
    device = device_of(*[integer(f"p{i}", 0, 1000) for i in range(4)], *[boolean(f"on{i}") for i in range(8)])
    coverage = Coverage(device, (), 3, "ends", random.Random(1))
    rows = rows_of(coverage)
    between = sum(0 < row[f"p{i}"] < 1000 for row in rows for i in range(4))  # type: ignore[operator]
    assert between >= 3
    device = device_of(*[integer(f"p{i}", 0, 1000) for i in range(4)])
    rows = rows_of(Coverage(device, (), 4, "ends and inside", random.Random(1)))
    assert any(all(0 < row[f"p{i}"] < 1000 for i in range(4)) for row in rows)  # type: ignore[operator]


def test_pairs_need_few_rows() -> None:
    device = device_of(*[boolean(f"p{i}") for i in range(12)])
    assert len(rows_of(Coverage(device, (), 2, "ends", random.Random(1)))) <= 12


def test_the_same_seed_gives_the_same_rows() -> None:
    device = device_of(*[integer(f"p{i}", 0, 1000) for i in range(5)], sequence("order", 1, 2, 3, 4))
    first, again, other = (rows_of(Coverage(device, (), 2, "parts", random.Random(seed))) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_only_the_parameters_that_were_asked_for_vary() -> None:
    device = device_of(*[integer(f"p{i}", 0, 1000) for i in range(5)])
    for row in rows_of(Coverage(device, ("p1", "p3"), 2, "parts", random.Random(1))):
        assert {name for name in row if row[name] != device.default[name]} <= {"p1", "p3"}


def test_a_device_that_nothing_varies_has_nothing_to_cover() -> None:
    device = device_of(integer("a", 5, 5), choice("b", "x"))
    coverage = Coverage(device, (), 2, "parts", random.Random(1))
    assert coverage.is_complete
    assert list(one_at_a_time(device, ())) == []


@settings(derandomize=True)
@given(parameters, st.integers(1, 3), st.sampled_from(GRIDS))
def test_combinations_are_counted_before_they_are_made(device: Device, strength: int, grid: Grid) -> None:
    assert tuples_of(device, (), strength, grid) == Coverage(device, (), strength, grid, random.Random(1)).tuples


@settings(derandomize=True, max_examples=200)
@given(st.integers(-50, 50), st.integers(0, 400), st.integers(1, 9), st.booleans())
def test_each_value_of_an_integer_belongs_to_one_stratum(low: int, steps: int, step: int, logarithmic: bool) -> None:
    parameter = Parameter("a", "integer", minimum=low, maximum=low + steps * step, step=step, logarithmic=logarithmic)
    levels = strata(parameter)
    for value in range(low, parameter.maximum + 1, step):
        holding = [one for one in levels if (one.low <= value <= one.high if isinstance(one, Stratum) else one == value)]
        assert len(holding) == 1, (value, levels)


@pytest.mark.parametrize("kind", ["integer", "boolean", "choice", "sequence"])
def test_one_at_a_time_changes_one_parameter_to_each_of_its_other_ends(kind: str) -> None:
    tried = {"integer": integer("a", 1, 9), "boolean": boolean("a"), "choice": choice("a", 1, 2, 3), "sequence": sequence("a", 1, 2, 3)}[
        kind
    ]
    device = device_of(tried, integer("fixed", 3, 3))
    rows = list(one_at_a_time(device, ()))
    assert [row["a"] for row in rows] == {"integer": [9], "boolean": [True], "choice": [2, 3], "sequence": [(3, 2, 1)]}[kind]
    assert all(row["fixed"] == 3 for row in rows)
