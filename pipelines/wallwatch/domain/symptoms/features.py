"""The value of a signal over a window, wherever it is kept: samples of one RNIC, events of its host."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, Protocol
from zlib import crc32

from wallwatch.domain.catalogue.load import causes, derived_signals, detected, event_signals
from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms import events, packed_window, window
from wallwatch.domain.symptoms.packed_window import Layout

EVIDENCE_WINDOW_S = 30
"""Three samples at the usual interval of 10 s."""

POPULATION_CHANGE, POPULATION_DROP = "population_change", "population_drop"


class Asked(Protocol):
    """A condition or a rule: a signal, a window and a statistic."""

    @property
    def signal(self) -> str: ...
    @property
    def window_s(self) -> int: ...
    @property
    def statistic(self) -> str: ...


@cache
def is_event(signal: str) -> bool:
    return signal in event_signals()


class Places(NamedTuple):
    """Which signals the windows of an RNIC have, and numbers that change when these do."""

    fine: Layout
    coarse: Layout
    form: int
    as_lists: int
    """The number of the same signals in the windows of former versions, which were lists."""


_kept_places: list[Places] = []


def places() -> Places:
    """The windows of the catalogue's signals."""
    if not _kept_places:  # asked for several times for each sample: half the time of a decorator
        _kept_places.append(_places())
    return _kept_places[0]


def _places() -> Places:
    asked: list[tuple[str, int]] = []
    for entry in detected().values():
        if entry.definition is not None:
            asked += [(c.signal, c.window_s) for c in entry.definition.conditions]
            asked += [(b.signal, EVIDENCE_WINDOW_S) for b in entry.definition.critical_when]
            asked += [(name, EVIDENCE_WINDOW_S) for r in entry.definition.remedies for name in ("max_idle_ms", "counter_gap_max_s") if r]
    asked += [(rule.signal, rule.window_s) for cause in causes().values() for rule in cause.rules]
    fine = {signal for signal, seconds in asked if seconds * 1000 <= window.WINDOW_MS}
    coarse = {signal for signal, seconds in asked if seconds * 1000 > window.WINDOW_MS}
    # inputs of population_change, population_drop, live_share and deletion_share
    fine |= {"flows_offloaded", "flow_insertions_per_s", "flow_deletions_per_s", "sweep_load", "swept_per_s"}
    elsewhere = {*event_signals(), *(name for name, signal in derived_signals().items() if signal.window == "transport")}
    order = sorted(fine - elsewhere), sorted(coarse - elsewhere)
    return Places(Layout(order[0]), Layout(order[1]), crc32(repr(("packed", order)).encode()), crc32(repr(order).encode()))


@cache
def transport_places() -> tuple[dict[str, int], int, int]:
    """The same of the window of transport signals, which most RNICs do not have: places, number of the form, and its length in ms."""
    order = sorted(name for name, signal in derived_signals().items() if signal.window == "transport")
    conditions = [c for entry in detected().values() if entry.definition is not None for c in entry.definition.conditions]
    longest_s = max([EVIDENCE_WINDOW_S, *(c.window_s for c in conditions if c.signal in order)])
    return {name: place for place, name in enumerate(order)}, crc32(repr(order).encode()), longest_s * 1000


@cache
def _where(signal: str, window_s: int) -> tuple[str, int | None, int]:
    """Where a signal over such a window is kept: the name of the rows, its place in them, and their form."""
    fine, coarse, form, _ = places()
    if is_event(signal):
        return "events", None, form
    if signal in transport_places()[0]:
        return "transport", transport_places()[0][signal], transport_places()[1]
    if signal in (POPULATION_CHANGE, POPULATION_DROP):
        return "population", fine.places["flows_offloaded"], form
    if window_s * 1000 > window.WINDOW_MS:
        return "coarse", coarse.places[signal], form
    return "fine", fine.places.get(signal), form


def is_fine(signal: str, window_s: int) -> bool:
    """Whether a signal over such a window is kept in the fine one."""
    return _where(signal, window_s)[0] == "fine"


def adopt(rnic_state: dict[str, Any]) -> None:
    """Bring the windows of a former version into the present form, before a sample is looked at; those of other signals are left behind."""
    fine, coarse, form, as_lists = places()
    known = rnic_state.get("form")
    if known == form:
        return
    rnic_state["form"] = form
    for name, layout in (("fine", fine), ("coarse", coarse)):
        rnic_state[name] = layout.of_rows(rnic_state[name]) if known == as_lists else packed_window.new()


def keep(rnic_state: dict[str, Any], at_ms: int, values: dict[str, float]) -> None:
    """Put a sample's used values into the windows of its RNIC."""
    adopt(rnic_state)
    fine, coarse, _, _ = places()
    newest = rnic_state["newest"]
    fine.add(rnic_state["fine"], at_ms, values, newest)
    coarse.add(rnic_state["coarse"], at_ms, values, newest, window.COARSE_BUCKET_MS, window.COARSE_WINDOW_MS)
    if "engine" in rnic_state or "transport" in rnic_state:
        _keep_transport(rnic_state, at_ms, values)


def _keep_transport(rnic_state: dict[str, Any], at_ms: int, values: dict[str, float]) -> None:
    index, form, length_ms = transport_places()
    if values.keys().isdisjoint(index):
        return
    kept = rnic_state.get("transport")
    if kept is None or kept["form"] != form:
        kept = rnic_state["transport"] = {"form": form, "rows": []}
    window.add(kept["rows"], index, at_ms, values, rnic_state["newest"], window.BUCKET_MS, length_ms)


class Features:
    """Looks signals up for one RNIC (`rnic_state` and `pci`), or for a host as a whole (`pci` None)."""

    __slots__ = ("_events", "_now_ms", "_pci", "_rnic_state")

    def __init__(self, rnic_state: dict[str, Any] | None, host_events: events.Events, now_ms: int, pci: str | None) -> None:
        self._rnic_state = rnic_state
        self._events = host_events
        self._now_ms = now_ms
        self._pci = pci

    def of(self, asked: Asked) -> Feature | None:
        return self.get(asked.signal, asked.window_s, asked.statistic)

    def get(self, signal: str, window_s: int = EVIDENCE_WINDOW_S, statistic: str = "mean") -> Feature | None:
        """The signal over the window that ends now; None when it was not measured in it."""
        rows, place, form = _where(signal, window_s)
        if rows == "events":
            return events.feature(self._events, signal, self._now_ms, window_s, self._pci)
        rnic_state = self._rnic_state
        if rnic_state is None or place is None:
            return None
        if rows == "transport":
            kept = rnic_state.get("transport")
            return window.feature(kept["rows"], place, self._now_ms, window_s, statistic) if kept and kept["form"] == form else None
        if rnic_state.get("form") != form:
            return None
        fine, coarse, _, _ = places()
        if rows == "fine":
            return fine.feature(rnic_state["fine"], place, self._now_ms, window_s, statistic)
        if rows == "coarse":
            return coarse.feature(rnic_state["coarse"], place, self._now_ms, window_s, statistic, window.COARSE_BUCKET_MS)
        of_population = window.swing_of if signal == POPULATION_CHANGE else window.drop_of
        return of_population(fine.rows_of(rnic_state["fine"], place), 0, self._now_ms, window_s)

    def parts(self, signal: str) -> dict[str, float]:
        """Counters whose sum the signal is, by how much each grew when any last did; empty for any other signal."""
        kept = (self._rnic_state or {}).get("parts", {}).get(signal, {})
        return {name: float(grown) for name, grown in kept.items()}

    def value(self, signal: str) -> float | None:
        found = self.get(signal)
        return None if found is None else found.value
