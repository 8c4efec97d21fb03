"""Events of a host as signals: how many of a kind in a window of event time.

What is kept is bounded: the newest `KEPT` of each signal, for an hour. An event has an identity (time, RNIC), so that one that comes
twice counts once.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Mapping
from functools import cache
from typing import Any

from wallwatch.domain.catalogue.load import event_signals
from wallwatch.domain.catalogue.models import EventSignal
from wallwatch.domain.evidence import Feature

KEPT = 64
"""Twice what a window counts in practice; beyond it, more events of a kind change no verdict."""

KEPT_MS = 3_600_000
"""The longest window of the catalogue is half an hour (S3), and events may come late by as much after a boot."""

Events = dict[str, list[list[Any]]]
"""`{signal: [[us since 1970, pci, count], ...]}`, oldest first; with the kind at the end where its place among others matters."""

BEFORE_US = 60_000_000
"""How far apart an event and what it came before may be."""

_FUNCTIONS = re.compile(r"^(\d+) virtual functions ")

STALL = "_stall"
"""A kind that the stage creates itself: the host's samples paused."""


@cache
def by_kind() -> dict[str, tuple[tuple[str, EventSignal], ...]]:
    """Kind of event -> the signals that count it."""
    kinds = {kind for signal in event_signals().values() for kind in signal.kinds}
    return {kind: tuple((n, s) for n, s in event_signals().items() if kind in s.kinds) for kind in kinds}


def take(events: Events, kind: str, at_us: int, pci: str, fields: Mapping[str, Any]) -> bool:
    """Remember an event; False when no signal counts it, or when it was there already."""
    new = False
    count = _count(fields)
    for name, signal in by_kind().get(kind, ()):
        if not signal.takes(fields):
            continue
        kept = events.setdefault(name, [])
        entry = [at_us, pci, count, kind] if kind in signal.before else [at_us, pci, count]
        if entry in kept:
            continue
        new = True
        insort(kept, entry)
        while len(kept) > KEPT or kept[-1][0] - kept[0][0] > KEPT_MS * 1000:
            del kept[0]
    return new


def _count(fields: Mapping[str, Any]) -> int:
    """How many things happened: the collector reports many virtual functions in one event, with their number in its sentence.

    >>> _count({}), _count({"left_out": 4}), _count({"detail": "12 virtual functions vanished: 0 (0000:3b:00.2), ..."})
    (1, 5, 12)
    """
    left_out, detail = fields.get("left_out"), fields.get("detail")
    many = _FUNCTIONS.match(detail) if isinstance(detail, str) else None
    return (int(many[1][:5]) if many else 1) + (left_out if isinstance(left_out, int) and left_out > 0 else 0)


def _counts(events: Events, name: str, entry: list[Any]) -> bool:
    """Whether an event came before what it must precede: such an event followed it, and none came just before."""
    if len(entry) < 4:
        return True
    signal = event_signals()[event_signals()[name].before[entry[3]]]
    others = events.get(event_signals()[name].before[entry[3]], ())
    times = [e[0] for e in others if abs(e[0] - entry[0]) <= BEFORE_US and (signal.per == "host" or e[1] == entry[1])]
    return bool(times) and min(times) > entry[0]


def feature(events: Events, name: str, now_ms: int, window_s: int, pci: str | None) -> Feature:
    """How many events there were in the window that ends at `now_ms`; no event is zero, because the host is reporting now.

    Parameters
    ----------
    pci : str or None
        Count this RNIC's events only, where the signal is one of RNICs; None counts those of the whole host.
    """
    kept = events.get(name)
    first_us = (now_ms - window_s * 1000) * 1000
    if not kept or kept[-1][0] <= first_us:
        return Feature(0.0, now_ms - window_s * 1000, now_ms)
    only = pci if pci is not None and event_signals()[name].per == "rnic" else None
    found = [e for e in kept if e[0] > first_us and e[0] <= (now_ms + 1000) * 1000 and (only is None or e[1] == only)]
    found = [e for e in found if _counts(events, name, e)]
    if not found:
        return Feature(0.0, now_ms - window_s * 1000, now_ms)
    return Feature(float(sum(e[2] for e in found)), found[0][0] // 1000, found[-1][0] // 1000)


def device(events: Events, names: tuple[str, ...], now_ms: int, window_s: int) -> str:
    """The RNIC that most of these events name, the newest of them on a tie; "" when none is named."""
    counts: dict[str, int] = {}
    for name in names:
        for at_us, pci, *_ in events.get(name, ()):
            if pci and at_us > (now_ms - window_s * 1000) * 1000:
                counts[pci] = counts.get(pci, 0) + 1
    return max(counts, key=lambda pci: (counts[pci], pci)) if counts else ""
