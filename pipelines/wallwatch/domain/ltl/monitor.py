"""Formula -> minimal three-valued Moore machine (Bauer, Leucker, Schallhart, TOSEM 2011, section 3).

Automata of the formula and of its negation, without their empty states, are determinised together: while the formula's half has a
state left, some continuation satisfies; while the other half has one, some continuation violates. What is left after a word gives the
verdict, and equivalent states are merged.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from wallwatch.domain.ltl.automaton import Automaton, Step, Steps
from wallwatch.domain.ltl.diagram import Diagrams
from wallwatch.domain.ltl.formula import Formula
from wallwatch.domain.ltl.limits import Budget, Limits, TooComplex
from wallwatch.domain.ltl.parse import parse
from wallwatch.domain.ltl.terms import Terms

MAX_TABLE = 1 << 24
"""Entries of a table over all letters."""


@dataclass(frozen=True)
class Monitor:
    """A minimal Moore machine. State 0 is the initial one; states are numbered by breadth, small letters first.

    `verdicts[state]` is `T` (no continuation can violate), `F` (none can satisfy) or `?`; both are final. `steps[state]` is a diagram
    from letters to the next state. Bit i of a letter is set if proposition i holds.
    """

    formula: Formula
    propositions: tuple[str, ...]
    verdicts: tuple[str, ...]
    steps: tuple[int, ...]
    diagrams: Diagrams

    def letter(self, present: Iterable[str]) -> int:
        """The letter of a set of propositions; names that the formula does not have are ignored."""
        bits = self._bits
        return sum({bits[name] for name in present if name in bits})

    @cached_property
    def _bits(self) -> dict[str, int]:
        return {name: 1 << number for number, name in enumerate(self.propositions)}

    def next(self, state: int, letter: int) -> int:
        """The state after one letter."""
        return cast(int, self.diagrams.at(self.steps[state], letter))

    def run(self, word: Iterable[Iterable[str]]) -> list[str]:
        """The verdict after each step of a word.

        Examples
        --------
        >>> compiled("!FE_CREATE U FL_OFFLD").run([[], ["FL_OFFLD"], ["FE_CREATE"]])
        ['?', 'T', 'T']
        """
        state, found = 0, []
        for present in word:
            state = self.next(state, self.letter(present))
            found.append(self.verdicts[state])
        return found

    def successors(self, state: int) -> list[int]:
        """Each next state once, in the order of the smallest letter that leads there."""
        return [cast(int, self.diagrams.value(leaf)) for leaf in self.diagrams.leaves(self.steps[state])]

    @cached_property
    def hopeless(self) -> frozenset[int]:
        """States with verdict `?` from which neither `T` nor `F` can be reached: a subject there need not be watched any more."""
        known = {state for state, verdict in enumerate(self.verdicts) if verdict != "?"}
        before: dict[int, list[int]] = {}
        for state in range(len(self.verdicts)):
            for following in self.successors(state):
                before.setdefault(following, []).append(state)
        waiting = list(known)
        while waiting:
            for state in before.get(waiting.pop(), ()):
                if state not in known:
                    known.add(state)
                    waiting.append(state)
        return frozenset(range(len(self.verdicts))) - known

    def table(self) -> list[list[int]]:
        """`table[state][letter]`: the next state, for all `2 ** len(propositions)` letters.

        Raises
        ------
        TooComplex
            When the table would have more than MAX_TABLE entries.
        """
        letters = 1 << len(self.propositions)
        if letters * len(self.verdicts) > MAX_TABLE:
            raise TooComplex(
                f"the table of {len(self.verdicts):,} states and {len(self.propositions)} propositions has over {MAX_TABLE:,} entries; "
                "use fewer propositions, or run the monitor on its diagrams"
            )
        return [self._row(step, len(self.propositions)) for step in self.steps]

    def _row(self, diagram: int, count: int) -> list[int]:
        if count == 0:
            return [cast(int, self.diagrams.value(diagram))]
        variable = self.diagrams.variable[diagram]
        if variable < count - 1:
            half = self._row(diagram, count - 1)
            return half + half
        return self._row(self.diagrams.low[diagram], count - 1) + self._row(self.diagrams.high[diagram], count - 1)


def compiled(formula: Formula | str, limits: Limits | None = None) -> Monitor:
    """The monitor of a formula.

    Raises
    ------
    SyntaxProblem
        When a text cannot be read.
    TooComplex
        When a bound is reached.
    """
    if isinstance(formula, str):
        formula = parse(formula)
    limits = limits or Limits()
    propositions = formula.propositions()
    if len(propositions) > limits.propositions:
        raise TooComplex(f"the formula has {len(propositions)} propositions; {limits.propositions} is the maximum")
    budget = Budget(limits)
    return Compiler(formula, propositions, budget).monitor()


class Compiler:
    """One compilation: the two automata share their terms and diagrams."""

    def __init__(self, formula: Formula, propositions: Sequence[str], budget: Budget) -> None:
        self.formula, self.propositions, self._budget = formula, tuple(propositions), budget
        self.diagrams = Diagrams(budget)
        self.terms = Terms(list(propositions))
        self.automaton = Automaton(self.terms, self.diagrams, budget)
        self.for_it = self.automaton.state_of(self.terms.of(formula))
        self.against_it = self.automaton.state_of(self.terms.of(formula, positive=False))
        self._numbers: dict[tuple[int, bool], int] = {}
        self._asking: tuple[dict[int, int], dict[int, int]] = ({}, {})
        """For each half and term the numbers of the states that demand it."""
        self._of_number: list[tuple[int, bool]] = []
        self._against = 0
        self._memos: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._union_memo: dict[tuple[int, int], int] = {}
        self._step_of_set: dict[int, int] = {0: self.diagrams.leaf(0)}

    def monitor(self) -> Monitor:
        """Determinise, then minimise."""
        steps, verdicts = self._determinised()
        return self._minimised(steps, verdicts)

    def _number(self, state: int, against: bool) -> int:
        """The bit of a nonempty state in sets of states."""
        key = (state, against)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._of_number)
            self._of_number.append(key)
            if against:
                self._against |= 1 << number
            asking = self._asking[against]
            for term in bits(state):
                asking[term] = asking.get(term, 0) | 1 << number
            self._budget.check_states(number)
        return number

    def _set_of(self, steps: Iterable[Step], against: bool) -> int:
        found = 0
        for state, _ in steps:
            if self.automaton.nonempty(state):
                found |= 1 << self._number(state, against)
        return found

    def _only_least(self, members: int) -> int:
        """Drop what demands more than another member of its half."""
        halves = (members & ~self._against, members & self._against)
        for against, half in enumerate(halves):
            rest = half if half & (half - 1) else 0
            while rest:
                own = rest & -rest
                rest ^= own
                more = self._demanding_all(own.bit_length() - 1, members & halves[against]) & ~own
                members &= ~more
                rest &= ~more
        return members

    def _demanding_all(self, number: int, members: int) -> int:
        """The members that demand whatever this state demands, and so perhaps more."""
        state, against = self._of_number[number]
        asking = self._asking[against]
        for term in bits(state):
            members &= asking[term]
        return members

    def _step(self, members: int) -> int:
        """Diagram: letter -> set of states. Sets without their highest members are kept, for others begin with them too."""
        missing: list[int] = []
        while members not in self._step_of_set:
            missing.append(members)
            members &= ~(1 << (members.bit_length() - 1))
        found = self._step_of_set[members]
        for larger in reversed(missing):
            found = self.diagrams.combine(_union, self._union_memo, found, self._step_of_number(larger.bit_length() - 1))
            self._step_of_set[larger] = found
        return found

    def _step_of_number(self, number: int) -> int:
        state, against = self._of_number[number]
        step = self.automaton.step_of(state)
        return self.diagrams.mapped(lambda steps: self._set_of(cast(Steps, steps), against), self._memos[against], step)

    def _verdict(self, members: int) -> str:
        if not members & ~self._against:
            return "F"
        return "?" if members & self._against else "T"

    def _determinised(self) -> tuple[list[int], list[str]]:
        start = 0
        if self.automaton.nonempty(self.for_it):
            start |= 1 << self._number(self.for_it, False)
        if self.automaton.nonempty(self.against_it):
            start |= 1 << self._number(self.against_it, True)
        numbers: dict[int, int] = {}
        order: list[int] = []

        def settled(members: Hashable) -> int:
            left = self._only_least(cast(int, members))
            verdict = self._verdict(left)
            key = left if verdict == "?" else (-1 if verdict == "T" else -2)
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(order)
                order.append(key)
                self._budget.check_states(number)
            return number

        settled(start)
        memo: dict[int, int] = {}
        steps: list[int] = []
        for key in order:  # grows while it is walked
            number = len(steps)
            steps.append(self.diagrams.leaf(number) if key < 0 else self.diagrams.mapped(settled, memo, self._step(key)))
        return steps, [self._verdict(key) if key >= 0 else ("T" if key == -1 else "F") for key in order]

    def _minimised(self, steps: list[int], verdicts: list[str]) -> Monitor:
        """Moore's algorithm on diagrams: equal rows are equal numbers."""
        kinds = sorted(set(verdicts))
        classes = [kinds.index(verdict) for verdict in verdicts]
        count = len(kinds)
        while True:
            memo: dict[int, int] = {}
            current = classes

            def change(state: Hashable, current: list[int] = current) -> int:
                return current[cast(int, state)]

            rows = [(classes[state], self.diagrams.mapped(change, memo, step)) for state, step in enumerate(steps)]
            numbers: dict[tuple[int, int], int] = {}
            classes = [numbers.setdefault(row, len(numbers)) for row in rows]
            self._budget.check_time()
            if len(numbers) == count:
                break
            count = len(numbers)
        return self._numbered(steps, verdicts, classes, count)

    def _numbered(self, steps: list[int], verdicts: list[str], classes: list[int], count: int) -> Monitor:
        member = {number: state for state, number in reversed(list(enumerate(classes)))}
        number_of: dict[int, int] = {classes[0]: 0}
        order = [classes[0]]
        for one in order:  # grows while it is walked
            for leaf in self.diagrams.leaves(steps[member[one]]):
                following = classes[cast(int, self.diagrams.value(leaf))]
                if following not in number_of:
                    number_of[following] = len(order)
                    order.append(following)
        memo: dict[int, int] = {}

        def renumber(state: Hashable) -> int:
            return number_of[classes[cast(int, state)]]

        final = [self.diagrams.mapped(renumber, memo, steps[member[one]]) for one in order]
        found = tuple(verdicts[member[one]] for one in order)
        return Monitor(self.formula, self.propositions, found, tuple(final), self.diagrams)


def bits(number: int) -> Iterator[int]:
    """Positions of the bits that are set, the lowest first."""
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1


def _union(a: Hashable, b: Hashable) -> int:
    return cast(int, a) | cast(int, b)
