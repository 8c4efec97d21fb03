"""A second, slow and simple way from a formula to its monitor, for comparison: it shares only the parser with the compiler.

States are sets of subformulas that hold (Baier, Katoen, Principles of Model Checking, 5.2), with one acceptance set for each until; words
are letters one by one; the machine is minimised by splitting classes until none splits any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from wallwatch.domain.ltl.formula import Formula

TRUE = Formula("true")
Table = tuple[list[str], list[list[int]]]
"""Verdict of each state, and its next state for each letter."""


def plain(formula: Formula) -> Formula:
    """With `!`, `&`, X, U and true alone."""
    operands = [plain(operand) for operand in formula.operands]
    match formula.operator:
        case "true" | "prop":
            return formula
        case "false":
            return negated(TRUE)
        case "!":
            return negated(operands[0])
        case "&":
            return Formula("&", tuple(operands))
        case "|":
            return either(*operands)
        case "->":
            return either(negated(operands[0]), operands[1])
        case "<->":
            a, b = operands
            return either(Formula("&", (a, b)), Formula("&", (negated(a), negated(b))))
        case "X" | "U":
            return Formula(formula.operator, tuple(operands))
        case "F":
            return Formula("U", (TRUE, operands[0]))
        case "G":
            return negated(Formula("U", (TRUE, negated(operands[0]))))
        case "W":
            a, b = operands
            return either(Formula("U", (a, b)), negated(Formula("U", (TRUE, negated(a)))))
        case "R":
            a, b = operands
            return negated(Formula("U", (negated(a), negated(b))))
    raise AssertionError(formula.operator)


def negated(formula: Formula) -> Formula:
    return formula.operands[0] if formula.operator == "!" else Formula("!", (formula,))


def either(*formulas: Formula) -> Formula:
    return negated(Formula("&", tuple(negated(formula) for formula in formulas)))


class Elementary:
    """The automaton of all consistent sets of subformulas; it reads words of letters, bit i for proposition i."""

    def __init__(self, formula: Formula) -> None:
        self.formula = plain(formula)
        self.propositions = formula.propositions()
        self._basic = self._free(formula)
        self.states = [state for state in self._assignments() if self._consistent(state)]
        self.after = [[j for j, after in enumerate(self.states) if self._leads(state, after)] for state in self.states]
        names = [Formula("prop", name=name) for name in self.propositions]
        self.letters = [sum(1 << i for i, name in enumerate(names) if state[name]) for state in self.states]
        self.live = self._nonempty()

    @staticmethod
    def _free(formula: Formula) -> list[Formula]:
        """Propositions, and subformulas X and U: these may hold or not, all others follow."""
        basic = {node for node in plain(formula).nodes() if node.operator in ("prop", "X", "U")}
        return sorted(basic | {Formula("prop", name=name) for name in formula.propositions()}, key=lambda node: (len(str(node)), str(node)))

    @classmethod
    def subformulas(cls, formula: Formula) -> int:
        """The automaton has two to this many states at most."""
        return len(cls._free(formula))

    def _assignments(self) -> Iterable[dict[Formula, bool]]:
        for values in product((False, True), repeat=len(self._basic)):
            yield dict(zip(self._basic, values, strict=True))

    def holds(self, formula: Formula, state: dict[Formula, bool]) -> bool:
        if formula.operator == "true":
            return True
        if formula.operator == "!":
            return not self.holds(formula.operands[0], state)
        if formula.operator == "&":
            return all(self.holds(operand, state) for operand in formula.operands)
        return state[formula]

    def _untils(self) -> list[Formula]:
        return [node for node in self._basic if node.operator == "U"]

    def _consistent(self, state: dict[Formula, bool]) -> bool:
        for until in self._untils():
            hold, goal = (self.holds(operand, state) for operand in until.operands)
            if (goal and not state[until]) or (state[until] and not goal and not hold):
                return False
        return True

    def _leads(self, state: dict[Formula, bool], after: dict[Formula, bool]) -> bool:
        for node in self._basic:
            if node.operator == "X" and state[node] != self.holds(node.operands[0], after):
                return False
            if node.operator == "U":
                hold, goal = (self.holds(operand, state) for operand in node.operands)
                if state[node] != (goal or (hold and after[node])):
                    return False
        return True

    def _nonempty(self) -> set[int]:
        """States with an accepting run: those that reach a cycle on which each until is fulfilled or not asked for."""
        count = len(self.states)
        reach = [0] * count
        for state in range(count):
            seen, waiting = 0, list(self.after[state])
            while waiting:
                one = waiting.pop()
                if not seen >> one & 1:
                    seen |= 1 << one
                    waiting += self.after[one]
            reach[state] = seen
        accepting = [
            sum(1 << i for i, state in enumerate(self.states) if not state[until] or self.holds(until.operands[1], state))
            for until in self._untils()
        ]
        fair = 0
        for state in range(count):
            if reach[state] >> state & 1:
                component = sum(1 << other for other in range(count) if reach[state] >> other & 1 and reach[other] >> state & 1)
                if all(component & some for some in accepting):
                    fair |= 1 << state
        return {state for state in range(count) if (reach[state] | 1 << state) & fair}

    def begin(self, positive: bool) -> frozenset[int]:
        return frozenset(i for i in self.live if self.holds(self.formula, self.states[i]) == positive)

    def step(self, states: frozenset[int], letter: int) -> frozenset[int]:
        return frozenset(after for state in states if self.letters[state] == letter for after in self.after[state] if after in self.live)


def machine(formula: Formula) -> Table:
    """The minimal machine, numbered by breadth, small letters first."""
    automaton = Elementary(formula)
    letters = range(1 << len(automaton.propositions))
    start = (automaton.begin(True), automaton.begin(False))
    numbers, order, table = {start: 0}, [start], []
    for pair in order:  # grows while it is walked
        row = []
        for letter in letters:
            after = (automaton.step(pair[0], letter), automaton.step(pair[1], letter))
            if after not in numbers:
                numbers[after] = len(order)
                order.append(after)
            row.append(numbers[after])
        table.append(row)
    return minimal(["?" if yes and no else "T" if yes else "F" for yes, no in order], table)


def minimal(verdicts: list[str], table: list[list[int]]) -> Table:
    classes: list[object] = list(verdicts)
    while True:
        rows = [(classes[state], *(classes[after] for after in row)) for state, row in enumerate(table)]
        numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
        finer = [numbers[row] for row in rows]
        if len(numbers) == len(set(classes)):
            break
        classes = list(finer)
    order, place, found = [0], {classes[0]: 0}, []
    for state in order:  # grows while it is walked
        row = []
        for after in table[state]:
            if classes[after] not in place:
                place[classes[after]] = len(order)
                order.append(after)
            row.append(place[classes[after]])
        found.append(row)
    return [verdicts[state] for state in order], found
