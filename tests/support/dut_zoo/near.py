"""Configurations near a fault: just inside it, or with one of its conditions just broken."""

from __future__ import annotations

import math
from random import Random

from dut_zoo.conditions import Boundary, Condition, Requirement
from dut_zoo.parameters import Config, Integer, Order, Value
from dut_zoo.planted import Fault, Planted

BAND = 0.15
"""How far from a threshold an integer is drawn, as a share of its scale."""
FACTOR = 1.6
"""How far from a boundary the expression is drawn, as a factor either way."""
ATTEMPTS = 400


def near(planted: Planted, fault: Fault, rng: Random) -> Config:
    """A valid configuration that holds all conditions of a fault, or all but one; other parameters are drawn evenly.

    Where a fault leaves no room on one side of a condition, and where the topology forbids what was drawn, any valid configuration
    may come back.
    """
    config = planted.draw(rng)
    for _ in range(ATTEMPTS):
        config = planted.draw(rng)
        broken = rng.choice(fault.conditions) if rng.random() < 0.5 else None
        for condition in fault.conditions:
            if condition is not broken:
                _meet(planted, condition, config, rng, True, fault)
        if broken:
            _meet(planted, broken, config, rng, False, fault)
        wanted = all(condition.holds(config) == (condition is not broken) for condition in fault.conditions)
        if wanted and planted.invalid(config) is None:
            return config
    return config


def _meet(planted: Planted, condition: Requirement, config: Config, rng: Random, holds: bool, fault: Fault) -> None:
    """Change the configuration so that a condition holds, or just does not; may fail."""
    if isinstance(condition, Boundary):
        _cross(planted, condition, config, rng, holds)
        return
    parameter = planted.parameter(condition.parameter)
    for _ in range(30):
        if isinstance(parameter, Integer):
            others = [one for one in fault.conditions if isinstance(one, Condition) and one.parameter == parameter.name]
            middle = parameter.position(rng.choice(others if holds else [condition]).value)
            value: Value = parameter.at(min(max(middle + rng.uniform(-BAND, BAND), 0.0), 1.0))
            fits = all(one.accepts(value) for one in others) if holds else not condition.accepts(value)
        else:
            value = _shifted(parameter, condition, config[parameter.name], rng) if isinstance(parameter, Order) else parameter.draw(rng)
            fits = condition.accepts(value) == holds
        if fits:
            config[parameter.name] = value
            return


def _shifted(parameter: Order, condition: Condition, order: list[str], rng: Random) -> list[str]:
    """The same order with the two events of a condition next to each other, either way round."""
    first, later = condition.value
    pair = [first, later] if rng.random() < 0.5 else [later, first]
    others = [event for event in order if event not in pair]
    place = rng.randint(0, len(others))
    return others[:place] + pair + others[place:]


def _cross(planted: Planted, condition: Boundary, config: Config, rng: Random, holds: bool) -> None:
    """Bring the expression to a value within `FACTOR` of the boundary, on the wanted side, by changing one parameter."""
    low, high = (0.0, math.log(FACTOR)) if holds else (-math.log(FACTOR), 0.0)
    for _ in range(30):
        for name in condition.names:
            config[name] = planted.parameter(name).draw(rng)
        name = rng.choice(condition.names)
        wanted = condition.value * math.exp(rng.uniform(low, high))
        parameter = planted.parameter(name)
        if not isinstance(parameter, Integer):
            return
        actual, present = condition.of(config), config[name]
        if condition.form == "+":
            solved = present + wanted - actual
        elif condition.form == "/" and name == condition.names[1]:
            solved = present * actual / wanted
        else:
            solved = present * wanted / actual
        if not parameter.low <= solved <= parameter.high:
            continue
        config[name] = parameter.nearest(solved)
        if condition.holds(config) == holds:
            return


def fresh(planted: Planted, count: int, seed: int) -> list[Config]:
    """Valid configurations to judge predictions with: half of them drawn evenly, half near the planted faults."""
    rng = Random(f"{planted.name}/fresh/{seed}")
    even = [planted.draw(rng) for _ in range(count // 2)]
    close = [near(planted, rng.choice(planted.faults), rng) if planted.faults else planted.draw(rng) for _ in range(count - count // 2)]
    return even + close
