"""`Q_r` of a history: each minute is joined over the peers that were reported until then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from wallwatch.domain.forecast.peers import Joined, Report, join, weights
from wallwatch.domain.forecast.targets import Floats
from wallwatch.domain.forecast.throttle_tracker import RnicMinute, ThrottleTracker
from wallwatch.domain.forecast.throttled_share import Congested

REPORTS: Mapping[str, type[pl.DataType]] = {
    "host": pl.String, "pci": pl.String, "minute": pl.Int64, "peers": pl.String, "further": pl.Float64, "addresses": pl.String,
    "sources": pl.String, "q_ingress": pl.Float64,
}  # fmt: skip
"""Columns of reports of peers; see `Report`."""


def report_of(columns: Sequence[Any]) -> Report:
    """A report from its columns, the last five of `REPORTS`; values that were not reported are null."""
    peers, further, addresses, sources, q_ingress = columns
    return Report(peers or "", further or 0.0, addresses or "", sources or "", np.nan if q_ingress is None else q_ingress)


def joined(
    reports: pl.DataFrame,
    places: Mapping[tuple[str, str], int],
    first: int,
    q_ingress: Floats,
    spread: Floats,
    congested: Sequence[Congested] | None = None,
    measured: Callable[[int], RnicMinute] | None = None,
) -> Joined:
    """Join all minutes: arrays of shape (rnics, minutes).

    Parameters
    ----------
    reports : frame with the columns of `REPORTS`
        The minutes before an RNIC's first report are joined by that one.
    places : mapping of (host, pci) to row
    first : int
        The first minute.
    q_ingress, spread : arrays (rnics, minutes)
    congested : sequence, length minutes
        The congested ports of each minute; none by default.
    measured : function from a column to the measurements of all RNICs in that minute
        Without it, shares are derived from changes alone.
    """
    rnics, minutes = q_ingress.shape
    found = Joined(q_ingress.copy(), spread.copy(), np.zeros(q_ingress.shape, dtype=np.bool_))
    newest: dict[int, Report] = {}
    changes: dict[int, dict[int, Report]] = {}
    for host, pci, minute, *values in reports.select(list(REPORTS)).sort("minute").iter_rows():
        row = places.get((host, pci))
        if row is None:
            continue
        report = report_of(values)
        newest.setdefault(row, report)
        changes.setdefault(minute - first, {})[row] = report
    if not newest:
        return found
    by = weights(newest, rnics)
    tracker = ThrottleTracker(by)
    for column in range(minutes):
        if column in changes:
            newest |= changes[column]
            by = weights(newest, rnics)
        slow = Congested.nowhere(rnics) if congested is None else congested[column]
        held = tracker.step(by, slow, None if measured is None else measured(column))
        now = join(by, q_ingress[:, column], spread[:, column], held.asked(by))
        found.mean[:, column], found.spread[:, column], found.of_peers[:, column] = now.mean, now.spread, now.of_peers
    return found
