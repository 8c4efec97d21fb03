"""Which pairs of values have been seen together: configurations are chosen so that few of them show many pairs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from wallwatch.domain.lab.device import Config, Parameter, Value, as_integer, as_order, is_same

PARTS = 3
"""Parts of an integer's range, on its scale."""
CANDIDATES = 4
"""Configurations that are drawn, of which the one with most new pairs is taken; drawing costs no test."""


class Spread:
    """Pairs of values of the parameters that are free to take any."""

    def __init__(self, free: Iterable[Parameter]) -> None:
        self._free = [(one, _cuts(one)) for one in free]
        self._seen: set[tuple[int, int, int, int]] = set()

    def mark(self, config: Config) -> None:
        """This configuration was seen."""
        self._seen.update(self._pairs(config))

    def gain(self, config: Config) -> int:
        """How many pairs of the configuration were not seen yet."""
        return sum(one not in self._seen for one in self._pairs(config))

    def best(self, draw: Callable[[], Config | None]) -> Config | None:
        """The configuration with most new pairs among some that are drawn; None where none can be drawn."""
        drawn = [one for one in (draw() for _ in range(CANDIDATES)) if one is not None]
        return max(drawn, key=self.gain, default=None)

    def _pairs(self, config: Config) -> Iterable[tuple[int, int, int, int]]:
        places = [(i, _part(one, cuts, config[one.name])) for i, (one, cuts) in enumerate(self._free)]
        return [(i, a, j, b) for (i, a), (j, b) in itertools.combinations(places, 2)]


def _cuts(parameter: Parameter) -> list[int]:
    """Where the parts of an integer's range meet."""
    if parameter.kind != "integer":
        return []
    return [parameter.between(parameter.minimum, parameter.maximum, i / PARTS) for i in range(1, PARTS)]


def _part(parameter: Parameter, cuts: Sequence[int], value: Value) -> int:
    """The part of its range that a value lies in; of an order, whether its first two events stand as they are described."""
    if parameter.kind == "integer":
        return sum(as_integer(value) > one for one in cuts)
    if parameter.kind == "sequence":
        order = as_order(value)
        return int(len(order) > 1 and order.index(parameter.values[0]) < order.index(parameter.values[1]))
    return next(i for i, one in enumerate(parameter.values) if is_same(one, value))
