"""The reasons of a module's constants: the text below each of them."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType


def numbers(module: ModuleType) -> list[str]:
    """Names of a module's own numeric constants, in order."""
    return [name for name, _ in _assigned(module)]


def reasons(module: ModuleType) -> dict[str, str]:
    """Constant -> the text below it, as one line. Several in one assignment share their text.

    >>> from wallwatch.domain.symptoms import detect
    >>> reasons(detect)["SLACK"]
    'Samples jitter: a duration counts as reached at 90% of it.'
    """
    return {name: " ".join(text.split()) for name, text in _assigned(module) if text}


def _assigned(module: ModuleType) -> list[tuple[str, str]]:
    found = []
    body = ast.parse(inspect.getsource(module)).body
    for statement, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.Assign):
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            for target in statement.targets:
                names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
                found += [(n, str(text)) for n in names if n.isupper() and isinstance(getattr(module, n), int | float)]
    return found
