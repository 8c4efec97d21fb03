"""Which nodes of a graph begin an infinite path that puts nothing off for ever."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from wallwatch.domain.ltl.limits import Budget

Node = TypeVar("Node", bound=Hashable)


class FairPaths(Generic[Node]):
    """`edges(node)` gives `(next node, what the edge puts off)`, the latter as a bit mask.

    Tarjan's components, decided as they are closed: a component has a fair path when it leads to one that has, or when it has a cycle
    and nothing is put off on all of its edges.
    """

    def __init__(self, edges: Callable[[Node], Sequence[tuple[Node, int]]], budget: Budget) -> None:
        self._edges, self._budget = edges, budget
        self._known: dict[Node, bool] = {}

    def begin_at(self, start: Node) -> bool:
        """Whether such a path starts at this node."""
        if start not in self._known:
            self._explore(start)
        return self._known[start]

    def _explore(self, start: Node) -> None:
        index: dict[Node, int] = {}
        low: dict[Node, int] = {}
        stack: list[Node] = []
        calls: list[tuple[Node, int]] = [(start, 0)]
        while calls:
            node, position = calls.pop()
            if position == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                self._budget.check_states(len(index))
            edges = self._edges(node)
            for offset in range(position, len(edges)):
                following = edges[offset][0]
                if following in self._known:
                    continue
                if following not in index:
                    calls.append((node, offset + 1))
                    calls.append((following, 0))
                    break
                low[node] = min(low[node], index[following])
            else:
                if low[node] == index[node]:
                    self._close(node, stack)
                if calls:
                    parent = calls[-1][0]
                    low[parent] = min(low[parent], low[node])

    def _close(self, root: Node, stack: list[Node]) -> None:
        component: set[Node] = set()
        while root not in component:
            component.add(stack.pop())
        put_off_always, has_cycle, found = -1, False, False
        for member in component:
            for following, put_off in self._edges(member):
                if following in component:
                    has_cycle = True
                    put_off_always &= put_off
                else:
                    found = found or self._known[following]
        found = found or (has_cycle and put_off_always == 0)
        for member in component:
            self._known[member] = found
