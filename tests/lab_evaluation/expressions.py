"""Reads the expression of a reported boundary, such as `qps*message_kib`, without running it as code."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[[float], float]] = {"log": math.log, "log2": math.log2, "log10": math.log10, "sqrt": math.sqrt}


class Unreadable(ValueError):
    """What a lab reported has not the form of the protocol."""


class Expression:
    """Numbers, names, `+ - * / **`, brackets, and the functions `log`, `log2`, `log10`, `sqrt`."""

    def __init__(self, text: object) -> None:
        if not isinstance(text, str):
            raise Unreadable(f"expression {text!r} is not text")
        try:
            self._tree = ast.parse(text, mode="eval").body
        except SyntaxError as reason:
            raise Unreadable(f"expression {text!r}: {reason.msg}") from reason
        self.text = text
        self.names = frozenset(node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name) and node.id not in FUNCTIONS)
        self._value(self._tree, dict.fromkeys(self.names, 2.0))

    def of(self, values: Mapping[str, float]) -> float:
        """Its value; not a number where it has none, such as the logarithm of 0."""
        try:
            return self._value(self._tree, values)
        except (ArithmeticError, ValueError):
            return math.nan

    def _value(self, node: ast.expr, values: Mapping[str, float]) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name) if name in values:
                return float(values[name])
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self._value(inner, values)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._value(left, values), self._value(right, values))
            case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](self._value(inner, values))
        raise Unreadable(f"expression {self.text!r}: only numbers, parameters and + - * / ** log log2 log10 sqrt are allowed")
