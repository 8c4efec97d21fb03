"""The kinds of planted devices; each is drawn by seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random

from dut_zoo import chained, draft, traps
from dut_zoo.conditions import Condition, Requirement
from dut_zoo.draft import Again, Draft
from dut_zoo.parameters import Boolean, Choice, Integer, Order
from dut_zoo.planted import Blur, Fault, Planted

QUIET = 0.004
"""Most noise of metrics of a device that is not noisy, as a share."""
TRENDS = 0.03
"""Most that metrics of a healthy device change with its parameters, together."""


def planted(kind: str, seed: int, drawn: Draft, description: str) -> Planted:
    """A device of a draft, with slight noise and trends of its metrics."""
    rng = drawn.rng
    return Planted(
        kind,
        seed,
        description,
        drawn.parameters,
        drawn.metrics,
        drawn.symptoms,
        drawn.default,
        tuple(drawn.faults),
        drawn.smooth(TRENDS),
        Blur(noise=round(rng.uniform(0, QUIET), 4)),
    )


def single_threshold(rng: Random) -> Draft:
    """One integer past a value: linear or logarithmic, now and then near the end of its range, or inside a window."""
    drawn = draft.start(rng)
    parameter = drawn.pick(Integer)
    if not isinstance(parameter, Integer) or parameter.count < 30:
        raise Again
    form = rng.choice(("plain", "plain", "edge", "window"))
    conditions: tuple[Requirement, ...]
    if form == "window":
        conditions = draft.window(rng, parameter)
    else:
        conditions = (draft.threshold(rng, parameter, (0.95, 0.995) if form == "edge" else (0.15, 0.9)),)
    drawn.add(draft.fault(drawn, conditions))
    return drawn


def conjunction(rng: Random) -> Draft:
    """Two to four conditions together."""
    drawn = draft.start(rng, rng.choice((0, 0, 1)))
    drawn.add(draft.fault(drawn, draft.requirements(drawn, rng.randint(2, 4))))
    return drawn


def several_parameters(rng: Random) -> Draft:
    """A product, a sum or a ratio past a value, alone or with one more condition."""
    drawn = draft.start(rng, integers=4)
    drawn.add(draft.fault(drawn, draft.requirements(drawn, rng.choice((1, 1, 2)), form=rng.choice("**+/"))))
    return drawn


def order(rng: Random) -> Draft:
    """One event before another, alone, twice, or with a condition on another parameter."""
    drawn = draft.start(rng, orders=rng.choice((1, 1, 2)))
    parameter = drawn.pick(Order)
    conditions: list[Requirement] = [draft.before(rng, parameter)]
    form = rng.choice(("alone", "with", "with", "chain"))
    if form == "chain" and isinstance(parameter, Order) and len(parameter.values) >= 4:
        a, b, c = (parameter.values[place] for place in sorted(rng.sample(range(len(parameter.values)), 3), reverse=True))
        conditions = [Condition(parameter.name, "before", (a, b)), Condition(parameter.name, "before", (b, c))]
    elif form == "with":
        conditions.append(draft.any_condition(rng, drawn.pick((Integer, Choice, Boolean), {parameter.name})))
    drawn.add(draft.fault(drawn, tuple(conditions)))
    return drawn


def inequality(rng: Random) -> Draft:
    """A choice that is not one value, or one of a set, alone or with another condition."""
    drawn = draft.start(rng, choices=2)
    parameter = drawn.pick(Choice)
    conditions: list[Requirement] = [draft.named(rng, parameter, ("!=", "in"))]
    if rng.random() < 0.6:
        conditions.append(draft.any_condition(rng, drawn.pick((Integer, Choice, Boolean), {parameter.name})))
    drawn.add(draft.fault(drawn, tuple(conditions)))
    return drawn


def symptom(rng: Random, conditions: int) -> Draft:
    """Some conditions that make a symptom and do nothing to metrics."""
    drawn = draft.start(rng)
    drawn.add(Fault(draft.requirements(drawn, conditions), drawn.fresh_symptom()))
    return drawn


def degradation(rng: Random) -> Draft:
    """One or two conditions that worsen a metric by 8 to 50 %."""
    drawn = draft.start(rng)
    drawn.add(Fault(draft.requirements(drawn, rng.randint(1, 2)), None, {rng.choice(drawn.metrics).name: round(rng.uniform(0.08, 0.5), 3)}))
    return drawn


def several(rng: Random) -> Draft:
    """Two or three independent faults."""
    drawn = draft.start(rng, rng.choice((0, 0, 1)))
    drawn.repeats = True
    for _ in range(rng.randint(2, 3)):
        drawn.add(draft.fault(drawn, draft.requirements(drawn, rng.randint(1, 3), drawn.used)))
    return drawn


def hidden(rng: Random) -> Draft:
    """A crash (S3) hides another fault (S6) where the conditions of both hold; they may share a parameter."""
    drawn = draft.start(rng)
    drawn.symptoms = tuple(sorted({*drawn.symptoms, "S3", "S6"}))
    crash = Fault(draft.requirements(drawn, rng.randint(1, 2)), "S3", crash=True)
    drawn.add(crash)
    if drawn.share(crash) < 0.1:
        raise Again
    without = drawn.used if rng.random() < 0.6 else set()
    drawn.add(Fault(draft.requirements(drawn, rng.randint(1, 2), without), "S6"))
    return drawn


def anything(rng: Random) -> Draft:
    """One to three faults of one to four conditions of any kind."""
    drawn = draft.start(rng, rng.choice((0, 0, 1)))
    drawn.repeats = True
    for _ in range(rng.randint(1, 3)):
        form = rng.choice("*+/") if rng.random() < 0.12 else None
        without = drawn.used if rng.random() < 0.8 else set()
        drawn.add(draft.fault(drawn, draft.requirements(drawn, rng.randint(1, 4), without, form)))
    return drawn


def healthy(rng: Random) -> Draft:
    """Nothing."""
    return draft.start(rng, rng.choice((0, 1)))


def plain(make: Callable[[Random], Draft], description: str, kind: str, seed: int) -> Planted:
    """A device whose answers are exact."""
    return planted(kind, seed, draft.again(make, f"{kind}/{seed}"), description)


def flaky(kind: str, seed: int) -> Planted:
    """A symptom that shows in most tests of its conditions, and now and then without a reason."""
    drawn = draft.again(lambda rng: symptom(rng, rng.randint(1, 3)), f"{kind}/{seed}")
    made = planted(kind, seed, drawn, "An RNIC whose symptom does not show each time.")
    shows, alarm = round(drawn.rng.uniform(0.8, 0.95), 3), round(drawn.rng.uniform(0, 0.02), 4)
    return replace(made, blur=replace(made.blur, shows=shows, false_alarm=alarm))


def noisy(kind: str, seed: int) -> Planted:
    """A metric that gets worse, in noise of 1 to 3 %."""
    drawn = draft.again(degradation, f"{kind}/{seed}")
    made = planted(kind, seed, drawn, "An RNIC under test whose measurements vary.")
    return replace(made, blur=Blur(noise=round(drawn.rng.uniform(0.01, 0.03), 4)), trends=drawn.smooth(0.015))


def memory(kind: str, seed: int) -> Planted:
    """After a fault every test is bad until a reset."""
    drawn = draft.again(lambda rng: symptom(rng, rng.randint(1, 3)), f"{kind}/{seed}")
    if drawn.rng.random() < 0.5:
        drawn.faults = [replace(fault, effects={drawn.metrics[0].name: 0.7}) for fault in drawn.faults]
    return replace(planted(kind, seed, drawn, "An RNIC that may not recover by itself."), memory=True)


def hides(kind: str, seed: int) -> Planted:
    """A crash hides another fault; a crashed device measures nothing, or zero."""
    drawn = draft.again(hidden, f"{kind}/{seed}")
    return replace(planted(kind, seed, drawn, "An RNIC that may crash."), crash_metrics=drawn.rng.choice(("empty", "zero")))


def nothing(kind: str, seed: int) -> Planted:
    """Nothing is wrong: metrics vary by 2 to 3 % with parameters, one of them improves with another, and all have noise."""
    drawn = draft.again(healthy, f"{kind}/{seed}")
    rng = drawn.rng
    made = planted(kind, seed, drawn, "An RNIC after acceptance.")
    return traps.improving(replace(made, blur=Blur(noise=round(rng.uniform(0.002, 0.02), 4))), rng)


def table(kind: str, seed: int) -> Planted:
    """Tables chained at will: conditions on the chain and on others, under a topology."""
    return chained.make(kind, seed, TRENDS, QUIET)


KINDS: dict[str, Callable[[str, int], Planted]] = {
    "threshold": partial(plain, single_threshold, "An RNIC under a load that can be raised."),
    "conjunction": partial(plain, conjunction, "An RNIC with some offloads."),
    "boundary": partial(plain, several_parameters, "An RNIC whose buffers several settings share."),
    "order": partial(plain, order, "An RNIC whose driver is taken down and brought up."),
    "inequality": partial(plain, inequality, "An RNIC with several modes."),
    "flaky": flaky,
    "noisy": noisy,
    "several": partial(plain, several, "An RNIC with new firmware."),
    "hidden": hides,
    "topology": table,
    "memory": memory,
    "healthy": nothing,
}
"""The twelve kinds, in the order of the specification."""

TRAPS: dict[str, Callable[[str, int], Planted]] = {
    name: partial(trap, base=partial(plain, conjunction, "An RNIC with some offloads.")) for name, trap in traps.TRAPS.items()
}
"""A conjunction with one more difficulty each."""

RANDOM: dict[str, Callable[[str, int], Planted]] = {"random": partial(plain, anything, "An RNIC of which nothing is known.")}
"""One to three faults of one to four conditions of any kind, by seed."""

ALL = {**KINDS, **TRAPS, **RANDOM}


def make(kind: str, seed: int) -> Planted:
    """The device of a kind and a seed; the same one each time.

    Raises
    ------
    ValueError
        There is no such kind.
    """
    if kind not in ALL:
        raise ValueError(f"no device {kind!r}; there are: {', '.join(ALL)}")
    return ALL[kind](kind, seed)
