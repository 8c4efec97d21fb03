"""Difficulties on top of a planted fault, and metrics that improve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Protocol

from dut_zoo import draft
from dut_zoo.conditions import Condition
from dut_zoo.draft import Again, Draft
from dut_zoo.parameters import Boolean, Integer
from dut_zoo.planted import Fault, Metric, Planted, Trend


class Base(Protocol):
    """Makes the device that a trap is added to."""

    def __call__(self, kind: str, seed: int) -> Planted:
        """A device."""


def improving(made: Planted, rng: Random) -> Planted:
    """A metric of its own that gets much better with an integer, whose default is at the bad end."""
    parameter = rng.choice([one for one in made.parameters if isinstance(one, Integer)])
    metric = Metric("goodput_mbps", "Mbit/s", True, 400.0) if rng.random() < 0.5 else Metric("jitter_us", "us", False, 40.0)
    default = made.default | {parameter.name: parameter.low}
    if made.bad(default):
        default = made.default | {parameter.name: parameter.high}
    if made.bad(default):
        return made
    sign = -1 if default[parameter.name] == parameter.low else 1
    trend = Trend(metric.name, parameter.name, round(sign * rng.uniform(0.2, 0.4), 3))
    return replace(made, default=default, metrics=(*made.metrics, metric), trends=(*made.trends, trend))


def improved(kind: str, seed: int, base: Base) -> Planted:
    """A metric that improves is no degradation."""
    return improving(base(kind, seed), Random(f"{kind}/{seed}/trap"))


def conditional(kind: str, seed: int, base: Base) -> Planted:
    """A threshold that only matters when a switch is on that is off by default."""

    def drawn(rng: Random) -> Draft:
        made = draft.start(rng)
        switch = made.pick(Boolean)
        made.default[switch.name] = False
        deep = draft.threshold(rng, made.pick(Integer))
        if not deep.holds(made.default):
            raise Again
        made.add(Fault((Condition(switch.name, "==", True), deep), made.fresh_symptom()))
        return made

    made = draft.again(drawn, f"{kind}/{seed}")
    plain = base(kind, seed)
    return replace(
        plain,
        parameters=made.parameters,
        metrics=made.metrics,
        symptoms=made.symptoms,
        default=made.default,
        faults=tuple(made.faults),
        trends=made.smooth(0.03),
    )


def unhealthy(kind: str, seed: int, base: Base) -> Planted:
    """The default configuration is in the failing region, and shows a symptom; nobody could know that a metric should be better."""
    made = base(kind, seed)
    made = replace(made, faults=tuple(replace(fault, symptom=fault.symptom or made.symptoms[0]) for fault in made.faults))
    rng = Random(f"{kind}/{seed}/trap")
    while not made.bad(default := made.draw(rng)):
        continue
    return replace(made, default=default)


def unknown(kind: str, seed: int, base: Base) -> Planted:
    """A symptom that no catalogue has."""
    made = base(kind, seed)
    strange = "PCIe-AER/0x4000"
    faults = tuple(replace(fault, symptom=strange) for fault in made.faults)
    return replace(made, faults=faults, symptoms=(*made.symptoms, strange))


def drifting(kind: str, seed: int, base: Base) -> Planted:
    """Metrics move by 2 % up and down over hours."""
    made = base(kind, seed)
    return replace(made, blur=replace(made.blur, drift=0.02), trends=())


def distracting(kind: str, seed: int, base: Base) -> Planted:
    """Every metric depends on nearly every parameter, by 4.5 % together."""
    made = base(kind, seed)
    share = 0.045 / len(made.parameters)
    trends = tuple(Trend(metric.name, one.name, round(share, 5)) for metric in made.metrics for one in made.parameters)
    return replace(made, trends=trends, blur=replace(made.blur, noise=0.0005))


def failing(kind: str, seed: int, base: Base) -> Planted:
    """One test of thirty ends with an error; a retry may pass."""
    made = base(kind, seed)
    return replace(made, blur=replace(made.blur, errors=1 / 30))


TRAPS: dict[str, Callable[..., Planted]] = {
    "trap-conditional": conditional,
    "trap-default": unhealthy,
    "trap-improvement": improved,
    "trap-unknown-symptom": unknown,
    "trap-drift": drifting,
    "trap-distractors": distracting,
    "trap-errors": failing,
}
