"""What is known of a subject after events were lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallwatch.domain.ltl.gaps import widened
from wallwatch.domain.ltl.limits import TooComplex
from wallwatch.domain.ltl.monitor import compiled

FORMULAS = ["G(a -> X b)", "!b W a", "(a -> X b) & (!b U a)", "G(a -> X(!a W b))", "F a & G b", "a U b", "G F a", "true"]


@given(st.sampled_from(FORMULAS), st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12))
def test_a_gap_never_makes_a_verdict_up(formula: str, word: list[tuple[int, bool]]) -> None:
    monitor = compiled(formula)
    machine = widened(monitor)
    letters = len(monitor.propositions)
    state, wide = 0, 0
    for number, lost in word:
        letter = number % (1 << letters)
        state = monitor.next(state, letter)
        wide = machine.gap[wide] if lost else machine.table[wide][letter]
        if machine.verdicts[wide] != "?":
            assert machine.verdicts[wide] == monitor.verdicts[state]
        if machine.known[wide]:
            assert machine.verdicts[wide] == monitor.verdicts[state]


@pytest.mark.parametrize("formula", FORMULAS)
def test_without_gaps_it_is_the_monitor_itself(formula: str) -> None:
    monitor = compiled(formula)
    machine = widened(monitor)
    pairs = {(0, 0)}
    waiting = [(0, 0)]
    while waiting:
        state, wide = waiting.pop()
        assert machine.known[wide]
        assert machine.verdicts[wide] == monitor.verdicts[state]
        assert machine.retired[wide] == (state in monitor.hopeless)
        for letter in range(1 << len(monitor.propositions)):
            pair = (monitor.next(state, letter), machine.table[wide][letter])
            if pair not in pairs:
                pairs.add(pair)
                waiting.append(pair)


def test_events_determine_the_state_again() -> None:
    machine = widened(compiled("G(a -> X b)"))
    lost = machine.gap[0]
    assert not machine.known[lost]
    assert machine.verdicts[lost] == "?"
    # Without the violation that the gap may hide: a step without a asks for nothing, whatever was before it.
    assert machine.verdicts[machine.table[lost][0]] == "?"


def test_what_was_concluded_stays_concluded() -> None:
    machine = widened(compiled("G(a -> X b)"))
    violated = machine.table[machine.table[0][1]][0]
    assert machine.verdicts[violated] == "F"
    assert machine.gap[violated] == violated


def test_too_many_possibilities_are_an_error() -> None:
    with pytest.raises(TooComplex, match="possible states"):
        widened(compiled("G(a -> X X X X b)"), most_states=20)
