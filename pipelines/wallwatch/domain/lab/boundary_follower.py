"""Finds where a boundary over several integers runs: points on it, two neighbouring configurations each."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from wallwatch.domain.lab.axes import integer_threshold
from wallwatch.domain.lab.boundary import Crossing, fit_boundary
from wallwatch.domain.lab.conditions import Boundary
from wallwatch.domain.lab.device import Config, Device, as_integer
from wallwatch.domain.lab.paths import Decide, Step

BOUNDARY_CROSSINGS = 6
"""Crossings that a boundary over two parameters is fitted to; two more for each further one."""
FEWEST_CROSSINGS = 3
ENOUGH_TO_GUESS = 2
"""Crossings from which on an expression predicts the next one, which then costs two tests instead of a search."""
ENOUGH_TO_REFUSE = 4
"""Crossings of two parameters, two more for each further one, that no known form separates: more of them would not help."""
MOST_LINES = 20
MOST_REFINEMENTS = 8
LINES_OF_A_REFINEMENT = 40
TRIES_OF_A_LINE = 12
"""Lines that are drawn until a guessed boundary crosses one; that costs no test."""


class BoundaryFollower:
    """Follows the boundaries of one cause, and remembers the crossings of each."""

    def __init__(self, device: Device, decide: Decide, healthy: Config, rng: random.Random) -> None:
        self._device = device
        self._decide = decide
        self._healthy = healthy
        self._rng = rng
        self._crossings: dict[frozenset[str], list[Crossing]] = {}

    def fit(self, names: list[str], witness: Config, steps: Sequence[Step], is_spent: Callable[[], bool]) -> Boundary | None:
        """The boundary over these integers, all else as in a failing configuration; None if no known form fits or the effort is spent."""
        more = 2 * (len(names) - 2)
        crossings = self._known_crossings(names, witness, steps)
        guess: Boundary | None = None
        for attempt in range(MOST_LINES):
            guess = fit_boundary(names, crossings) if len(crossings) >= ENOUGH_TO_GUESS else None
            if guess is None and len(crossings) >= ENOUGH_TO_REFUSE + more:
                return None
            if len(crossings) >= BOUNDARY_CROSSINGS + more:
                break
            if is_spent():
                return None
            crossings += self._drawn_crossing(names, witness, attempt, guess)
        if guess is None or len(crossings) < FEWEST_CROSSINGS:
            return None
        self._crossings[frozenset(names)] = crossings
        return self._refined(guess, names, witness, crossings)

    def _refined(self, boundary: Boundary, names: list[str], witness: Config, crossings: list[Crossing]) -> Boundary:
        """The boundary with a value as sharp as integers allow: what lies between the sides seen so far is tested, halving it."""
        for _ in range(MOST_REFINEMENTS):
            good = max((one.good for one in crossings), key=boundary.depth)
            bad = min((one.bad for one in crossings), key=boundary.depth)
            low, high = boundary.depth(good), boundary.depth(bad)
            between = [one for one in self._near(boundary, names, witness) if low < boundary.depth(one) < high]
            if low >= high or not between:
                break
            config = min(between, key=lambda one: abs(boundary.depth(one) - (low + high) / 2))
            verdict = self._decide(config)
            if verdict is None:
                break
            crossings.append(Crossing(good, config) if verdict else Crossing(config, bad))
        return fit_boundary(names, crossings) or boundary

    def _near(self, boundary: Boundary, names: list[str], witness: Config) -> list[Config]:
        """Configurations next to the boundary, all over it."""
        lines = [(self._drawn(names, witness), name) for _ in range(LINES_OF_A_REFINEMENT) for name in names]
        return [config for drawn, name in lines for config in self._predicted(drawn, name, boundary)]

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
                    crossings.append(self._crossing(bad, good, name, None))
                    boundary = fit_boundary(sorted(names), crossings)
                    return None if boundary == condition else boundary
        return None

    def is_without_form(self, names: Sequence[str]) -> bool:
        """Whether the crossings of these integers have shown that no known form fits."""
        crossings = self._crossings.get(frozenset(names))
        return crossings is not None and fit_boundary(sorted(names), crossings) is None

    def _known_crossings(self, names: list[str], witness: Config, steps: Sequence[Step]) -> list[Crossing]:
        """Crossings in the surroundings of the witness: its own thresholds, and those of steps that were found in others."""
        found = []
        for name in names:
            healthy = {**witness, name: self._healthy[name]}
            if healthy != witness and self._decide(healthy) is False:
                found.append(self._crossing(witness, healthy, name, None))
        for step in steps:
            if not set(step.names) <= set(names):
                continue
            bad, good = ({**witness, **{name: one[name] for name in names}} for one in (step.bad, step.good))
            if self._decide(bad) and self._decide(good) is False:
                found.append(self._crossing(bad, good, step.names[0], None))
        return found

    def _crossing(self, bad: Config, good: Config, name: str, guess: Boundary | None) -> Crossing:
        """Halve between two configurations that differ in one parameter; where a boundary is guessed, first where it says."""
        for config in self._predicted(bad, name, guess) if guess is not None else ():
            value, inside = as_integer(config[name]), sorted((as_integer(bad[name]), as_integer(good[name])))
            verdict = self._decide(config) if inside[0] < value < inside[1] else None
            if verdict is not None:
                bad, good = (config, good) if verdict else (bad, config)
        found = integer_threshold(self._device.by_name[name], bad, as_integer(good[name]), self._decide)
        return Crossing({**bad, name: found.last_good}, {**bad, name: found.first_bad})

    def _predicted(self, config: Config, name: str, guess: Boundary) -> list[Config]:
        """The two neighbours along a parameter between which a boundary runs; none where it does not cross this line."""
        parameter = self._device.by_name[name]
        low, high = 0, parameter.size - 1
        at_low = guess.holds({**config, name: parameter.at(low)})
        if guess.holds({**config, name: parameter.at(high)}) == at_low:
            return []
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if guess.holds({**config, name: parameter.at(middle)}) == at_low else (low, middle)
        return [{**config, name: parameter.at(one)} for one in (low, high)]

    def _drawn(self, names: list[str], witness: Config) -> Config:
        config = dict(witness)
        for name in names:
            parameter = self._device.by_name[name]
            config[name] = parameter.between(parameter.minimum, parameter.maximum, self._rng.random())
        return config

    def _drawn_crossing(self, names: list[str], witness: Config, attempt: int, guess: Boundary | None) -> list[Crossing]:
        """A crossing along one parameter with the others of the boundary at random."""
        name = names[attempt % len(names)]
        config = self._drawn(names, witness)
        if guess is not None:
            drawn = [config, *(self._drawn(names, witness) for _ in range(TRIES_OF_A_LINE))]
            config = next((one for one in drawn if self._predicted(one, name, guess)), config)
            as_guessed = sorted(self._predicted(config, name, guess), key=guess.holds)
            if [self._decide(one) for one in as_guessed] == [False, True]:
                return [Crossing(*as_guessed)]
        parameter = self._device.by_name[name]
        ends = [{**config, name: value} for value in (parameter.minimum, parameter.maximum)]
        verdicts = [self._decide(one) for one in ends]
        if None in verdicts or verdicts[0] == verdicts[1]:
            return []
        bad, good = (ends[0], ends[1]) if verdicts[0] else (ends[1], ends[0])
        return [self._crossing(bad, good, name, guess)]
