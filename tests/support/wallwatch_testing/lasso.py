"""A naive semantics to test against: LTL on words that repeat a loop for ever, evaluated position by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from wallwatch.domain.ltl.formula import Formula

Letter = frozenset[str]


@dataclass(frozen=True)
class Lasso:
    """`stem` once, then `loop` again and again; the loop has at least one letter."""

    stem: tuple[Letter, ...]
    loop: tuple[Letter, ...]

    def satisfies(self, formula: Formula) -> bool:
        return _values(formula, self.stem + self.loop, len(self.stem))[0]


def _values(formula: Formula, word: Sequence[Letter], back: int) -> list[bool]:
    """The truth of a formula at each position; the position after the last is `back`."""
    size = len(word)
    following = [*range(1, size), back]
    inner = [_values(operand, word, back) for operand in formula.operands]
    match formula.operator:
        case "true" | "false":
            return [formula.operator == "true"] * size
        case "prop":
            return [formula.name in letter for letter in word]
        case "!":
            return [not value for value in inner[0]]
        case "&":
            return [all(values) for values in zip(*inner, strict=True)]
        case "|":
            return [any(values) for values in zip(*inner, strict=True)]
        case "->":
            return [not a or b for a, b in zip(*inner, strict=True)]
        case "<->":
            return [a == b for a, b in zip(*inner, strict=True)]
        case "X":
            return [inner[0][position] for position in following]
        case "F":
            return _fixpoint([True] * size, inner[0], following, start=False)
        case "G":
            return _fixpoint(inner[0], [False] * size, following, start=True)
        case "U":
            return _fixpoint(inner[0], inner[1], following, start=False)
        case "W":
            return _fixpoint(inner[0], inner[1], following, start=True)
        case "R":
            return _fixpoint(inner[1], [a and b for a, b in zip(*inner, strict=True)], following, start=True)
    raise AssertionError(formula.operator)


def _fixpoint(hold: list[bool], goal: list[bool], following: list[int], start: bool) -> list[bool]:
    """`value = goal | (hold & X value)`: the least solution from false (U), the greatest from true (W)."""
    values = [start] * len(hold)
    for _ in range(len(hold) + 1):
        values = [goal[i] or (hold[i] and values[following[i]]) for i in range(len(hold))]
    return values


def letters(names: Sequence[str]) -> list[Letter]:
    return [frozenset(name for name, there in zip(names, bits, strict=True) if there) for bits in product([False, True], repeat=len(names))]


def lassos(names: Sequence[str], longest_stem: int, longest_loop: int) -> Iterator[Lasso]:
    """All of them, up to these lengths."""
    alphabet = letters(names)
    for stem_length in range(longest_stem + 1):
        for loop_length in range(1, longest_loop + 1):
            for word in product(alphabet, repeat=stem_length + loop_length):
                yield Lasso(word[:stem_length], word[stem_length:])
