"""Agreement with a second, plain way from a formula to its minimal machine, state by state and letter by letter."""

from __future__ import annotations

from random import Random

import pytest

from wallwatch.domain.ltl.formula import Formula
from wallwatch.domain.ltl.monitor import compiled
from wallwatch.domain.ltl.parse import parse
from wallwatch_testing.elementary import Elementary, machine

MOST_SUBFORMULAS = 6


def formula_of(random: Random, size: int) -> Formula:
    if size <= 1:
        return Formula("prop", name=random.choice("ab")) if random.random() < 0.9 else Formula(random.choice(["true", "false"]))
    if random.random() < 0.4:
        return Formula(random.choice("!XFG"), (formula_of(random, size - 1),))
    left = random.randint(1, size - 1)
    operands = (formula_of(random, left), formula_of(random, max(size - 1 - left, 1)))
    return Formula(random.choice(["&", "|", "->", "<->", "U", "W", "R"]), operands)


@pytest.mark.parametrize("seed", range(4))
def test_random_formulas_have_the_same_minimal_machine_both_ways(seed: int) -> None:
    random = Random(seed)
    compared = 0
    while compared < 40:
        formula = formula_of(random, random.randint(2, 8))
        if Elementary.subformulas(formula) > MOST_SUBFORMULAS:
            continue
        monitor = compiled(str(formula))
        assert (list(monitor.verdicts), monitor.table()) == machine(formula), formula
        compared += 1


@pytest.mark.parametrize(
    "text", ["a -> b <-> a -> b", "a U b W a R b", "(X a | X b) & (X !a | X b)", "G F a & F G !a", "F (a & X (!a & F a))"]
)
def test_a_formula_has_the_same_minimal_machine_both_ways(text: str) -> None:
    monitor = compiled(text)
    assert (list(monitor.verdicts), monitor.table()) == machine(parse(text))
