"""Which signals the windows of an RNIC have, and where: what the catalogue's conditions and rules ask for."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple
from zlib import crc32

from wallwatch.domain.catalogue.load import causes, derived_signals, detected, event_signals
from wallwatch.domain.symptoms import window
from wallwatch.domain.symptoms.packed_window import Layout

EVIDENCE_WINDOW_S = 30
"""Three samples at the usual interval of 10 s."""


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
