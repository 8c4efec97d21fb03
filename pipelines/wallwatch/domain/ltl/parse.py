"""Text -> formula.

From tightest to loosest: prefix `! X F G`; `U W R` (one level, right-associative); `&`; `|`; `->` and `<->` (one level,
right-associative). Identifiers are read as long as possible: `FL_OFFLD` is one proposition and not `F(L_OFFLD)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wallwatch.domain.ltl.formula import Formula

MAX_LENGTH = 20_000
MAX_DEPTH = 100
"""Operators inside each other: reading and what follows recurse, some six calls for each."""

_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<symbol><->|->|&&?|\|\|?|!|\(|\)))")
_KEYWORDS = frozenset({"X", "F", "G", "U", "W", "R", "true", "false"})
_SPELLINGS = {"&&": "&", "||": "|"}


class SyntaxProblem(ValueError):
    """A formula that cannot be read: `position` is the offset (characters, from 0) and `message` names what was expected there."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"at character {position + 1}: {message}")
        self.message, self.position = message, position


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    """`name` for a proposition, `end`, or the operator, keyword or bracket itself."""
    text: str
    position: int


def tokens(text: str) -> list[Token]:
    """Raises `SyntaxProblem` at the first character that begins no token."""
    found: list[Token] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            position += len(text[position:]) - len(text[position:].lstrip())
            raise SyntaxProblem(f"{text[position]!r} is not the start of an operator, bracket or name", position)
        word = match["name"] or match["symbol"]
        kind = _SPELLINGS.get(word, word) if match["symbol"] or word in _KEYWORDS else "name"
        found.append(Token(kind, word, match.end() - len(word)))
        position = match.end()
    found.append(Token("end", "", end))
    return found


def parse(text: str) -> Formula:
    """Read a formula.

    Raises
    ------
    SyntaxProblem
        With the position of the mistake.

    Examples
    --------
    >>> str(parse("a -> X b U c"))
    'a -> ((X b) U c)'
    """
    if len(text) > MAX_LENGTH:
        raise SyntaxProblem(f"the formula has {len(text):,} characters; {MAX_LENGTH:,} is the maximum", MAX_LENGTH)
    reader = _Reader(tokens(text))
    formula = reader.implication(0)
    rest = reader.token
    if rest.kind != "end":
        raise SyntaxProblem(_unexpected(rest, "an operator between two formulas, or the end"), rest.position)
    return formula


def _unexpected(token: Token, expected: str) -> str:
    what = "the formula ends" if token.kind == "end" else f"{token.text!r}"
    return f"{what}, where {expected} is expected"


class _Reader:
    """Recursive descent, one method for each level of precedence; `depth` counts brackets and right-associative operators."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens, self._next = found, 0

    @property
    def token(self) -> Token:
        return self._tokens[self._next]

    def take(self) -> Token:
        token = self.token
        self._next += 1
        return token

    def implication(self, depth: int) -> Formula:
        if depth > MAX_DEPTH:
            raise SyntaxProblem(f"operators are nested more than {MAX_DEPTH} levels deep", self.token.position)
        left = self.chain("|", depth)
        if self.token.kind in ("->", "<->"):
            operator = self.take().kind
            return Formula(operator, (left, self.implication(depth + 1)))
        return left

    def chain(self, operator: str, depth: int) -> Formula:
        """`a | b | c` or `a & b & c`: one node with all operands."""
        parts = [self.part(operator, depth)]
        while self.token.kind == operator:
            self.take()
            parts.append(self.part(operator, depth))
        return parts[0] if len(parts) == 1 else Formula(operator, tuple(parts))

    def part(self, operator: str, depth: int) -> Formula:
        return self.chain("&", depth) if operator == "|" else self.until(depth)

    def until(self, depth: int) -> Formula:
        if depth > MAX_DEPTH:
            raise SyntaxProblem(f"operators are nested more than {MAX_DEPTH} levels deep", self.token.position)
        left = self.prefixed(depth)
        if self.token.kind in ("U", "W", "R"):
            operator = self.take().kind
            return Formula(operator, (left, self.until(depth + 1)))
        return left

    def prefixed(self, depth: int) -> Formula:
        prefixes = []
        while self.token.kind in ("!", "X", "F", "G"):
            prefixes.append(self.take())
            if depth + len(prefixes) > MAX_DEPTH:
                raise SyntaxProblem(f"operators are nested more than {MAX_DEPTH} levels deep", self.token.position)
        formula = self.atom(depth + len(prefixes))
        for prefix in reversed(prefixes):
            formula = Formula(prefix.kind, (formula,))
        return formula

    def atom(self, depth: int) -> Formula:
        token = self.take() if self.token.kind != "end" else self.token
        if token.kind == "name":
            return Formula("prop", name=token.text)
        if token.kind in ("true", "false"):
            return Formula(token.kind)
        if token.kind != "(":
            raise SyntaxProblem(_unexpected(token, "a proposition, a prefix operator (! X F G), true, false or ("), token.position)
        formula = self.implication(depth + 1)
        if self.token.kind != ")":
            raise SyntaxProblem(_unexpected(self.token, f"the ) of the bracket at character {token.position + 1}"), self.token.position)
        self.take()
        return formula
