"""What is kept of a host between samples: the datapaths' misses, and the model of each RNIC. Pure, like the stage it feeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallwatch.domain.symptoms.signals import counter_rate

Datapaths = dict[str, list[Any]]
"""`{datapath: [ms, lookups_missed, rate or None]}`; plain JSON."""

STALE_MS = 60_000
"""A rate older than this says nothing about now."""


def take_datapath(known: Datapaths | None, datapath: str, at_ms: int, fields: Mapping[str, Any]) -> Datapaths:
    """Remember one `ovs_datapath` sample. A reset, or a sample that is out of order, leaves no rate rather than a wrong one."""
    known = {} if known is None else known
    missed = fields.get("lookups_missed")
    if not isinstance(missed, int):
        known.pop(datapath, None)
        return known
    previous = known.get(datapath)
    if previous is not None and at_ms <= previous[0]:
        return known
    rate = counter_rate(None if previous is None else (previous[0], previous[1]), at_ms, missed)
    known[datapath] = [at_ms, missed, rate]
    return known


def misses_per_s(known: Datapaths | None, at_ms: int) -> float | None:
    """Misses of all datapaths of the host, packets/s; None when no rate is fresh.

    >>> misses_per_s({"system@ovs-system": [1000, 7, 4.0], "other": [1000, 9, None]}, 2000)
    4.0
    """
    rates = [rate for ms, _, rate in (known or {}).values() if rate is not None and at_ms - ms <= STALE_MS]
    return sum(rates) if rates else None
