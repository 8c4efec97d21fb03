"""Finds where a boundary over several integers runs: points on it, two neighbouring configurations each."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from wallwatch.domain.lab.axes import integer_threshold
from wallwatch.domain.lab.boundary import Crossing, fit_boundary
from wallwatch.domain.lab.conditions import Boundary
from wallwatch.domain.lab.device import Config, Device, as_integer
from wallwatch.domain.lab.paths import Decide, Step

BOUNDARY_CROSSINGS = 5
"""Crossings that a boundary over two parameters is fitted to; two more for each further one."""
FEWEST_CROSSINGS = 3


class BoundaryFollower:
    """Follows the boundaries of one cause, and remembers the crossings of each."""

    def __init__(self, device: Device, decide: Decide, rng: random.Random) -> None:
        self._device = device
        self._decide = decide
        self._rng = rng
        self._crossings: dict[frozenset[str], list[Crossing]] = {}

    def fit(self, names: list[str], witness: Config, steps: Sequence[Step], is_spent: Callable[[], bool]) -> Boundary | None:
        """The boundary over these integers, all else as in a failing configuration; None if no known form fits or the effort is spent."""
        crossings: list[Crossing] = []
        for step in steps:
            if set(step.names) <= set(names):
                crossings += self._crossing(step.bad, step.good, step.names[0])
        for attempt in range(4 * BOUNDARY_CROSSINGS):
            if is_spent():
                return None
            if len(crossings) >= BOUNDARY_CROSSINGS + 2 * (len(names) - 2):
                break
            crossings += self._drawn_crossing(names, witness, attempt)
        boundary = fit_boundary(names, crossings) if len(crossings) >= FEWEST_CROSSINGS else None
        if boundary is not None:
            self._crossings[frozenset(names)] = crossings
        return boundary

    def refit(self, condition: Boundary, at: Config, is_bad: bool) -> Boundary | None:
        """The boundary that also separates a configuration on the wrong side of it; None if that teaches nothing new."""
        names = list(condition.parameters)
        for name in names:
            parameter = self._device.by_name[name]
            for end in (parameter.minimum, parameter.maximum):
                other = {**at, name: end}
                if other != at and self._decide(other) is (not is_bad):
                    bad, good = (at, other) if is_bad else (other, at)
                    crossings = self._crossings.setdefault(frozenset(names), [])
                    crossings += self._crossing(bad, good, name)
                    boundary = fit_boundary(sorted(names), crossings)
                    return None if boundary == condition else boundary
        return None

    def _crossing(self, bad: Config, good: Config, name: str) -> list[Crossing]:
        found = integer_threshold(self._device.by_name[name], bad, as_integer(good[name]), self._decide)
        return [Crossing({**bad, name: found.last_good}, {**bad, name: found.first_bad})]

    def _drawn_crossing(self, names: list[str], witness: Config, attempt: int) -> list[Crossing]:
        """A crossing along one parameter with the others of the boundary at random."""
        name = names[attempt % len(names)]
        config = dict(witness)
        for one in names:
            parameter = self._device.by_name[one]
            config[one] = parameter.between(parameter.minimum, parameter.maximum, self._rng.random())
        parameter = self._device.by_name[name]
        ends = [{**config, name: value} for value in (parameter.minimum, parameter.maximum)]
        verdicts = [self._decide(one) for one in ends]
        if None in verdicts or verdicts[0] == verdicts[1]:
            return []
        bad, good = (ends[0], ends[1]) if verdicts[0] else (ends[1], ends[0])
        return self._crossing(bad, good, name)
