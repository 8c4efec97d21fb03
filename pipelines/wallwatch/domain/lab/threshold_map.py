"""Measures how other parameters move a threshold: tests where a model of it is uncertain, two where the model is right."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wallwatch.domain.lab.conditions import Boundary, Condition, Range
from wallwatch.domain.lab.device import Config, Device, Parameter, Value, as_integer, is_same
from wallwatch.domain.lab.moving import Direction, Moving, Support
from wallwatch.domain.lab.paths import Decide

MOST_CELLS = 12
"""Combinations of choices that are all measured; of more, each value alone, and proof shows whether that suffices."""
MOST_MOVERS = 4
MOST_DEPTH = 4
"""How often a stretch of an integer is halved where the threshold does not run straight: sixteen pieces."""

MOST_CORRECTIONS = 3
"""How often a threshold is looked for again where earlier tests had left traces."""


class Unmeasurable(Exception):
    """The threshold cannot be followed here: something hides the signal, or nothing fails at all."""


@dataclass
class ThresholdMap:
    """Measures the thresholds of one integer of one cause."""

    device: Device
    decide: Decide
    remembers: Callable[[Config], bool]
    """Whether a verdict is another one after a reset: earlier tests have left traces."""
    is_spent: Callable[[], bool]

    def fit(self, condition: Condition, mover: str | None, witness: Config) -> Moving | None:
        """The condition as one whose threshold this parameter moves too; None where it does not, or cannot be measured.

        All else is as in the witness, which fails. A boundary over two integers is one whose form does not hold everywhere: one of them
        becomes the threshold, and the other moves it, with the mover if there is one.
        """
        start = self._start(condition, witness)
        if start is not None and mover is not None:
            start = self._moved_too(start, mover, witness)
        if start is None:
            return None
        try:
            return self._measured(start, witness)
        except Unmeasurable:
            return None

    def _start(self, condition: Condition, witness: Config) -> Moving | None:
        """A model with what is known already: the threshold where everything is as in the witness."""
        if isinstance(condition, Moving):
            return condition
        if isinstance(condition, Boundary):
            return self._of_boundary(condition, witness)
        if not isinstance(condition, Range):
            return None
        op: Direction = ">=" if condition.high is None else "<="
        first_bad, other = (condition.low, condition.high) if op == ">=" else (condition.high, condition.low)
        if first_bad is None or other is not None:  # a window has two thresholds
            return None
        return Moving(self.device.by_name[condition.parameter], op, (), (Support((), first_bad),), first_bad)

    def _of_boundary(self, condition: Boundary, witness: Config) -> Moving | None:
        """The boundary as the threshold of the first of its integers that crosses it in the witness."""
        for name in condition.parameters if len(condition.parameters) == 2 else ():
            main = self.device.by_name[name]
            holding = [value for value in (main.minimum, main.maximum) if condition.holds({**witness, name: value})]
            if len(holding) != 1:
                continue
            op: Direction = ">=" if holding == [main.maximum] else "<="
            good, bad = (0, main.size - 1) if op == ">=" else (main.size - 1, 0)
            while abs(bad - good) > 1:
                middle = (good + bad) // 2
                good, bad = (good, middle) if condition.holds({**witness, name: main.at(middle)}) else (middle, bad)
            (other,) = (one for one in condition.parameters if one != name)
            return Moving(main, op, (self.device.by_name[other],), (Support((witness[other],), main.at(bad)),), main.at(bad))
        return None

    def _moved_too(self, model: Moving, mover: str, witness: Config) -> Moving | None:
        parameter = self.device.by_name[mover]
        wired = {name for edge in self.device.topology.edges for name in edge.when} if self.device.topology else set()
        if parameter.kind == "sequence" or mover in model.parameters or mover in wired or len(model.by) >= MOST_MOVERS:
            return None
        supports = tuple(Support((*one.at, witness[mover]), one.first_bad) for one in model.supports)
        return Moving(model.main, model.op, (*model.by, parameter), supports, model.usual)

    def _measured(self, model: Moving, witness: Config) -> Moving | None:
        cells = self._cells(model, witness)
        for cell in cells:
            model = self._line(model, {**witness, **cell})
        if not all(any(model.main.contains(one.first_bad) for one in self._in_cell(model, cell)) for cell in cells):
            return None  # with some choices nothing fails: that is a condition, not a threshold that moves
        return model if model.is_moved else None

    def _in_cell(self, model: Moving, cell: Config) -> list[Support]:
        places = [(i, cell[one.name]) for i, one in enumerate(model.by) if one.name in cell]
        return [one for one in model.supports if all(is_same(one.at[i], value) for i, value in places)]

    def _cells(self, model: Moving, witness: Config) -> list[Config]:
        """Values of the choices and booleans at which the threshold is followed."""
        choices = [one for one in model.by if one.kind != "integer"]
        names = [one.name for one in choices]
        combined: list[Config] = [dict(zip(names, values, strict=True)) for values in itertools.product(*(one.values for one in choices))]
        if len(combined) <= MOST_CELLS:
            return combined
        usual: Config = {name: witness[name] for name in names}
        return [usual, *({**usual, one.name: value} for one in choices for value in one.values if not is_same(value, usual[one.name]))]

    def _line(self, model: Moving, base: Config) -> Moving:
        """Follow the threshold along each integer that moves it, the other integers as usual."""
        integers = [one for one in model.by if one.kind == "integer"]
        model = self._measure(model, base)
        for one in integers:
            ends = [{**base, one.name: value} for value in (one.minimum, one.maximum)]
            for end in ends:
                model = self._measure(model, end)
            model = self._between(model, one, ends[0], ends[1], MOST_DEPTH)
        return model

    def _between(self, model: Moving, axis: Parameter, low: Config, high: Config, depth: int) -> Moving:
        """Halve a stretch until the model says where the threshold is in the middle of it."""
        ends = as_integer(low[axis.name]), as_integer(high[axis.name])
        middle = axis.between(*ends, 0.5)
        if not ends[0] < middle < ends[1] or depth == 0 or self.is_spent():
            return model
        config = {**low, axis.name: middle}
        if self._has(model, config) or self._is_right(model, config):
            return model
        model = self._measure(model, config)
        model = self._between(model, axis, low, config, depth - 1)
        return self._between(model, axis, config, high, depth - 1)

    def _is_right(self, model: Moving, config: Config) -> bool:
        """Whether both sides of where the model has the threshold are as it says."""
        for is_bad in (True, False):
            value = model.clear(config, is_bad)
            if value is not None and self._verdict({**config, model.main.name: value}) is not is_bad:
                return False
        return True

    def refine(self, model: Moving, config: Config) -> Moving | None:
        """The model with the threshold measured where a prediction did not come true; None if it is where the model has it."""
        try:
            refined = self._measure(model, config)
        except Unmeasurable:
            return None
        before, after = model.threshold(config), refined.threshold(config)
        return refined if abs(after - before) > model.tolerance(before) else None

    def _measure(self, model: Moving, config: Config) -> Moving:
        if self._has(model, config):
            return model
        for _ in range(MOST_CORRECTIONS):
            first_bad = self._threshold(model, config)
            if not self.remembers({**config, model.main.name: self._clipped(model.main, first_bad)}):
                break
        return model.with_support(Support(self._at(model, config), first_bad))

    def _has(self, model: Moving, config: Config) -> bool:
        at = self._at(model, config)
        return any(_are_same(one.at, at) for one in model.supports)

    def _at(self, model: Moving, config: Config) -> tuple[Value, ...]:
        return tuple(config[one.name] for one in model.by)

    def _threshold(self, model: Moving, config: Config) -> int:
        """Where the threshold is: as the model says if both sides of it are as expected, else found by growing steps and halving."""
        main, sign = model.main, 1 if model.op == ">=" else -1
        guess = model.threshold(config)
        off = model.tolerance(guess)
        at = self._clipped(main, guess + sign * off)
        good: int | None = None
        bad: int | None = None
        if self._verdict({**config, main.name: at}):
            bad = at
            at = self._clipped(main, guess - sign * (off + main.step))
            if at == bad or not self._verdict({**config, main.name: at}):
                return guess
            bad = at
        else:
            good = at
        reach = 2 * off
        while good is None or bad is None:
            if at == model.end(is_bad=good is not None):
                return at if good is None else at + sign * main.step  # all values fail, or none does
            at = self._clipped(main, at + (sign if bad is None else -sign) * reach)
            if self._verdict({**config, main.name: at}):
                bad = at
            else:
                good = at
            reach *= 2
        while abs(bad - good) > main.step:
            low, high = sorted((good, bad))
            at = main.between(low, high, 0.5)
            if not low < at < high:
                at = main.at((main.index(low) + main.index(high)) // 2)
            if self._verdict({**config, main.name: at}):
                bad = at
            else:
                good = at
        return bad

    def _clipped(self, main: Parameter, value: int) -> int:
        return min(max(value, main.minimum), main.maximum)

    def _verdict(self, config: Config) -> bool:
        verdict = self.decide(config)
        if verdict is None:
            raise Unmeasurable
        return verdict


def _are_same(one: Sequence[Value], other: Sequence[Value]) -> bool:
    return all(is_same(a, b) for a, b in zip(one, other, strict=True))
