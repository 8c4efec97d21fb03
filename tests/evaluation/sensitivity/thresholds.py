"""Every number of the rules that can be moved: bounds and durations of the catalogue, and constants of `domain/symptoms`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from tests.evaluation.sensitivity.constants import reasons

from wallwatch.domain.catalogue.load import causes, detected, event_signals, known_signals
from wallwatch.domain.catalogue.models import Bound, Condition, Definition, EvidenceRule
from wallwatch.domain.symptoms import detect, first_signs, host, rnic_stage, signals, silence

SHARES_OF_ONE = frozenset({"bandwidth_share", "pcie_share", "encap_wall_share"})
"""Signals with bounds near 1 that do not pass it: a fifth more than such a bound is met always, or never."""
SIDES = ("at_least", "at_most", "above", "below")
FACTORS = (0.8, 1.2)

Reads = Literal["bounds", "phases", "pauses", "deletions", "full ports"]
"""What a host's run must show for a number to matter: values near a bound; conditions that held; a pause of its samples; deletions; a
predicted loss of bandwidth."""

Kind = Literal["raise", "clear", "evidence", "duration", "constant", "silence"]
"""Where a number is compared. `constant`: on the way to a signal; `silence`: outside of the stage."""


@dataclass(frozen=True)
class Threshold:
    """One number."""

    name: str
    kind: Kind
    concerns: tuple[str, ...]
    """The symptoms that it decides about, S1 to S8; empty for all."""
    owner: str
    """The entry of the catalogue that it belongs to, or the module."""
    text: str
    """The number as its rule writes it, with its unit."""
    value: float
    why: str
    set: Callable[[float], None]
    rule: str = ""
    """The definition that a duration belongs to."""
    bounds: tuple[Bound, ...] = ()
    whole: bool = False
    """Whether only whole numbers make a difference: a count."""
    reads: Reads = "bounds"
    below_one: bool = False
    """Whether it is a share that cannot pass 1."""

    def moved(self, factor: float) -> float:
        """The number moved; a count to the next whole number, and a share that would pass 1 by as much of its distance to 1.

        >>> from dataclasses import replace
        >>> one = next(thresholds())
        >>> replace(one, value=2.0, whole=True).moved(1.2), replace(one, value=0.15).moved(0.8)
        (3.0, 0.12)
        >>> replace(one, value=0.9, below_one=True).moved(1.2), replace(one, value=0.75, below_one=True).moved(1.2)
        (0.92, 0.9)
        """
        value = self.value * factor
        if self.below_one and value >= 1:
            value = 1 - (1 - self.value) * (2 - factor)
        if self.whole:
            return float(math.ceil(value) if factor > 1 else math.floor(value))
        return float(f"{value:.6g}")

    @contextmanager
    def at(self, value: float) -> Iterator[None]:
        """Let the rules use another value for a while."""
        self.set(value)
        try:
            yield
        finally:
            self.set(self.value)


def side_of(bound: Bound) -> tuple[str, float]:
    """Which of the four comparisons a bound is, and its limit.

    >>> side_of(Bound(below=0.07))
    ('below', 0.07)
    """
    return next((side, limit) for side in SIDES if (limit := getattr(bound, side)) is not None)


def with_limit(bound: Bound, limit: float) -> Bound:
    """The same comparison with another limit."""
    return Bound.model_validate({side_of(bound)[0]: limit})


def asks_whether(signal: str, bound: Bound) -> bool:
    """Whether a condition asks if an event happened at all: there is nothing to move.

    >>> asks_whether("boots", Bound(at_most=0)), asks_whether("vf_unbinds", Bound(at_least=2))
    (True, False)
    """
    return signal in event_signals() and side_of(bound)[1] <= 1


def thresholds() -> Iterator[Threshold]:
    """All that decide about a finding or the order of its causes."""
    for entry in detected().values():
        if entry.definition is not None:
            concerns = (entry.id,) if entry.id.startswith("S") else ()
            yield from _of_conditions(entry.id, concerns, entry.definition)
            yield from _of_durations(entry.id, concerns, entry.definition)
    yield from _of_causes()
    yield from _of_constants()


def _of_conditions(owner: str, concerns: tuple[str, ...], definition: Definition) -> Iterator[Threshold]:
    for condition in definition.conditions:
        if condition.role == "supporting":
            continue
        yield from _of_bound(owner, concerns, definition, condition, condition.raise_, "raise")
        if condition.clear is not None:
            yield from _of_bound(owner, concerns, definition, condition, condition.clear, "clear")


def _of_bound(
    owner: str, concerns: tuple[str, ...], definition: Definition, condition: Condition, bound: Bound, kind: Literal["raise", "clear"]
) -> Iterator[Threshold]:
    if asks_whether(condition.signal, bound):
        return
    does = {"raise": "raises" if condition.role == "required" else "is a gate of", "clear": "clears"}[kind]
    place = f"{condition.any}, " if condition.any else ""
    name = f"{condition.signal} {does} {owner} ({place}{condition.statistic} of {condition.window_s} s)"
    yield Threshold(
        name, kind, concerns, owner, _with_unit(condition.signal, bound), side_of(bound)[1], condition.why, _setter(bound),
        definition.rule, (bound,), condition.signal in event_signals(), below_one=condition.signal in SHARES_OF_ONE,
    )  # fmt: skip


def _with_unit(signal: str, bound: Bound) -> str:
    unit = known_signals()[signal][1]
    return bound.text if unit in ("none", "ratio") else f"{bound.text} {unit}"


def _setter(*bounds: Bound) -> Callable[[float], None]:
    def set_all(value: float) -> None:
        for bound in bounds:
            bound.__dict__[side_of(bound)[0]] = value  # entries are frozen, and cached: this is their one value
        first_signs.read_again()

    return set_all


def _of_durations(owner: str, concerns: tuple[str, ...], definition: Definition) -> Iterator[Threshold]:
    for field, text in (("raise_for_s", "holds for this long before"), ("clear_for_s", "is gone for this long before")):
        value = getattr(definition, field)
        if value:

            def set_field(seconds: float, field: str = field) -> None:
                definition.__dict__[field] = seconds

            end = "is raised" if field == "raise_for_s" else "is cleared"
            yield Threshold(
                f"{owner} {text} it {end}", "duration", concerns, owner, f"{value} s", value, definition.why, set_field, definition.rule
            )
    for other, value in definition.not_with.items():

        def set_pause(seconds: float, other: str = other) -> None:
            definition.not_with[other] = seconds  # type: ignore[assignment]  # the catalogue itself has whole seconds

        name = f"{owner} is not raised this long after {other}"
        yield Threshold(name, "duration", concerns, owner, f"{value} s", value, definition.why, set_pause, definition.rule)


def _of_causes() -> Iterator[Threshold]:
    """Several causes may share one test; it is one observation, so it is moved for all of them."""
    shared: dict[tuple[object, ...], list[tuple[str, EvidenceRule]]] = {}
    for cause in causes().values():
        for rule in cause.rules:
            if not asks_whether(rule.signal, rule.test):
                key = (rule.signal, rule.test.text, rule.window_s, rule.statistic, rule.only_for)
                shared.setdefault(key, []).append((cause.id, rule))
    for rules in shared.values():
        owners, rule = [cause for cause, _ in rules], rules[0][1]
        concerns = sorted(
            {symptom for owner in owners for symptom in causes()[owner].explains if not rule.only_for or symptom in rule.only_for}
        )
        owner = ", ".join(owners)
        bounds = [one.test for _, one in rules]
        yield Threshold(
            f"{rule.signal} is evidence for {owner} ({rule.statistic} of {rule.window_s} s)", "evidence", tuple(concerns), owner,
            _with_unit(rule.signal, rule.test), side_of(rule.test)[1], rule.why, _setter(*bounds), "", tuple(bounds),
            rule.signal in event_signals(), below_one=rule.signal in SHARES_OF_ONE,
        )  # fmt: skip


CONSTANTS: tuple[tuple[ModuleType, str, tuple[str, ...], Reads], ...] = (
    (detect, "SLACK", (), "phases"),
    (host, "LONG_PAUSE_S", ("S2",), "pauses"),
    (host, "PAUSE_FACTOR", ("S2",), "pauses"),
    (host, "REVALIDATOR_MS", ("S4",), "deletions"),
    (host, "SLOWEST_SWEEP_MS_PER_FLOW", ("S4",), "deletions"),
    (host, "ENOUGH_FLOWS", ("S4",), "deletions"),
    (host, "FEW_DELETIONS_PER_S", ("S4",), "deletions"),
    (rnic_stage, "SMALL_TABLE", ("S4",), "deletions"),
    (signals, "FULL", ("S6",), "full ports"),
    (signals, "MOST_USUAL_DELETIONS", ("S4",), "deletions"),
    (silence, "SILENT_S", (), "bounds"),
    (silence, "INTERVALS", (), "bounds"),
)
"""Constants that decide what a healthy host may show, and the symptoms that they concern. The others bound the state."""


def _of_constants() -> Iterator[Threshold]:
    for module, name, concerns, reads in CONSTANTS:
        value = float(getattr(module, name))

        def set_constant(number: float, module: ModuleType = module, name: str = name) -> None:
            setattr(module, name, number)

        short = module.__name__.rpartition(".")[2]
        kind: Kind = "silence" if module is silence else "constant"
        yield Threshold(
            f"{name} of {short}", kind, concerns, f"{short}.py", f"{value:g}", value, reasons(module)[name], set_constant, reads=reads,
            below_one=value < 1,
        )  # fmt: skip
