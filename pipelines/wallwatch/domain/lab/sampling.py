"""Random configurations: inside a cause, just outside it, and clear of causes that are known."""

from __future__ import annotations

import random
from collections.abc import Sequence

from wallwatch.domain.lab.conditions import Among, Before, Boundary, Cause, Condition, Range
from wallwatch.domain.lab.device import Config, Device, Parameter, Scalar, Value, as_order
from wallwatch.domain.lab.moving import Moving
from wallwatch.domain.lab.topology import Topology

TRIES = 60


class Sampler:
    """Draws configurations that the topology allows. Parameters that the user has not asked for keep their default."""

    def __init__(self, device: Device, topology: Topology, rng: random.Random, only: Sequence[str] = ()) -> None:
        self._device = device
        self._topology = topology
        self._rng = rng
        self._varied = [one for one in device.parameters if not only or one.name in only]
        self._decks: dict[str, list[Value]] = {}

    def _balanced(self, parameter: Parameter) -> Value:
        """A value out of a shuffled deck, so that each of few values comes up equally often: ends of a range most of all."""
        deck = self._decks.setdefault(parameter.name, [])
        if not deck:
            if parameter.kind == "integer":
                low, high = parameter.minimum, parameter.maximum
                deck.extend([low, high, *(parameter.between(low, high, self._rng.random()) for _ in range(2))])
            elif parameter.kind == "sequence":
                default = as_order(self._device.default[parameter.name])
                deck.extend([default[::-1], *(self._shuffled(parameter) for _ in range(2))])
            else:
                deck.extend(parameter.values)
            self._rng.shuffle(deck)
        return deck.pop()

    def _shuffled(self, parameter: Parameter) -> tuple[Scalar, ...]:
        return tuple(self._rng.sample(parameter.values, len(parameter.values)))

    def others(self, fixed: Sequence[str] = ()) -> Config:
        """Values of all parameters but the fixed ones, which keep their default."""
        config = dict(self._device.default)
        for one in self._varied:
            if one.name not in fixed:
                config[one.name] = self._balanced(one)
        return config

    def is_valid(self, config: Config) -> bool:
        return self._topology.is_valid(config)

    def valid(self, config: Config, kept: Sequence[str]) -> Config | None:
        """The configuration with parameters of the topology changed, but for those to keep, where it must be to be valid."""
        if self._topology.is_valid(config):
            return config
        partial = {name: value for name, value in config.items() if name in kept or name not in self._topology.parameters}
        return self._topology.complete(partial, self._rng, config)

    def variant(self, config: Config, name: str, value: Value, kept: Sequence[str] = ()) -> Config | None:
        return self.valid({**config, name: value}, (*kept, name))

    def inside(self, conditions: Sequence[Condition], avoided: Sequence[Cause], corner: bool) -> Config | None:
        """A configuration in which all conditions hold and no avoided cause does; with `corner` integers are at their thresholds."""
        fixed = [name for one in conditions for name in one.parameters]
        for _ in range(TRIES):
            drawn = self.others()
            for one in sorted(conditions, key=lambda one: isinstance(one, Boundary | Moving)):
                self._satisfy(drawn, one, corner)
            config = self.valid(drawn, fixed)
            if config is None or not all(one.holds(config) for one in conditions):
                continue
            config = self.clear_of(config, avoided, fixed)
            if config is not None:
                return config
        return None

    def clear_of(self, config: Config, avoided: Sequence[Cause], fixed: Sequence[str]) -> Config | None:
        """The configuration with free parameters changed so that no avoided cause holds; None where that does not succeed."""
        for _ in range(6):
            holding = next((one for one in avoided if one.holds(config)), None)
            if holding is None:
                return config
            free = [one for one in holding.conditions if not set(one.parameters) & set(fixed)]
            self._rng.shuffle(free)
            for one in free:
                changed = self.broken(config, one, near=False, kept=[*fixed, *one.parameters])
                if changed is not None:
                    config = changed
                    break
            else:
                return None
        return None

    def broken(self, config: Config, condition: Condition, near: bool, kept: Sequence[str]) -> Config | None:
        """The configuration with one condition broken, by the smallest step if `near`; None if it cannot be."""
        changed = dict(config)
        if isinstance(condition, Among):
            others = list(condition.others)
            self._rng.shuffle(others)
            for value in others:
                found = self.variant(config, condition.parameter, value, kept)
                if found is not None and not condition.holds(found):
                    return found
            return None
        if isinstance(condition, Range):
            value = self._outside(condition, near)
            if value is None:
                return None
            changed[condition.parameter] = value
        elif isinstance(condition, Before):
            changed[condition.parameter] = self._reordered(as_order(config[condition.parameter]), condition)
        elif isinstance(condition, Moving):
            if not self._move_past(changed, condition, is_bad=False, near=near):
                return None
        elif not self._break_boundary(changed, condition, near):
            return None
        return self.valid(changed, kept)

    def _outside(self, condition: Range, near: bool) -> int | None:
        parameter = self._device.by_name[condition.parameter]
        sides = []
        if condition.low is not None and condition.low > parameter.minimum:
            sides.append((parameter.minimum, condition.low - parameter.step, condition.low - parameter.step))
        if condition.high is not None and condition.high < parameter.maximum:
            sides.append((condition.high + parameter.step, parameter.maximum, condition.high + parameter.step))
        if not sides:
            return None
        low, high, nearest = self._rng.choice(sides)
        return nearest if near else parameter.between(low, high, self._rng.random())

    def _satisfy(self, config: Config, condition: Condition, corner: bool) -> None:
        if isinstance(condition, Among):
            if not condition.holds(config):
                config[condition.parameter] = self._rng.choice(list(condition.values))
        elif isinstance(condition, Range):
            parameter = self._device.by_name[condition.parameter]
            low = parameter.minimum if condition.low is None else condition.low
            high = parameter.maximum if condition.high is None else condition.high
            bounds = [one for one in (condition.low, condition.high) if one is not None]
            config[condition.parameter] = self._rng.choice(bounds) if corner else parameter.between(low, high, self._rng.random())
        elif isinstance(condition, Before):
            order = as_order(config[condition.parameter])
            if not condition.holds(config):
                i, j = order.index(condition.first), order.index(condition.second)
                swapped = list(order)
                swapped[i], swapped[j] = swapped[j], swapped[i]
                config[condition.parameter] = tuple(swapped)
        elif isinstance(condition, Moving):
            self._move_past(config, condition, is_bad=True, near=corner)
        else:
            self._satisfy_boundary(config, condition, corner)

    def _move_past(self, config: Config, condition: Moving, is_bad: bool, near: bool) -> bool:
        """Put the integer on one side of the threshold that moves, clear of it by its tolerance. False where there is no such value."""
        nearest = condition.clear(config, is_bad)
        if nearest is None:
            return False
        low, high = sorted((nearest, condition.end(is_bad)))
        config[condition.parameter] = nearest if near else condition.main.between(low, high, self._rng.random())
        return True

    def _reordered(self, order: tuple[Scalar, ...], condition: Before) -> tuple[Scalar, ...]:
        """The order with the pair turned round and everything else as it was."""
        changed = list(order)
        changed.remove(condition.first)
        changed.insert(changed.index(condition.second) + 1, condition.first)
        return tuple(changed)

    # --- boundaries over several integers ---

    def crossing(self, config: Config, condition: Boundary, name: str) -> tuple[int | None, int | None]:
        """The values (last good, first bad) of one parameter at which the boundary is crossed, the others as they are; None: not at all."""
        parameter = self._device.by_name[name]
        ends = (0, parameter.size - 1)
        verdicts = [condition.holds({**config, name: parameter.at(i)}) for i in ends]
        if verdicts[0] == verdicts[1]:
            return (None, parameter.at(0)) if verdicts[0] else (parameter.at(0), None)
        low, high = ends
        while high - low > 1:
            middle = (low + high) // 2
            if condition.holds({**config, name: parameter.at(middle)}) == verdicts[0]:
                low = middle
            else:
                high = middle
        pair = (parameter.at(high), parameter.at(low)) if verdicts[0] else (parameter.at(low), parameter.at(high))
        return pair

    def _satisfy_boundary(self, config: Config, condition: Boundary, corner: bool) -> None:
        names = list(condition.parameters)
        for _ in range(TRIES):
            self._rng.shuffle(names)
            for name in names[1:]:
                parameter = self._device.by_name[name]
                config[name] = parameter.between(parameter.minimum, parameter.maximum, self._rng.random())
            good, bad = self.crossing(config, condition, names[0])
            if bad is None:
                continue
            parameter = self._device.by_name[names[0]]
            if corner:
                if good is None:
                    continue
                config[names[0]] = bad
                return
            if good is None:
                config[names[0]] = parameter.between(parameter.minimum, parameter.maximum, self._rng.random())
            else:
                low, high = (bad, parameter.maximum) if bad > good else (parameter.minimum, bad)
                config[names[0]] = parameter.between(low, high, self._rng.random())
            return

    def _break_boundary(self, config: Config, condition: Boundary, near: bool) -> bool:
        names = list(condition.parameters)
        self._rng.shuffle(names)
        for name in names:
            good, bad = self.crossing(config, condition, name)
            if good is None or bad is None:
                continue
            parameter = self._device.by_name[name]
            low, high = (parameter.minimum, good) if good < bad else (good, parameter.maximum)
            config[name] = good if near else parameter.between(low, high, self._rng.random())
            return True
        return False
