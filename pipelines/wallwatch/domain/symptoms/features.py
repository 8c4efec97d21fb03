"""The value of a signal over a window, wherever it is kept: samples of one RNIC, events of its host."""

from __future__ import annotations

from functools import cache
from typing import Protocol

from wallwatch.domain.catalogue.load import event_signals
from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms import events, window
from wallwatch.domain.symptoms.rnic_state import RnicState
from wallwatch.domain.symptoms.signal_places import EVIDENCE_WINDOW_S, places, transport_places

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


@cache
def _where(signal: str, window_s: int) -> tuple[str, int | None]:
    """Where a signal over such a window is kept: the name of the rows, and its place in them."""
    fine, coarse, _, _ = places()
    if is_event(signal):
        return "events", None
    if signal in transport_places()[0]:
        return "transport", transport_places()[0][signal]
    if signal in (POPULATION_CHANGE, POPULATION_DROP):
        return "population", fine.places["flows_offloaded"]
    if window_s * 1000 > window.WINDOW_MS:
        return "coarse", coarse.places[signal]
    return "fine", fine.places.get(signal)


def is_fine(signal: str, window_s: int) -> bool:
    """Whether a signal over such a window is kept in the fine one."""
    return _where(signal, window_s)[0] == "fine"


def keep(rnic_state: RnicState, at_ms: int, values: dict[str, float]) -> None:
    """Put a sample's used values into the windows of its RNIC."""
    fine, coarse, _, _ = places()
    newest = rnic_state.newest
    fine.add(rnic_state.fine, at_ms, values, newest)
    coarse.add(rnic_state.coarse, at_ms, values, newest, window.COARSE_BUCKET_MS, window.COARSE_WINDOW_MS)
    if rnic_state.engine is not None or rnic_state.transport is not None:
        _keep_transport(rnic_state, at_ms, values)


def _keep_transport(rnic_state: RnicState, at_ms: int, values: dict[str, float]) -> None:
    index, form, length_ms = transport_places()
    if values.keys().isdisjoint(index):
        return
    kept = rnic_state.transport
    if kept is None or kept["form"] != form:
        kept = rnic_state.transport = {"form": form, "rows": []}
    window.add(kept["rows"], index, at_ms, values, rnic_state.newest, window.BUCKET_MS, length_ms)


class Features:
    """Looks signals up for one RNIC (`rnic_state` and `pci`), or for a host as a whole (`pci` None)."""

    __slots__ = ("_events", "_now_ms", "_pci", "_rnic_state")

    def __init__(self, rnic_state: RnicState | None, host_events: events.Events, now_ms: int, pci: str | None) -> None:
        self._rnic_state = rnic_state
        self._events = host_events
        self._now_ms = now_ms
        self._pci = pci

    def of(self, asked: Asked) -> Feature | None:
        return self.get(asked.signal, asked.window_s, asked.statistic)

    def get(self, signal: str, window_s: int = EVIDENCE_WINDOW_S, statistic: str = "mean") -> Feature | None:
        """The signal over the window that ends now; None when it was not measured in it."""
        rows, place = _where(signal, window_s)
        if rows == "events":
            return events.feature(self._events, signal, self._now_ms, window_s, self._pci)
        rnic_state = self._rnic_state
        if rnic_state is None or place is None:
            return None
        if rows == "transport":
            kept = rnic_state.transport
            return (
                window.feature(kept["rows"], place, self._now_ms, window_s, statistic)
                if kept and kept["form"] == transport_places()[1]
                else None
            )
        fine, coarse, _, _ = places()
        if rows == "fine":
            return fine.feature(rnic_state.fine, place, self._now_ms, window_s, statistic)
        if rows == "coarse":
            return coarse.feature(rnic_state.coarse, place, self._now_ms, window_s, statistic, window.COARSE_BUCKET_MS)
        of_population = window.swing_of if signal == POPULATION_CHANGE else window.drop_of
        return of_population(fine.rows_of(rnic_state.fine, place), 0, self._now_ms, window_s)

    def parts(self, signal: str) -> dict[str, float]:
        """Counters whose sum the signal is, by how much each grew when any last did; empty for any other signal."""
        kept = self._rnic_state.trouble_parts if self._rnic_state is not None and signal == "trouble_per_s" else None
        return {name: float(grown) for name, grown in (kept or {}).items()}

    def value(self, signal: str) -> float | None:
        found = self.get(signal)
        return None if found is None else found.value
