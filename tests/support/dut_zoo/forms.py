"""Devices whose faults are no conjunctions: exceptions, alternatives, parity, thresholds that depend on a choice, odd orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from dut_zoo import draft, stock
from dut_zoo.device import Ledger
from dut_zoo.parameters import Boolean, Choice, Config, Integer, Order, Parameter
from dut_zoo.planted import Metric

RAREST, MOST_COMMON = 0.01, 0.8
"""Between these shares of all configurations fail."""
DRAWN = 1000
"""Configurations that the share is measured with."""
NOISE = 0.002

Predicate = Callable[[Config], bool]


@dataclass(frozen=True)
class Parts:
    """The parameters that a form may use."""

    rng: Random
    integers: tuple[Integer, ...]
    choices: tuple[Choice, ...]
    booleans: tuple[Boolean, ...]
    order: Order

    def reached(self, number: int, low: float = 0.3, high: float = 0.8) -> Predicate:
        """Integer number so and so is past a value."""
        one = self.integers[number]
        limit = max(one.at(self.rng.uniform(low, high)), one.low + one.step)
        return lambda config: bool(config[one.name] >= limit)

    def between(self, number: int, low: float, high: float) -> Predicate:
        """It lies between two places of its scale."""
        one = self.integers[number]
        return lambda config: bool(one.at(low) <= config[one.name] <= one.at(high))

    def on(self, number: int) -> Predicate:
        """A boolean is on."""
        name = self.booleans[number].name
        return lambda config: bool(config[name])

    def chosen(self, number: int) -> Predicate:
        """A choice has one of its values."""
        one = self.choices[number]
        value = self.rng.choice(one.values)
        return lambda config: bool(config[one.name] == value)

    def event(self, number: int) -> Callable[[Config], int]:
        """The place of an event in the order."""
        name, event = self.order.name, self.order.values[number]
        return lambda config: int(config[name].index(event))


def _exactly_one(parts: Parts) -> Predicate:
    a, b = parts.on(0), parts.on(1)
    return lambda config: a(config) != b(config)


def _one_of_two_limits(parts: Parts) -> Predicate:
    a, b = parts.reached(0), parts.reached(1)
    return lambda config: a(config) != b(config)


def _odd_number(parts: Parts) -> Predicate:
    flags = [parts.on(i) for i in range(3)]
    return lambda config: sum(one(config) for one in flags) % 2 == 1


def _any_of_three(parts: Parts) -> Predicate:
    a, b, c = parts.reached(0), parts.reached(1), parts.chosen(0)
    return lambda config: a(config) or b(config) or c(config)


def _alternatives_in_a_context(parts: Parts) -> Predicate:
    context, a, b = parts.on(0), parts.reached(0), parts.reached(1)
    return lambda config: context(config) and (a(config) or b(config))


def _two_of_three(parts: Parts) -> Predicate:
    limits = [parts.reached(i) for i in range(3)]
    return lambda config: sum(one(config) for one in limits) >= 2


def _switched_off_by_two(parts: Parts) -> Predicate:
    limit, a, b = parts.reached(0), parts.on(0), parts.chosen(0)
    return lambda config: limit(config) and not (a(config) and b(config))


def _switched_off_in_a_window(parts: Parts) -> Predicate:
    limit, window = parts.reached(0, 0.2, 0.5), parts.between(1, 0.35, 0.7)
    return lambda config: limit(config) and not window(config)


def _two_windows(parts: Parts) -> Predicate:
    first, second, context = parts.between(0, 0.1, 0.35), parts.between(0, 0.6, 0.9), parts.on(0)
    return lambda config: context(config) and (first(config) or second(config))


def _another_limit_in_each_mode(parts: Parts) -> Predicate:
    choice, one = parts.choices[0], parts.integers[0]
    places = parts.rng.sample((0.2, 0.4, 0.6, 0.8, 0.9, 0.95), len(choice.values))
    limits = {value: one.at(place) for value, place in zip(choice.values, places, strict=True)}
    return lambda config: bool(config[one.name] >= limits[config[choice.name]])


def _another_parameter_in_each_mode(parts: Parts) -> Predicate:
    flag, a, b = parts.on(0), parts.reached(0), parts.reached(1)
    return lambda config: a(config) if flag(config) else b(config)


def _five_together(parts: Parts) -> Predicate:
    limit, choice, flags = parts.reached(0, 0.2, 0.5), parts.chosen(0), [parts.on(i) for i in range(3)]
    return lambda config: limit(config) and not choice(config) and all(one(config) for one in flags)


def _first_of_an_order(parts: Parts) -> Predicate:
    place = parts.event(2)
    return lambda config: place(config) == 0


def _either_of_two_orders(parts: Parts) -> Predicate:
    a, b, c, d = (parts.event(i) for i in range(4))
    return lambda config: c(config) < a(config) or d(config) < b(config)


def _next_to_each_other(parts: Parts) -> Predicate:
    a, c = parts.event(0), parts.event(2)
    return lambda config: a(config) - c(config) == 1


def _every_fourth_value(parts: Parts) -> Predicate:
    one = parts.integers[0]
    return lambda config: bool((config[one.name] - one.low) // one.step % 4 == 3)


def _outside_a_circle(parts: Parts) -> Predicate:
    a, b = parts.integers[:2]
    return lambda config: bool(a.position(config[a.name]) ** 2 + b.position(config[b.name]) ** 2 >= 0.9)


FORMS: Mapping[str, Callable[[Parts], Predicate]] = {
    "exactly one of two switches": _exactly_one,
    "exactly one of two limits": _one_of_two_limits,
    "an odd number of three switches": _odd_number,
    "any of three conditions": _any_of_three,
    "two alternatives in a context": _alternatives_in_a_context,
    "two of three limits": _two_of_three,
    "a limit, unless two settings meet": _switched_off_by_two,
    "a limit, unless another lies in a window": _switched_off_in_a_window,
    "two windows of one parameter": _two_windows,
    "a limit of its own in each mode": _another_limit_in_each_mode,
    "another parameter's limit in each mode": _another_parameter_in_each_mode,
    "five conditions together": _five_together,
    "an event before all others": _first_of_an_order,
    "either of two orders": _either_of_two_orders,
    "two events next to each other": _next_to_each_other,
    "every fourth value": _every_fourth_value,
    "outside a quarter of a circle": _outside_a_circle,
}


class FormDevice:
    """A device whose symptom S6 shows where a predicate holds."""

    def __init__(self, form: str, seed: int) -> None:
        self.ledger = Ledger()
        rng = Random(f"{form}/{seed}")
        self._noise = Random(f"{form}/{seed}/noise")
        while True:
            self.parts, self.parameters = _drawn(rng)
            self.default: Config = {one.name: draft.usual(rng, one) for one in self.parameters}
            self.fails = FORMS[form](self.parts)
            share = sum(self.fails(self.draw(rng)) for _ in range(DRAWN)) / DRAWN
            if not self.fails(self.default) and RAREST <= share <= MOST_COMMON:
                break
        self.name = f"{form} {seed}"
        self._metrics: tuple[Metric, ...] = stock.metrics(rng, 2)

    def draw(self, rng: Random) -> Config:
        """Any configuration."""
        return {one.name: one.draw(rng) for one in self.parameters}

    def describe(self) -> dict[str, Any]:
        """As `dut/1` asks."""
        return {
            "protocol": "dut/1",
            "name": self.name,
            "description": "A device whose fault is no conjunction.",
            "parameters": [one.describe() for one in self.parameters],
            "metrics": [one.describe() for one in self._metrics],
            "symptoms": ["S1", "S6"],
            "topology": None,
            "sequential": False,
            "default": self.default,
        }

    def test(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Test one configuration."""
        symptoms = ["S6"] if self.fails(dict(config)) else []
        metrics = {one.name: one.base * self._noise.gauss(1, NOISE) for one in self._metrics}
        answer = {"status": "ok", "symptoms": symptoms, "metrics": metrics}
        self.ledger.enter("test", answer, config)
        return answer

    def reset(self) -> dict[str, Any]:
        """Nothing to bring back."""
        answer = {"status": "ok"}
        self.ledger.enter("reset", answer)
        return answer


def _drawn(rng: Random) -> tuple[Parts, list[Parameter]]:
    """Nine to sixteen parameters, ten of which a form may use."""
    integers = rng.sample([one for one in stock.integer(rng) if isinstance(one, Integer) and one.count >= 40], 4)
    choices = rng.sample([one for one in stock.choice(rng) if isinstance(one, Choice)], 2)
    booleans = rng.sample([one for one in stock.boolean(rng) if isinstance(one, Boolean)], 3)
    orders = [one for one in stock.order(rng) if isinstance(one, Order) and len(one.values) >= 4]
    order = rng.choice(orders or [Order(*stock.ORDERS[0])])
    parameters: list[Parameter] = [*integers, *choices, *booleans, order]
    names = {one.name for one in parameters}
    others = [one for one in (*stock.integer(rng), *stock.choice(rng), *stock.boolean(rng)) if one.name not in names]
    parameters += rng.sample(others, rng.randint(0, 6))
    rng.shuffle(parameters)
    return Parts(rng, tuple(integers), tuple(choices), tuple(booleans), order), parameters
