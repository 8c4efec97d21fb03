"""Devices whose flow tables are chained by parameters: some configurations loop or lead nowhere."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from dut_zoo import draft
from dut_zoo.conditions import Condition, Requirement
from dut_zoo.draft import Again, Draft
from dut_zoo.parameters import Boolean, Choice, Config, Integer, Parameter, brute_force
from dut_zoo.planted import Blur, Fault, Planted
from dut_zoo.topology import Edge, Topology

FEWEST_VALID = 0.02
"""At least so many of all configurations are valid."""


def tables(rng: Random) -> tuple[list[Choice | Boolean], Topology]:
    """Three to five tables, the next one of each a choice, one or two entries, and an uplink; one table may drop."""
    names = [f"T{number}" for number in range(1, rng.randint(3, 5) + 1)]
    choices: list[Choice] = []
    edges = []
    for name in names:
        targets = [other for other in names if other != name or rng.random() < 0.3]
        targets = [*rng.sample(targets, min(len(targets), 4)), "uplink"]
        closed = ["none"] if rng.random() < 0.4 else []
        parameter = Choice(f"{name.lower()}_next", "flow tables", tuple(rng.sample(targets + closed, len(targets + closed))))
        choices.append(parameter)
        edges += [Edge(name, target, ((parameter.name, target),)) for target in targets]
    entries = ["vf0", "vf1"][: rng.choice((1, 1, 2))]
    edges += [Edge(entry, "T1", ()) for entry in entries[:1]]
    if len(entries) > 1:
        choices.append(Choice("vf1_table", "SR-IOV", tuple(names[:2])))
        edges += [Edge("vf1", name, (("vf1_table", name),)) for name in names[:2]]
    gate = [Boolean("hairpin_queue", "eSwitch")] if rng.random() < 0.4 else []
    if gate:
        # One table can also send packets back, but only where the hairpin queue is on.
        place = rng.randrange(len(names))
        choices[place] = replace(choices[place], values=(*choices[place].values, "hairpin"))
        when = ((choices[place].name, "hairpin"), ("hairpin_queue", True))
        edges.append(Edge(names[place], "wire", when))
    return [*choices, *gate], Topology(tuple(entries), ("uplink", "wire") if gate else ("uplink",), tuple(edges))


def drawn(rng: Random) -> tuple[Draft, Topology]:
    """A draft with tables among its parameters, and one or two faults that valid configurations show."""
    made = draft.start(rng)
    chain, topology = tables(rng)
    others = made.parameters[: 20 - len(chain)]
    parameters: tuple[Parameter, ...] = (*chain, *others)
    if not draft.FEWEST_TESTS <= brute_force(parameters) <= draft.MOST_TESTS:
        raise Again
    made.parameters = parameters
    everything = [made.draw() for _ in range(1500)]
    valid = [config for config in everything if topology.fault(config) is None]
    if len(valid) < FEWEST_VALID * len(everything):
        raise Again
    made.default = rng.choice(valid)
    links = [one for one in chain if isinstance(one, Choice)]
    conditions: list[Requirement] = [link(rng, links)]
    if rng.random() < 0.3:
        conditions.append(link(rng, [one for one in links if one.name != conditions[0].names[0]]))
    conditions.append(draft.any_condition(rng, made.pick((Integer, Boolean), {one.name for one in chain})))
    made.faults.append(draft.fault(made, tuple(conditions)))
    if rng.random() < 0.4:
        made.faults.append(draft.fault(made, draft.requirements(made, rng.randint(1, 2), made.used | {one.name for one in chain})))
    for fault in made.faults:
        check(fault, made, topology, valid)
    return made, topology


def link(rng: Random, chain: list[Choice]) -> Condition:
    """A condition on where a table leads."""
    parameter = rng.choice(chain)
    real = [value for value in parameter.values if value != "none"]
    return Condition(parameter.name, "==" if rng.random() < 0.8 else "!=", rng.choice(real))


def check(fault: Fault, made: Draft, topology: Topology, valid: list[Config]) -> None:
    """Refuse a fault that is too rare among the valid, shows by default, or has a condition that the topology implies."""
    held = [config for config in valid if fault.holds(config)]
    if fault.holds(made.default) or not draft.RAREST * 2 <= len(held) / len(valid) <= draft.MOST_COMMON or len(held) < 4:
        raise Again
    for one in fault.conditions:
        if not isinstance(one, Condition):
            continue
        parameter = made.parameter(one.parameter)
        if not isinstance(parameter, Choice):
            continue
        broken = [config | {parameter.name: value} for config in held for value in parameter.values if not one.accepts(value)]
        if sum(topology.fault(config) is None for config in broken) < 3:
            raise Again


def make(kind: str, seed: int, trends: float, quiet: float) -> Planted:
    """The device of a seed."""
    for attempt in range(2000):
        rng = Random(f"{kind}/{seed}/{attempt}")
        try:
            made, topology = drawn(rng)
        except Again:
            continue
        return Planted(
            kind,
            seed,
            "An RNIC whose flow tables can be chained.",
            made.parameters,
            made.metrics,
            made.symptoms,
            made.default,
            tuple(made.faults),
            made.smooth(trends),
            Blur(noise=round(rng.uniform(0, quiet), 4)),
            topology,
        )
    raise ValueError(f"{kind}-{seed}: nothing good was drawn")
