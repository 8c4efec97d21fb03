"""Values at the edge of a bound, and an RNIC whose windows hold exactly what a test asks for.

Tests of the catalogue's numbers are generated from its files: whatever a bound, a window or a duration is, the value that just meets it
and the one that just misses it follow from it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from wallwatch.domain.catalogue.load import detected
from wallwatch.domain.catalogue.models import Bound, Condition, Definition, Detected
from wallwatch.domain.symptoms import features, host
from wallwatch.domain.symptoms.features import POPULATION_CHANGE, POPULATION_DROP, is_event
from wallwatch.domain.symptoms.host_stage import HOST, Message, step
from wallwatch.domain.symptoms.packed_window import PackedWindow
from wallwatch.domain.symptoms.rnic_state import RnicState
from wallwatch_testing.stories import HOST as HOST_NAME
from wallwatch_testing.stories import PCI, START_MS, event

Signals = Mapping[str, float]
"""Signal -> its value; one that is absent is not measured."""

FLOWS = 8192.0
"""The size of a table before it drops; a power of two, so that shares of it are exact."""


def just_met(bound: Bound) -> float:
    """The last value that meets a bound."""
    for inclusive in (bound.at_least, bound.at_most):
        if inclusive is not None:
            return inclusive
    return math.nextafter(bound.above, math.inf) if bound.above is not None else math.nextafter(bound.below or 0.0, -math.inf)


def just_missed(bound: Bound) -> float:
    """The first value that does not meet a bound."""
    for exclusive in (bound.above, bound.below):
        if exclusive is not None:
            return exclusive
    return math.nextafter(bound.at_most, math.inf) if bound.at_most is not None else math.nextafter(bound.at_least or 0.0, -math.inf)


def definitions() -> list[tuple[Detected, Definition]]:
    """Everything with a definition, in the order in which the stage judges it."""
    return [(entry, entry.definition) for entry in detected().values() if entry.definition is not None]


def conditions(*roles: str) -> list[tuple[Definition, Condition]]:
    """Each condition with one of these roles, with its definition."""
    return [(definition, c) for _, definition in definitions() for c in definition.conditions if c.role in roles]


def name_of(definition: Definition, condition: Condition) -> str:
    """A condition in the name of a test."""
    group = f" {condition.any}" if condition.any else ""
    return f"{definition.rule}{group} {condition.signal} {condition.statistic} of {condition.window_s} s"


def alternatives(definition: Definition, condition: Condition) -> list[Condition]:
    """The other conditions of which one would do in place of this one."""
    return [c for c in definition.conditions if c is not condition and c.any is not None and c.any == condition.any]


def groups(definition: Definition, *roles: str) -> list[list[Condition]]:
    """Conditions with one of these roles, alternatives together."""
    found: dict[object, list[Condition]] = {}
    for at, condition in enumerate(definition.conditions):
        if condition.role in roles:
            found.setdefault(condition.any or at, []).append(condition)
    return list(found.values())


def _consistent(wanted: Iterable[tuple[str, Bound]]) -> dict[str, float] | None:
    """A value for each signal that meets all its bounds; None when no value does."""
    bounds: dict[str, list[Bound]] = {}
    for signal, bound in wanted:
        bounds.setdefault(signal, []).append(bound)
    found = {}
    for signal, all_of_it in bounds.items():
        value = next((just_met(b) for b in all_of_it if all(other.holds(just_met(b)) for other in all_of_it)), None)
        if value is None:
            return None
        found[signal] = value
    return found


def shown_by(definition: Definition) -> dict[str, float]:
    """Signals that show a symptom: of each group of alternatives, one just meets its bound."""
    for chosen in product(*groups(definition, "required", "gate")):
        found = _consistent((c.signal, c.raise_) for c in chosen)
        if found is not None:
            return found
    raise AssertionError(f"{definition.rule}: no values meet all conditions")


def ended_by(definition: Definition) -> Iterator[dict[str, float]]:
    """Signals that end a symptom, for each group of its required conditions: that group just meets its clear bounds."""
    shown = shown_by(definition)
    for group in groups(definition, "required"):
        gone = _consistent((c.signal, c.clear) for c in group if c.clear is not None)
        assert gone is not None, f"{definition.rule}: no values clear {[c.signal for c in group]}"
        yield {**shown, **{signal: value for signal, value in gone.items() if signal in shown or not is_event(signal)}}


class Bench:
    """A host with one RNIC. At each tick the windows hold the given signals and nothing else, and the stage judges them."""

    def __init__(self, entry: Detected) -> None:
        assert entry.definition is not None
        self.definition = entry.definition
        self.rnic = RnicState()
        self.host = host.new()
        self.state: dict[str, Any] = {HOST: self.host, PCI: self.rnic}

    def _has(self, symptom: str) -> bool:
        """Whether the RNIC keeps a symptom's life, not the host."""
        entry = detected()[symptom]
        assert entry.definition is not None
        return entry.definition.scope == "rnic"

    def lives_of(self, symptom: str) -> dict[str, Any]:
        """Where the life of a symptom is kept."""
        found: dict[str, Any] = self.rnic.symptoms if self._has(symptom) else self.host["symptoms"]
        return found

    def note_end(self, symptom: str, at_ms: int) -> None:
        """A symptom ended then."""
        if self._has(symptom):
            self.rnic.ended = {symptom: at_ms}
        else:
            self.host["ended"] = {symptom: at_ms}

    def _show(self, signals: Signals, now_ms: int) -> None:
        self.rnic.fine, self.rnic.coarse = PackedWindow(), PackedWindow()
        self.host["events"] = {name: [[now_ms * 1000, PCI, value]] for name, value in signals.items() if is_event(name) and value}
        drop = signals.get(POPULATION_DROP, signals.get(POPULATION_CHANGE))
        if drop is not None:
            features.keep(self.rnic, now_ms - 5000, {"flows_offloaded": FLOWS})
            features.keep(self.rnic, now_ms, {"flows_offloaded": FLOWS * (1.0 - drop)})
        self.rnic.transport = {"form": features.transport_places()[1], "rows": []}
        features.keep(self.rnic, now_ms, dict(signals))

    def tick(self, second: float, signals: Signals) -> list[str]:
        """The states that the stage reports of this definition at a second."""
        self._show(signals, START_MS + int(second * 1000))
        tags = {"host": HOST_NAME, "pci": PCI, "rack": "r1"}
        at_ns = (START_MS + int(second * 1000)) * 1_000_000
        messages = [Message(measurement, tags, at_ns, {}) for measurement in ("rnic_offload", "rnic")]
        if self.definition.scope == "host":
            # A host's symptoms begin with an event: one that no condition counts.
            messages.append(event(second, "kernel_oops", driver="mlx5_core"))
        found = []
        for message in messages:
            self.state, reported = step(self.state, message)
            found += [f["state"] for f in reported if f["rule"] == self.definition.rule]
        self.host, self.rnic = self.state.get(HOST, self.host), self.state[PCI]
        return found
