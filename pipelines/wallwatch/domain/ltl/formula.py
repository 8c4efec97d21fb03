"""Formulas as they are written: a tree of immutable nodes, printed with every bracket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

UNARY = frozenset({"!", "X", "F", "G"})
BINARY = frozenset({"&", "|", "->", "<->", "U", "W", "R"})


@dataclass(frozen=True, slots=True)
class Formula:
    """`operator` is one of UNARY or BINARY, `prop` (then `name` is set), `true` or `false`."""

    operator: str
    operands: tuple[Formula, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        if self.operator == "prop":
            return self.name
        if not self.operands:
            return self.operator
        if len(self.operands) == 1:
            space = "" if self.operator == "!" else " "
            return f"{self.operator}{space}{_bracketed(self.operands[0])}"
        return f" {self.operator} ".join(_bracketed(operand) for operand in self.operands)

    def propositions(self) -> list[str]:
        """Names of the propositions, sorted."""
        return sorted({node.name for node in self.nodes() if node.operator == "prop"})

    def nodes(self) -> Iterator[Formula]:
        """Every node, parents before their operands."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.operands)

    def conjuncts(self) -> list[Formula]:
        """The parts of a conjunction; the formula itself if it is not a conjunction.

        Parts may be monitored one by one, and false dominates. That can conclude later than the whole: of `X a & X !a` neither part is
        false before the second step, although both together are false from the start.
        """
        if self.operator != "&":
            return [self]
        return [part for operand in self.operands for part in operand.conjuncts()]


def _bracketed(formula: Formula) -> str:
    return str(formula) if not formula.operands or formula.operator == "!" else f"({formula})"
