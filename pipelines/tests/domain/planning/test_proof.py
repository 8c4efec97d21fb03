"""The proof against a reference that looks at every packet of a small header space, and the cases that people will ask about."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wallwatch.domain.masks.rules import RuleSet
from wallwatch.domain.planning import overlap
from wallwatch.domain.planning.proof import prove
from wallwatch.domain.planning.region import Budget

BITS = 6
ALL = (1 << BITS) - 1
Rule = tuple[int, int, int]
"""Value, mask, action."""


def rule_set(rules: list[Rule]) -> RuleSet:
    columns = np.array(rules, dtype=np.int64).reshape(-1, 3).T
    masks = columns[1].astype(np.uint64).reshape(-1, 1)
    return RuleSet(columns[0].astype(np.uint64).reshape(-1, 1) & masks, masks, columns[2], np.arange(len(rules), dtype=np.int64))


def decided(rules: list[Rule], packet: int) -> int | None:
    return next((row for row, (value, mask, _) in enumerate(rules) if not (packet ^ value) & mask), None)


def differs(before: list[Rule], after: list[Rule], packet: int, may_miss: list[bool]) -> bool:
    first, second = decided(before, packet), decided(after, packet)
    if second is None:
        return first is not None and not may_miss[first]
    return first is None or before[first][2] != after[second][2]


rules = st.lists(st.tuples(st.integers(0, ALL), st.sampled_from([ALL, 0b111, 0b110011, 0b101010, 0b1, 0]), st.integers(0, 2)), max_size=8)


@st.composite
def changed(draw: st.DrawFn) -> tuple[list[Rule], list[Rule]]:
    """A chain, and the same with some rules moved, left out, made or refined, so that both verdicts are usual."""
    before = draw(rules.filter(bool))
    after = draw(st.permutations(before))[draw(st.integers(0, 1)) :] if draw(st.booleans()) else list(before)
    for value, _, action in draw(st.lists(st.sampled_from(before), max_size=2)):
        after = [(value, ALL, action), *after]
    return before, after + draw(st.sampled_from([[], [], [(0, 0, 1)]]))


@settings(max_examples=80, deadline=None)
@given(pair=changed(), share=st.lists(st.booleans(), min_size=8, max_size=8), smallest=st.sampled_from([0, 256]))
@example(pair=([(0, 1, 0), (1, 1, 0)], [(0, 0, 0)]), share=[False] * 8, smallest=0)
def test_the_verdict_is_that_of_looking_at_every_packet(pair: tuple[list[Rule], list[Rule]], share: list[bool], smallest: int) -> None:
    before, after = pair
    may_miss = share[: len(before)]
    wrong = {packet for packet in range(ALL + 1) if differs(before, after, packet, may_miss)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "SMALLEST_PART", smallest)  # both ways of taking rules apart
        proof = prove(rule_set(before), rule_set(after), may_miss=np.array(may_miss))
    assert proof.verdict == ("different" if wrong else "equivalent")
    if proof.witness is not None:
        value, mask = int(proof.witness.value[0]), int(proof.witness.mask[0])
        assert (proof.witness.before, proof.witness.after) == (decided(before, value), decided(after, value))
        assert {packet for packet in range(ALL + 1) if not (packet ^ value) & mask} <= wrong


ROWS: dict[str, tuple[list[Rule], list[Rule], str]] = {
    "rules that do not overlap, in another order": ([(1, ALL, 0), (2, ALL, 1)], [(2, ALL, 1), (1, ALL, 0)], "equivalent"),
    "overlapping rules with other actions, in another order": ([(1, ALL, 0), (0, 0, 1)], [(0, 0, 1), (1, ALL, 0)], "different"),
    "overlapping rules with the same action, in another order": ([(1, ALL, 1), (0, 0, 1)], [(0, 0, 1), (1, ALL, 1)], "equivalent"),
    "a rule behind one that matches all of its packets": ([(0, 0, 1)], [(0, 0, 1), (1, ALL, 0)], "equivalent"),
    "a rule made of two halves": ([(0, 0, 1)], [(0, 1, 1), (1, 1, 1)], "equivalent"),
    "a rule made of two halves, one with another action": ([(0, 0, 1)], [(0, 1, 1), (1, 1, 0)], "different"),
    "halves that hide a rule together": ([(0, 1, 1), (1, 1, 1), (5, ALL, 0)], [(0, 1, 1), (1, 1, 1)], "equivalent"),
    "a wider rule": ([(4, ALL, 1)], [(4, ALL - 1, 1)], "different"),
    "nothing and nothing": ([], [], "equivalent"),
    "nothing and something": ([], [(0, 0, 1)], "different"),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_equivalent(name: str) -> None:
    before, after, verdict = ROWS[name]
    assert prove(rule_set(before), rule_set(after)).verdict == verdict
    assert prove(rule_set(after), rule_set(before)).verdict == verdict


def test_a_search_that_is_given_up_proves_nothing() -> None:
    halves: list[Rule] = [(0, 1, 1), (1, 1, 1)]
    proof = prove(rule_set([(0, 0, 1)]), rule_set(halves), budget=Budget(1))
    assert (proof.verdict, proof.witness) == ("undecided", None)
    assert "budget" in proof.reason


def test_sets_are_equivalent_only_in_every_order_that_they_may_have() -> None:
    before, after = rule_set([(1, ALL, 0), (0, 0, 1)]), rule_set([(1, ALL, 0), (0, 0, 1)])
    as_it_is, turned = np.array([0, 1]), np.array([1, 0])
    assert prove(before, after, [(as_it_is, as_it_is), (turned, turned)]).verdict == "equivalent"
    proof = prove(before, after, [(as_it_is, as_it_is), (turned, as_it_is)])
    assert proof.verdict == "different"
    assert proof.witness is not None
    assert proof.witness.reading == 1
