"""Which tests call the function that a mutant is in."""

import ast
from dataclasses import dataclass, field

from tests.mutation.mutants import REPOSITORY, Mutant


@dataclass(frozen=True)
class Recording:
    """What the tests called without any mutant."""

    took: dict[str, float] = field(default_factory=dict)
    """Test -> seconds."""
    tests: dict[str, set[str]] = field(default_factory=dict)
    """Function, as `path:line` -> tests that call it."""

    @classmethod
    def of(cls, calls: dict[str, list[str]], took: dict[str, float]) -> "Recording":
        tests: dict[str, set[str]] = {}
        for test, functions in calls.items():
            for function in functions:
                tests.setdefault(function, set()).add(test)
        return cls(took, tests)

    def covering(self, mutant: Mutant) -> dict[str, float]:
        """Tests that call the mutant's function, with their seconds; for a line outside of functions, those that call any of the module."""
        at = function_at(mutant)
        found: set[str] = set()
        for function, tests in self.tests.items():
            if function.rpartition(":")[0] == mutant.path and (at is None or function == f"{mutant.path}:{at}"):
                found |= tests
        return {test: self.took[test] for test in found}


def function_at(mutant: Mutant) -> int | None:
    """The first line of the innermost function around a mutant of Python, its decorators included, as the interpreter counts."""
    if not mutant.path.endswith(".py"):
        return None
    found = [
        min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        for node in ast.walk(ast.parse((REPOSITORY / mutant.path).read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= mutant.line <= (node.end_lineno or 0)
    ]
    return max(found, default=None)
