"""Levels of one parameter for strategies that work on a fixed grid."""

from __future__ import annotations

from wallwatch.domain.lab.device import Parameter, Value, as_order


def levels_of(parameter: Parameter, default: Value) -> list[Value]:
    """The default and the levels of brute force; of a sequence the default, its reverse and every swap of two neighbours."""
    levels: list[Value] = [default]
    if parameter.kind == "integer":
        levels += parameter.levels(parameter.minimum, parameter.maximum)
    elif parameter.kind == "sequence":
        order = as_order(default)
        levels.append(order[::-1])
        for i in range(len(order) - 1):
            levels.append((*order[:i], order[i + 1], order[i], *order[i + 2 :]))
    else:
        levels += parameter.values
    return _distinct(levels)


def _distinct(levels: list[Value]) -> list[Value]:
    """Without repetitions, in order. The type counts: of a choice, 1 and True are two values."""
    return list({(type(one), one): one for one in levels}.values())
