"""Drawing a device: its parameters, a healthy default, and faults that can be found and told apart."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from random import Random

from dut_zoo import stock
from dut_zoo.conditions import Boundary, Condition, Requirement, share
from dut_zoo.parameters import Boolean, Choice, Config, Integer, Order, Parameter, brute_force
from dut_zoo.planted import Fault, Metric, Trend

FEWEST_TESTS, MOST_TESTS = 10**4, 10**12
"""Brute force over five levels lies between these."""
RAREST = 1 / 200
"""A fault's conditions hold at least so often, by even draws or by five levels."""
MOST_COMMON = 0.8
WINDOWS = 0.15
"""How often two conditions of a conjunction are a window of one integer."""


class Again(Exception):
    """What was drawn is no good device; draw another."""


@dataclass
class Draft:
    """Parameters and a default, from which faults are drawn."""

    rng: Random
    parameters: tuple[Parameter, ...]
    default: Config
    metrics: tuple[Metric, ...]
    symptoms: tuple[str, ...]
    faults: list[Fault] = field(default_factory=list)
    repeats: bool = False
    """Two faults may show the same symptom."""

    def of(self, kinds: type | tuple[type, ...], without: Set[str] = frozenset()) -> list[Parameter]:
        """Parameters of some kinds, without some names."""
        return [one for one in self.parameters if isinstance(one, kinds) and one.name not in without]

    def pick(self, kinds: type | tuple[type, ...], without: Set[str] = frozenset()) -> Parameter:
        """One parameter of some kinds."""
        some = self.of(kinds, without)
        if not some:
            raise Again
        return self.rng.choice(some)

    @property
    def used(self) -> set[str]:
        """Parameters of the faults so far."""
        return {name for fault in self.faults for name in fault.names}

    def add(self, fault: Fault) -> None:
        """Add a fault, if it can be found, spares the default and is not part of another."""
        if fault.holds(self.default):
            raise Again
        often = self.share(fault)
        if not RAREST <= often <= MOST_COMMON:
            raise Again
        for other in self.faults:
            if other.names & fault.names and not (self.apart(fault, other) and self.apart(other, fault)):
                raise Again
        self.faults.append(fault)

    def share(self, fault: Fault) -> float:
        """How often its conditions hold."""
        often = 1.0
        by_name: dict[str, list[Condition]] = {}
        for one in fault.conditions:
            if isinstance(one, Boundary):
                often *= boundary_share(self.rng, one, [self.parameter(name) for name in one.names])
            else:
                by_name.setdefault(one.parameter, []).append(one)
        for name, conditions in by_name.items():
            often *= share(self.parameter(name), conditions)
        return often

    def apart(self, one: Fault, other: Fault) -> bool:
        """Whether `one` is often seen where `other` does not hold."""
        held = [config for config in (self.draw() for _ in range(3000)) if one.holds(config)]
        return bool(held) and sum(not other.holds(config) for config in held) >= 0.2 * len(held)

    def draw(self) -> Config:
        """Any configuration."""
        return {one.name: one.draw(self.rng) for one in self.parameters}

    def parameter(self, name: str) -> Parameter:
        """The parameter of a name."""
        return next(one for one in self.parameters if one.name == name)

    def fresh_symptom(self) -> str:
        """A symptom; one that a fault already has now and then where `repeats` allows it."""
        taken = [fault.symptom for fault in self.faults if fault.symptom]
        if taken and self.repeats and self.rng.random() < 0.25:
            return self.rng.choice(taken)
        return self.rng.choice([one for one in self.symptoms if one not in {fault.symptom for fault in self.faults}])

    def smooth(self, total: float) -> tuple[Trend, ...]:
        """Trends of some parameters on each metric, together at most `total` either way."""
        trends = []
        for metric in self.metrics:
            some = self.rng.sample(self.parameters, self.rng.randint(1, 4))
            weights = [self.rng.uniform(0.2, 1) for _ in some]
            scale = total * self.rng.uniform(0.5, 1) / sum(weights)
            trends += [
                Trend(metric.name, one.name, round(weight * scale * self.rng.choice((-1, 1)), 4))
                for one, weight in zip(some, weights, strict=True)
            ]
        return tuple(trends)


def again(make: Callable[[Random], Draft], name: str) -> Draft:
    """Draw until a draft is good; the same name gives the same draft."""
    for attempt in range(2000):
        try:
            return make(Random(f"{name}/{attempt}"))
        except Again:
            continue
    raise ValueError(f"{name}: nothing good was drawn")


def start(rng: Random, orders: int = 0, integers: int = 3, choices: int = 1) -> Draft:
    """Nine to twenty parameters, at least so many of each kind, and a default."""
    count = rng.randint(9, 20)
    pools = [rng.sample(pool, len(pool)) for pool in (stock.integer(rng), stock.choice(rng), stock.boolean(rng))]
    chosen = rng.sample(stock.order(rng), orders)
    for pool, least in zip(pools, (integers, choices, 1), strict=True):
        chosen += [pool.pop() for _ in range(least)]
    while len(chosen) < count:
        chosen.append(rng.choice([pool for pool in pools if pool]).pop())
    rng.shuffle(chosen)
    parameters = tuple(chosen)
    if not FEWEST_TESTS <= brute_force(parameters) <= MOST_TESTS:
        raise Again
    default = {one.name: usual(rng, one) for one in parameters}
    symptoms = tuple(sorted(rng.sample(stock.SYMPTOMS, rng.randint(3, 6))))
    return Draft(rng, parameters, default, stock.metrics(rng, rng.randint(1, 3)), symptoms)


def usual(rng: Random, parameter: Parameter) -> object:
    """A default: of an integer often its low end or the middle."""
    if isinstance(parameter, Integer):
        return parameter.at(rng.choice((0.0, 0.1, 0.25, 0.5, rng.random())))
    return list(parameter.values) if isinstance(parameter, Order) else parameter.draw(rng)


def threshold(rng: Random, parameter: Parameter, places: tuple[float, float] = (0.15, 0.9), up: float = 0.75) -> Condition:
    """`>=` (mostly) or `<=` at a place of the parameter's scale."""
    if not isinstance(parameter, Integer):
        raise Again
    place = rng.uniform(*places)
    if rng.random() < up:
        return Condition(parameter.name, ">=", max(parameter.at(place), parameter.low + parameter.step))
    return Condition(parameter.name, "<=", min(parameter.at(1 - place), parameter.high - parameter.step))


def window(rng: Random, parameter: Parameter) -> tuple[Condition, Condition]:
    """Two thresholds on one parameter, both inside its range."""
    if not isinstance(parameter, Integer) or parameter.count < 20:
        raise Again
    width = rng.uniform(0.15, 0.5)
    low = rng.uniform(0.08, 0.92 - width)
    first, last = parameter.at(low), parameter.at(low + width)
    if last - first < 4 * parameter.step:
        raise Again
    return Condition(parameter.name, ">=", first), Condition(parameter.name, "<=", last)


def named(rng: Random, parameter: Parameter, ops: tuple[str, ...] = ("==", "==", "in", "!=")) -> Condition:
    """A condition on a choice or a boolean."""
    if isinstance(parameter, Boolean):
        return Condition(parameter.name, "==", parameter.draw(rng))
    if not isinstance(parameter, Choice):
        raise Again
    op = rng.choice(ops)
    if op == "in":
        if parameter.count < 4:
            raise Again
        some = set(rng.sample(parameter.values, rng.randint(2, parameter.count - 2)))
        return Condition(parameter.name, "in", tuple(value for value in parameter.values if value in some))
    return Condition(parameter.name, op, parameter.draw(rng))


def before(rng: Random, parameter: Parameter) -> Condition:
    """Two events of an order, the wrong way round for the default, which is the order that is described."""
    if not isinstance(parameter, Order):
        raise Again
    later, first = sorted(rng.sample(range(len(parameter.values)), 2))
    return Condition(parameter.name, "before", (parameter.values[first], parameter.values[later]))


def any_condition(rng: Random, parameter: Parameter) -> Condition:
    """A condition that fits the parameter's kind."""
    if isinstance(parameter, Integer):
        return threshold(rng, parameter)
    return before(rng, parameter) if isinstance(parameter, Order) else named(rng, parameter)


def boundary(rng: Random, parameters: list[Parameter], form: str) -> Boundary:
    """A boundary that a tenth to two fifths of the draws are beyond, and to which every parameter matters."""
    if any(not isinstance(one, Integer) or one.low <= 0 for one in parameters):
        raise Again
    shape = Boundary(form, tuple(one.name for one in parameters), 0.0)
    drawn = sorted(shape.of({one.name: one.draw(rng) for one in parameters}) for _ in range(400))
    limit = drawn[int(len(drawn) * rng.uniform(0.6, 0.9))]
    limit = round(limit, 3) if form == "/" else float(round(limit))
    made = Boundary(form, shape.names, limit)
    if not all(_moves(rng, made, parameters, one) for one in parameters):
        raise Again
    return made


def _moves(rng: Random, made: Boundary, parameters: list[Parameter], moved: Parameter) -> bool:
    """Whether going through one parameter's range crosses the boundary for most values of the others."""
    crossed = 0
    for _ in range(40):
        config = {one.name: one.draw(rng) for one in parameters}
        if isinstance(moved, Integer):
            crossed += made.holds(config | {moved.name: moved.low}) != made.holds(config | {moved.name: moved.high})
    return crossed >= 20


def boundary_share(rng: Random, made: Boundary, parameters: list[Parameter]) -> float:
    """How often it holds for values drawn evenly."""
    return sum(made.holds({one.name: one.draw(rng) for one in parameters}) for _ in range(200)) / 200


def requirements(draft: Draft, count: int, without: Set[str] = frozenset(), form: str | None = None) -> tuple[Requirement, ...]:
    """So many conditions, the first of them a boundary if a form is given; only the two of a window are on the same parameter."""
    made: list[Requirement] = []
    names = set(without)
    if form:
        several = [one for one in draft.of(Integer, names) if isinstance(one, Integer) and one.low > 0 and one.count >= 50]
        wanted = 2 if form == "/" or draft.rng.random() < 0.75 else 3
        if len(several) < wanted:
            raise Again
        made.append(boundary(draft.rng, draft.rng.sample(several, wanted), form))
    while len(made) < count:
        names |= {name for one in made for name in one.names}
        parameter = draft.pick((Integer, Choice, Boolean, Order), names)
        if isinstance(parameter, Integer) and parameter.count >= 50 and count - len(made) >= 2 and draft.rng.random() < WINDOWS:
            made += window(draft.rng, parameter)
        else:
            made.append(any_condition(draft.rng, parameter))
    return tuple(made)


def fault(draft: Draft, conditions: tuple[Requirement, ...], degrade: float = 0.25, most: float = 0.5) -> Fault:
    """A fault that shows a symptom, now and then with a worse metric; or only a worse metric."""
    rng = draft.rng
    taken = {fault.metric for fault in draft.faults}
    free = [one.name for one in draft.metrics if one.name not in taken]
    if free and rng.random() < degrade:
        return Fault(conditions, None, {rng.choice(free): round(rng.uniform(0.12, most), 3)})
    effects = {rng.choice(draft.metrics).name: round(rng.uniform(0.1, 0.6), 3)} if rng.random() < 0.4 else {}
    return Fault(conditions, draft.fresh_symptom(), effects)
