"""The compiler: sizes and verdicts that are known, and agreement with a naive semantics."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.ltl.formula import Formula
from wallwatch.domain.ltl.limits import Limits, TooComplex
from wallwatch.domain.ltl.monitor import Monitor, compiled
from wallwatch.domain.ltl.parse import parse
from wallwatch_testing.lasso import Lasso, lassos, letters

NAMES = ("a", "b")
ALL = tuple(lassos(NAMES, longest_stem=2, longest_loop=3))


def formulas() -> st.SearchStrategy[Formula]:
    atoms = st.sampled_from([Formula("prop", name="a"), Formula("prop", name="b"), Formula("true"), Formula("false")])

    def larger(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        one = st.builds(lambda op, x: Formula(op, (x,)), st.sampled_from("!XFG"), inner)
        two = st.builds(lambda op, x, y: Formula(op, (x, y)), st.sampled_from(["&", "|", "->", "<->", "U", "W", "R"]), inner, inner)
        return one | two

    return st.recursive(atoms, larger, max_leaves=4)


@settings(max_examples=150)
@given(formulas())
def test_a_verdict_is_what_all_continuations_say(formula: Formula) -> None:
    monitor = compiled(formula)
    truth = {lasso: lasso.satisfies(formula) for lasso in ALL}
    for length in range(3):
        for prefix in product(letters(NAMES), repeat=length):
            outcomes = {held for lasso, held in truth.items() if _begins(lasso, prefix)}
            verdict = _verdict(monitor, prefix)
            if verdict == "T":
                assert outcomes == {True}, prefix
            elif verdict == "F":
                assert outcomes == {False}, prefix
            elif length == 0:
                # Formulas of this size need no longer witness than these words; a verdict that comes too late is a fault as well.
                assert outcomes == {True, False}, prefix


def _begins(lasso: Lasso, prefix: tuple[frozenset[str], ...]) -> bool:
    endless = lasso.stem + lasso.loop * (len(prefix) + 1)
    return endless[: len(prefix)] == prefix


def _verdict(monitor: Monitor, prefix: tuple[frozenset[str], ...]) -> str:
    return [monitor.verdicts[0], *monitor.run(prefix)][-1]


@settings(max_examples=100)
@given(formulas())
def test_no_two_states_of_a_monitor_mean_the_same(formula: Formula) -> None:
    monitor = compiled(formula)
    table = monitor.table()
    count = len(monitor.verdicts)
    different = {(i, j) for i in range(count) for j in range(count) if monitor.verdicts[i] != monitor.verdicts[j]}
    while True:
        more = {
            (i, j)
            for i in range(count)
            for j in range(count)
            if (i, j) not in different and any((x, y) in different for x, y in zip(table[i], table[j], strict=True))
        }
        if not more:
            break
        different |= more
    assert len(different) == count * (count - 1)


@settings(max_examples=100)
@given(formulas())
def test_a_negation_turns_the_verdicts_round(formula: Formula) -> None:
    monitor, opposite = compiled(formula), compiled(Formula("!", (formula,)))
    turned = {"T": "F", "F": "T", "?": "?"}
    assert [turned[verdict] for verdict in monitor.verdicts] == list(opposite.verdicts)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_what_must_be_remembered_for_n_steps_takes_two_to_the_n_states(n: int) -> None:
    assert len(compiled(f"G(a -> {'X ' * n} b)").verdicts) == 2**n + 1
    assert len(compiled(" & ".join(f"F p{i}" for i in range(n))).verdicts) == 2**n


@pytest.mark.parametrize(
    ("formula", "limits", "expected"),
    [
        (f"G(a -> {'X ' * 40} b)", Limits(states=500), "states"),
        (" & ".join(f"F p{i}" for i in range(30)), Limits(nodes=20_000), "nodes"),
        (f"G(a -> {'X ' * 60} b)", Limits(seconds=0.05), "0.05 s"),
        (" & ".join(f"p{i}" for i in range(65)), Limits(), "65 propositions"),
    ],
)
def test_an_exponential_formula_is_an_error_and_no_hang(formula: str, limits: Limits, expected: str) -> None:
    with pytest.raises(TooComplex, match=expected):
        compiled(formula, limits)


@pytest.mark.parametrize(
    "formula",
    [
        " <-> ".join(f"X X a{i}" for i in range(12)),  # sets of thousands of states
        " & ".join(f"(p{i % 40} U p{i // 40})" for i in range(1300)),  # a state that demands a thousand terms
    ],
)
def test_large_sets_are_no_deep_recursion(formula: str) -> None:
    with suppress(TooComplex):
        assert compiled(formula, Limits(seconds=0.5)).verdicts


def test_twelve_propositions_cost_no_4096_columns() -> None:
    names = [f"p{i}" for i in range(12)]
    monitor = compiled(f"G(({' & '.join(names)}) -> X ({' | '.join(names)}))")
    assert len(monitor.verdicts) == 3
    assert len(monitor.diagrams.variable) < 500


@pytest.mark.parametrize(("formula", "verdict"), [("a | !a", "T"), ("X a & X !a", "F"), ("F a | G !a", "T"), ("G F a & F G !a", "F")])
def test_a_formula_without_a_choice_has_its_verdict_before_any_event(formula: str, verdict: str) -> None:
    monitor = compiled(formula)
    assert monitor.verdicts == (verdict,)
    assert monitor.table() == [[0] * 2]


def test_two_untils_that_wait_for_each_other_have_no_word() -> None:
    """Emptiness respects acceptance: each state has a cycle, but none that fulfils both."""
    assert compiled("G(F a & F !a) & F G a").verdicts == ("F",)


@pytest.mark.parametrize(("formula", "hopeless"), [("G F a", 1), ("G(a -> F b)", 1), ("a U b", 0), ("p & X q | G F r", 1), ("G a", 0)])
def test_states_without_hope_of_a_verdict_are_known(formula: str, hopeless: int) -> None:
    assert len(compiled(formula).hopeless) == hopeless


def test_names_that_a_formula_does_not_have_are_ignored() -> None:
    assert compiled("a").run([["b", "a", "a"]]) == ["T"]


class TestThePapersPolicies:
    """ScalaCN, Appendix A and Figure 21: O is an offload, C the creation of an entry."""

    ONCE = "(O -> X C) & (!C U O)"

    def test_figure_21_has_four_states_where_each_step_is_exactly_one_event(self) -> None:
        monitor = compiled(self.ONCE)
        reached = [0]
        for state in reached:
            for letter in ({"O"}, {"C"}):
                following = monitor.next(state, monitor.letter(letter))
                if following not in reached:
                    reached.append(following)
        assert sorted(monitor.verdicts[state] for state in reached) == ["?", "?", "F", "T"]

    def test_over_sets_of_events_it_has_five(self) -> None:
        assert len(compiled(self.ONCE).verdicts) == 5

    def test_an_empty_first_step_makes_the_first_policy_vacuous(self) -> None:
        assert compiled(self.ONCE).run([[], ["O"]]) == ["?", "T"]

    def test_acceptance_once_wants_the_entry_after_the_offload_whenever_that_is(self) -> None:
        monitor = compiled("(!C U O) & (!O U (O & X C))")
        assert monitor.run([[], ["O"], ["C"]]) == ["?", "?", "T"]
        assert monitor.run([[], ["O"], []])[-1] == "F"
        assert monitor.run([[], ["C"]])[-1] == "F"
        assert monitor.run([["O"], ["O"]])[-1] == "F"

    def test_continuous_checking_sees_the_second_offload_too(self) -> None:
        monitor = compiled("G(O -> X C) & (!C U O)")
        assert monitor.run([["O"], ["C"], [], ["O"], ["C"], ["O"], []]) == ["?", "?", "?", "?", "?", "?", "F"]
        assert monitor.run([["C"]]) == ["F"]

    def test_wrapping_the_second_policy_forbids_what_it_should_allow(self) -> None:
        assert parse("G(!C U O)").operator == "G"
        assert compiled("G(O -> X C) & G(!C U O)").run([["O"], ["C"]])[-1] == "F"


def test_parts_of_a_conjunction_can_conclude_later_than_the_whole() -> None:
    formula = parse("X a & X !a")
    assert compiled(formula).verdicts[0] == "F"
    assert [compiled(part).verdicts[0] for part in formula.conjuncts()] == ["?", "?"]


@pytest.mark.parametrize("operator", [" U ", " R "])
def test_a_chain_of_twelve_propositions_has_a_state_for_each_and_a_verdict(operator: str) -> None:
    assert len(compiled(operator.join(f"p{number}" for number in range(12))).verdicts) == 13
