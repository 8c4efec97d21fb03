"""What can be monitored, and what a violation looks like."""

import pytest

from wallwatch.domain.ltl.kind import check


@pytest.mark.parametrize(
    ("formula", "name"),
    [
        ("G a", "safety"),
        ("G(a -> X b)", "safety"),
        ("G(a -> " + "X " * 12 + "b)", "safety"),  # its product with the monitor is beyond the bounds, and not needed
        ("!C W O", "safety"),
        ("F a -> G b", "safety"),
        ("F a", "co-safety"),
        ("a U b", "co-safety"),
        ("a -> X b", "safety and co-safety"),
        ("true", "safety and co-safety"),
        ("X a & X !a", "safety and co-safety"),
        ("G(O -> X C) & (!C U O)", "neither safety nor co-safety, but monitorable"),
        ("F a & G b", "neither safety nor co-safety, but monitorable"),
        ("G(a -> F b)", "non-monitorable"),
        ("G F a", "non-monitorable"),
        ("p & X q | G F r", "non-monitorable"),
    ],
)
def test_the_class_of_a_formula(formula: str, name: str) -> None:
    assert check(formula).kind.name == name


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("FL_OFFLD -> X FE_CREATE", "Violated after 2 steps at the earliest: FL_OFFLD, then a step without FE_CREATE."),
        ("!FE_CREATE U FL_OFFLD", "Violated after 1 step at the earliest: FE_CREATE without FL_OFFLD."),
        ("G !(a & b)", "Violated after 1 step at the earliest: a with b."),
        ("X X a", "Violated after 3 steps at the earliest: any step, then any step, then a step without a."),
        ("a | !a", "Nothing can violate it: the formula is valid."),
        ("a & !a", "Everything violates it: no trace can satisfy the formula."),
    ],
)
def test_a_violation_in_words(formula: str, words: str) -> None:
    assert check(formula).words() == words


def test_liveness_without_a_bound_is_explained() -> None:
    assert "No finite trace violates it" in check("G(command -> F answer)").words()


def test_of_a_formula_with_too_many_violations_some_are_listed() -> None:
    parity = " <-> ".join(f"p{i}" for i in range(40))
    found = check(f"X ({parity})")
    assert found.words().startswith("Violated after 2 steps at the earliest: any step, then ")
    assert all(found.monitor.run([[], [name for name, holds in trace[-1] if holds]])[-1] == "F" for trace in found.violations)
