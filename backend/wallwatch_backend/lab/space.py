"""How many tests brute force would take: every combination of a few levels per parameter."""

from collections.abc import Iterable, Mapping
from math import factorial, prod
from typing import Any

LEVELS = 5
"""Levels of an integer, as the specification of the lab counts them; other kinds have as many as they have values."""


def levels_of(parameter: Mapping[str, Any]) -> int:
    """Levels of one parameter of a device's description.

    >>> levels_of({"kind": "integer", "min": 1, "max": 64, "step": 1}), levels_of({"kind": "integer", "min": 1, "max": 3, "step": 1})
    (5, 3)
    >>> levels_of({"kind": "sequence", "values": ["a", "b", "c"]}), levels_of({"kind": "boolean"})
    (6, 2)
    """
    kind = parameter.get("kind")
    if kind == "boolean":
        return 2
    if kind == "integer":
        step = max(1, int(parameter.get("step") or 1))
        return max(1, min(LEVELS, (int(parameter.get("max", 0)) - int(parameter.get("min", 0))) // step + 1))
    values = len(parameter.get("values") or ())
    return factorial(values) if kind == "sequence" else max(1, values)


def brute_force_tests(parameters: Iterable[Mapping[str, Any]]) -> int:
    """Combinations of all levels, those that a topology excludes included.

    >>> brute_force_tests([{"kind": "boolean"}, {"kind": "choice", "values": [1, 2, 3]}])
    6
    """
    return prod(levels_of(parameter) for parameter in parameters)
