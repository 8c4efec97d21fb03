"""How formulas are parsed, and which mistakes are reported."""

import pytest

from wallwatch.domain.ltl.parse import MAX_DEPTH, MAX_LENGTH, SyntaxProblem, parse


@pytest.mark.parametrize(
    ("text", "bracketed"),
    [
        ("FL_OFFLD", "FL_OFFLD"),
        ("F L_OFFLD", "F L_OFFLD"),
        ("FG a", "FG"),
        ("!a U b", "!a U b"),
        ("X a U b", "(X a) U b"),
        ("a U b U c", "a U (b U c)"),
        ("a W b R c U d", "a W (b R (c U d))"),
        ("a & b U c", "a & (b U c)"),
        ("a | b & c", "a | (b & c)"),
        ("a -> b <-> c", "a -> (b <-> c)"),
        ("a <-> b -> c", "a <-> (b -> c)"),
        ("a -> b | c", "a -> (b | c)"),
        ("G a -> F b", "(G a) -> (F b)"),
        ("a && b || c", "(a & b) | c"),
        ("!(a & true) U false", "!(a & true) U false"),
        ("G(a->X b)", "G (a -> (X b))"),
    ],
)
def test_operators_bind_as_the_grammar_says(text: str, bracketed: str) -> None:
    if text == "FG a":
        with pytest.raises(SyntaxProblem):  # FG is a name, as long as it goes
            parse(text)
        return
    assert str(parse(text)) == bracketed


def test_what_is_printed_reads_back_as_the_same_formula() -> None:
    formula = parse("G(a -> X (b W !c)) <-> !(F d & e | false) R X X a")
    assert parse(str(formula)) == formula


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 0, "the formula ends"),
        ("   ", 0, "the formula ends"),
        ("a &", 3, "the formula ends"),
        ("a b", 2, "'b', where an operator"),
        ("(a | b", 6, "the ) of the bracket at character 1"),
        ("a)", 1, "')'"),
        ("a & §", 4, "'§' is not the start of an operator"),
        ("a - b", 2, "'-' is not the start of an operator"),
        ("a U -> b", 4, "'->'"),
        ("G()", 2, "')'"),
        ("1a", 0, "'1' is not the start of an operator"),
        ("a <-> <-> b", 6, "'<->'"),
    ],
)
def test_a_mistake_is_reported_with_its_position(text: str, position: int, expected: str) -> None:
    with pytest.raises(SyntaxProblem) as raised:
        parse(text)
    assert raised.value.position == position
    assert expected in raised.value.message


@pytest.mark.parametrize(
    "text", ["(" * 5000 + "a" + ")" * 5000, "!" * 5000 + "a", "X " * 5000 + "a", "a U " * 4000 + "a", "a -> " * 3000 + "a"]
)
def test_deep_nesting_is_an_error_and_not_a_crash(text: str) -> None:
    with pytest.raises(SyntaxProblem, match=f"{MAX_DEPTH} levels deep"):
        parse(text)


def test_a_text_beyond_all_measure_is_refused() -> None:
    with pytest.raises(SyntaxProblem, match="20,000 is the maximum"):
        parse("a & " * MAX_LENGTH + "a")


def test_a_long_conjunction_is_no_deep_one() -> None:
    assert len(parse(" & ".join(["a"] * 4000)).conjuncts()) == 4000
