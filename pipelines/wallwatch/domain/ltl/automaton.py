"""Term -> nondeterministic generalised Büchi automaton with acceptance on transitions, and which of its states are empty.

A state is a set of terms that the rest of the word must all satisfy (a bit mask). A step under a letter leads to an antichain of pairs
(terms left for the next state, untils that the step put off): a pair that requires more and postpones more than another is dropped, because
whoever can continue from it can continue from the other. A run accepts when no until is put off for ever (Couvreur, FM 1999).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import cast

from wallwatch.domain.ltl.diagram import LEAF, Diagrams
from wallwatch.domain.ltl.fairness import FairPaths
from wallwatch.domain.ltl.limits import Budget
from wallwatch.domain.ltl.terms import FALSE, TRUE, Terms

Step = tuple[int, int]
"""(terms of the next state, untils put off), both as bit masks over terms."""
Steps = frozenset[Step]
"""An antichain: no step is below another in both parts."""

NOWHERE: Steps = frozenset()
DONE: Steps = frozenset({(0, 0)})
_CHECK_EVERY = 256


def antichain(steps: Iterable[Step], budget: Budget) -> Steps:
    """The minimal steps."""
    kept: list[Step] = []
    for count, (left, put_off) in enumerate(sorted(set(steps), key=lambda step: (step[0] | step[1]).bit_count())):
        if count % _CHECK_EVERY == _CHECK_EVERY - 1:
            budget.check_states(len(kept))
        if not any(k_left & left == k_left and k_off & put_off == k_off for k_left, k_off in kept):
            kept = [k for k in kept if not (left & k[0] == left and put_off & k[1] == put_off)]
            kept.append((left, put_off))
    return frozenset(kept)


class Automaton:
    """States are created on demand; `step_of` is the transition function of one, `edges` its successors."""

    def __init__(self, terms: Terms, diagrams: Diagrams, budget: Budget) -> None:
        self._terms, self._diagrams, self._budget = terms, diagrams, budget
        self._of_term: dict[int, int] = {}
        self._of_state: dict[int, int] = {0: diagrams.leaf(DONE)}
        self._either_memo: dict[tuple[int, int], int] = {}
        self._both_memo: dict[tuple[int, int], int] = {}
        self._edges: dict[int, tuple[Step, ...]] = {}
        self._of_node: dict[int, Steps] = {}
        self.nonempty = FairPaths(self.edges, budget).begin_at
        """Whether some infinite word satisfies all terms of a state."""

    def state_of(self, term: int) -> int:
        """The state that demands one term; a conjunction is divided."""
        found = self._terms.all[term]
        if term == TRUE:
            return 0
        if found.kind == "and":
            return sum(1 << operand for operand in found.operands)
        return 1 << term

    def step_of(self, state: int) -> int:
        """Diagram: letter -> Steps. A state may demand thousands of terms."""
        missing: list[int] = []
        while state not in self._of_state:
            missing.append(state)
            state &= ~(1 << (state.bit_length() - 1))
        found = self._of_state[state]
        for larger in reversed(missing):
            found = self._of_state[larger] = self._both(found, self._step_of_term(larger.bit_length() - 1))
        return found

    def _either(self, a: int, b: int) -> int:
        return self._diagrams.combine(self._either_steps, self._either_memo, a, b)

    def _both(self, a: int, b: int) -> int:
        return self._diagrams.combine(self._both_steps, self._both_memo, a, b)

    def _either_steps(self, a: Hashable, b: Hashable) -> Steps:
        x, y = cast(Steps, a), cast(Steps, b)
        if not x or x == y:
            return y
        return antichain(x | y, self._budget) if y else x

    def _both_steps(self, a: Hashable, b: Hashable) -> Steps:
        x, y = cast(Steps, a), cast(Steps, b)
        if x == DONE or not y:
            return y
        if y == DONE or not x:
            return x
        return antichain(((la | lb, pa | pb) for la, pa in x for lb, pb in y), self._budget)

    def _step_of_term(self, number: int) -> int:
        known = self._of_term.get(number)
        if known is None:
            known = self._of_term[number] = self._make_step(number)
        return known

    def _make_step(self, number: int) -> int:
        diagrams, term = self._diagrams, self._terms.all[number]
        if number in (FALSE, TRUE):
            return diagrams.leaf(DONE if number == TRUE else NOWHERE)
        if term.kind == "literal":
            proposition, present = term.operands
            no, yes = diagrams.leaf(NOWHERE), diagrams.leaf(DONE)
            return diagrams.node(proposition, no, yes) if present else diagrams.node(proposition, yes, no)
        if term.kind == "next":
            return diagrams.leaf(frozenset({(self.state_of(term.operands[0]), 0)}))
        parts = [self._step_of_term(operand) for operand in term.operands]
        if term.kind in ("and", "or"):
            join = self._both if term.kind == "and" else self._either
            result = parts[0]
            for part in parts[1:]:
                result = join(result, part)
            return result
        hold, goal = parts
        bit = 1 << number
        if term.kind == "until":
            return self._either(goal, self._both(hold, diagrams.leaf(frozenset({(bit, bit)}))))
        return self._both(goal, self._either(hold, diagrams.leaf(frozenset({(bit, 0)}))))

    def edges(self, state: int) -> tuple[Step, ...]:
        """The steps that some letter allows, without those that ask for more than another: for emptiness they add nothing."""
        known = self._edges.get(state)
        if known is None:
            known = self._edges[state] = tuple(sorted(self._some_letter(self.step_of(state))))
        return known

    def _some_letter(self, diagram: int) -> Steps:
        """The steps of all letters together. States share their diagrams' nodes, so each is looked at once."""
        known = self._of_node.get(diagram)
        if known is None:
            diagrams = self._diagrams
            if diagrams.variable[diagram] == LEAF:
                known = cast(Steps, diagrams.value(diagram))
            else:
                known = self._either_steps(self._some_letter(diagrams.low[diagram]), self._some_letter(diagrams.high[diagram]))
            self._of_node[diagram] = known
        return known
