"""Decision diagrams over propositions: functions from letters (sets of propositions) to values, shared and reduced.

A diagram is the number of a node. A node tests one proposition (`variable`), and goes to `low` where it is absent, to `high` where it
is present; variables fall along each path. Equal functions have equal numbers, so that comparing them is free, and a function
of few propositions stays small however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from wallwatch.domain.ltl.limits import Budget

LEAF = -1
_CHECK_EVERY = 1024


class Diagrams:
    """A store of diagrams. Values of leaves are hashable; what they mean is up to the caller."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.variable: list[int] = []
        self.low: list[int] = []
        self.high: list[int] = []
        """For a leaf, `low` and `high` are the index of its value."""
        self._values: list[Hashable] = []
        self._leaves: dict[Hashable, int] = {}
        self._nodes: dict[tuple[int, int, int], int] = {}

    def leaf(self, value: Hashable) -> int:
        """The function that is `value` everywhere."""
        number = self._leaves.get(value)
        if number is None:
            self._values.append(value)
            number = self._leaves[value] = self._add(LEAF, len(self._values) - 1, len(self._values) - 1)
        return number

    def node(self, variable: int, low: int, high: int) -> int:
        """The function that is `low` where the proposition is absent and `high` where it is present."""
        if low == high:
            return low
        key = (variable, low, high)
        number = self._nodes.get(key)
        if number is None:
            number = self._nodes[key] = self._add(variable, low, high)
        return number

    def _add(self, variable: int, low: int, high: int) -> int:
        self.variable.append(variable)
        self.low.append(low)
        self.high.append(high)
        count = len(self.variable)
        if count % _CHECK_EVERY == 0:
            self._budget.check_nodes(count)
        return count - 1

    def value(self, leaf: int) -> Hashable:
        """The value of a leaf."""
        return self._values[self.low[leaf]]

    def at(self, diagram: int, letter: int) -> Hashable:
        """The value for one letter: bit i is proposition i."""
        while self.variable[diagram] != LEAF:
            diagram = self.high[diagram] if letter >> self.variable[diagram] & 1 else self.low[diagram]
        return self.value(diagram)

    def combine(self, merge: Callable[[Hashable, Hashable], Hashable], memo: dict[tuple[int, int], int], a: int, b: int) -> int:
        """The function `merge(a(letter), b(letter))`, for a commutative `merge`; `memo` belongs to that `merge`."""
        if b < a:
            a, b = b, a
        known = memo.get((a, b))
        if known is not None:
            return known
        top_a, top_b = self.variable[a], self.variable[b]
        if top_a == LEAF and top_b == LEAF:
            result = self.leaf(merge(self.value(a), self.value(b)))
        else:
            top = max(top_a, top_b)
            low_a, high_a = (self.low[a], self.high[a]) if top_a == top else (a, a)
            low_b, high_b = (self.low[b], self.high[b]) if top_b == top else (b, b)
            low = self.combine(merge, memo, low_a, low_b)
            result = self.node(top, low, self.combine(merge, memo, high_a, high_b))
        memo[a, b] = result
        return result

    def mapped(self, change: Callable[[Hashable], Hashable], memo: dict[int, int], diagram: int) -> int:
        """The function `change(diagram(letter))`; `memo` belongs to that `change`."""
        known = memo.get(diagram)
        if known is not None:
            return known
        if self.variable[diagram] == LEAF:
            result = self.leaf(change(self.value(diagram)))
        else:
            low = self.mapped(change, memo, self.low[diagram])
            result = self.node(self.variable[diagram], low, self.mapped(change, memo, self.high[diagram]))
        memo[diagram] = result
        return result

    def leaves(self, diagram: int) -> Iterator[int]:
        """Each leaf once, in the order of the smallest letter that leads to it."""
        seen: set[int] = set()
        waiting = [diagram]
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            if self.variable[number] == LEAF:
                yield number
            else:
                waiting.append(self.high[number])
                waiting.append(self.low[number])

    def paths(self, diagram: int, most: int = 4096) -> Iterator[tuple[dict[int, bool], Hashable]]:
        """Paths as `({proposition: present}, value)`, those of small letters first; after `most` one for each new value.

        There can be exponentially many: `a <-> b <-> c ...` over n propositions has 2^n.
        """
        met: set[int] = set()
        waiting: list[tuple[int, dict[int, bool]]] = [(diagram, {})]
        while waiting and most:
            number, asked = waiting.pop()
            variable = self.variable[number]
            if variable == LEAF:
                most -= 1
                met.add(number)
                yield asked, self.value(number)
            else:
                waiting.append((self.high[number], {**asked, variable: True}))
                waiting.append((self.low[number], {**asked, variable: False}))
        seen: set[int] = set()
        waiting = [(diagram, {})] if waiting else []
        while waiting:
            number, asked = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            variable = self.variable[number]
            if variable != LEAF:
                waiting.append((self.high[number], {**asked, variable: True}))
                waiting.append((self.low[number], {**asked, variable: False}))
            elif number not in met:
                yield asked, self.value(number)
