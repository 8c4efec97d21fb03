"""Negation normal form with shared subformulas: each distinct one has a number, so that sets of them are bit masks.

Only literals, `&`, `|`, X, U and R remain (`F a` is `true U a`, `G a` is `false R a`, `a W b` is `b R (a | b)`), with the rewritings
that cost nothing and save states, such as `F F a = F a` and `F G F a = G F a`.
"""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.ltl.formula import Formula

FALSE, TRUE = 0, 1


@dataclass(frozen=True, slots=True)
class Term:
    """`kind` is false, true, literal (`operands` = proposition, 1 or 0), and, or, next, until or release (`operands` = terms)."""

    kind: str
    operands: tuple[int, ...]


class Terms:
    """All terms of one compilation."""

    def __init__(self, propositions: list[str]) -> None:
        self.all: list[Term] = [Term("false", ()), Term("true", ())]
        self._numbers: dict[Term, int] = {term: number for number, term in enumerate(self.all)}
        self._index = {name: number for number, name in enumerate(propositions)}
        self._seen: dict[tuple[int, bool], int] = {}

    def _number(self, kind: str, *operands: int) -> int:
        term = Term(kind, operands)
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self.all)
            self.all.append(term)
        return number

    def of(self, formula: Formula, positive: bool = True) -> int:
        """The term of a formula, or of its negation."""
        key = (id(formula), positive)
        known = self._seen.get(key)
        if known is None:
            known = self._seen[key] = self._of(formula, positive)
        return known

    def _of(self, formula: Formula, positive: bool) -> int:
        operator, operands = formula.operator, formula.operands
        if operator in ("true", "false"):
            return TRUE if (operator == "true") == positive else FALSE
        if operator == "prop":
            return self._number("literal", self._index[formula.name], int(positive))
        if operator == "!":
            return self.of(operands[0], not positive)
        if operator == "X":
            return self.next(self.of(operands[0], positive))
        if operator in ("F", "G"):
            inner = self.of(operands[0], positive)
            return self.until(TRUE, inner) if (operator == "F") == positive else self.release(FALSE, inner)
        if operator in ("&", "|"):
            parts = [self.of(operand, positive) for operand in operands]
            return self.both(parts) if (operator == "&") == positive else self.either(parts)
        left, right = operands
        if operator == "->":
            parts = [self.of(left, not positive), self.of(right, positive)]
            return self.either(parts) if positive else self.both(parts)
        if operator == "<->":
            same = self.both([self.of(left), self.of(right, positive)])
            return self.either([same, self.both([self.of(left, False), self.of(right, not positive)])])
        a, b = self.of(left, positive), self.of(right, positive)
        if operator == "U":
            return self.until(a, b) if positive else self.release(a, b)
        if operator == "R":
            return self.release(a, b) if positive else self.until(a, b)
        # a W b = b R (a | b); its negation is !b U (!a & !b)
        return self.release(b, self.either([a, b])) if positive else self.until(b, self.both([a, b]))

    def has(self, kind: str, number: int) -> bool:
        """Whether a term or one below it is of this kind. A term without `until` is a safety property (Sistla, 1994)."""
        seen, waiting = {number}, [number]
        while waiting:
            term = self.all[waiting.pop()]
            if term.kind == kind:
                return True
            if term.kind != "literal":
                waiting += [operand for operand in term.operands if operand not in seen]
                seen.update(term.operands)
        return False

    def both(self, parts: list[int]) -> int:
        return self._gather("and", parts, unit=TRUE, zero=FALSE)

    def either(self, parts: list[int]) -> int:
        return self._gather("or", parts, unit=FALSE, zero=TRUE)

    def _gather(self, kind: str, parts: list[int], unit: int, zero: int) -> int:
        found: set[int] = set()
        for part in parts:
            term = self.all[part]
            found.update(term.operands if term.kind == kind else (part,))
        if kind == "or":
            found = self._with_one_next(found)
        found.discard(unit)
        if zero in found or any(self._opposite_literal(part) in found for part in found):
            return zero
        # Absorption: a & (a | b) = a
        other = "or" if kind == "and" else "and"
        for part in list(found):
            term = self.all[part]
            if term.kind == other and not found.isdisjoint(term.operands):
                found.discard(part)
        if len(found) < 2:
            return found.pop() if found else unit
        return self._number(kind, *sorted(found))

    def _with_one_next(self, parts: set[int]) -> set[int]:
        """X a | X b = X (a | b): kept apart, a conjunction of n such choices would have 2^n steps."""
        nexts = {part for part in parts if self.all[part].kind == "next"}
        if len(nexts) < 2:
            return parts
        return parts - nexts | {self.next(self.either([self.all[part].operands[0] for part in sorted(nexts)]))}

    def _opposite_literal(self, number: int) -> int | None:
        term = self.all[number]
        if term.kind != "literal":
            return None
        return self._numbers.get(Term("literal", (term.operands[0], 1 - term.operands[1])))

    def next(self, a: int) -> int:
        return a if a in (FALSE, TRUE) else self._number("next", a)

    def until(self, a: int, b: int) -> int:
        """`a U b`; with `a` true this is `F b`."""
        term = self.all[b]
        if b in (FALSE, TRUE) or a in (FALSE, b):
            return b
        if term.kind == "until" and term.operands[0] in (a, TRUE):  # a U (a U c) = a U c, a U F c = F c
            return b
        if a == TRUE and self._is_recurrence(b):  # F G F c = G F c
            return b
        if self._opposite_literal(a) == b:  # !b U b = F b
            return self.until(TRUE, b)
        return self._number("until", a, b)

    def release(self, a: int, b: int) -> int:
        """`a R b`; with `a` false this is `G b`."""
        term = self.all[b]
        if b in (FALSE, TRUE) or a in (TRUE, b):
            return b
        if term.kind == "release" and term.operands[0] in (a, FALSE):  # a R (a R c) = a R c, a R G c = G c
            return b
        if a == FALSE and self._is_persistence(b):  # G F G c = F G c
            return b
        if self._opposite_literal(a) == b:  # !b R b = G b
            return self.release(FALSE, b)
        return self._number("release", a, b)

    def _is_recurrence(self, number: int) -> bool:
        return self._nests(number, "release", FALSE, "until", TRUE)

    def _is_persistence(self, number: int) -> bool:
        return self._nests(number, "until", TRUE, "release", FALSE)

    def _nests(self, number: int, outer: str, outer_left: int, inner: str, inner_left: int) -> bool:
        term = self.all[number]
        if term.kind != outer or term.operands[0] != outer_left:
            return False
        below = self.all[term.operands[1]]
        return below.kind == inner and below.operands[0] == inner_left
