"""Minutes of RNICs from rows of samples: the part that recordings and the store share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wallwatch.domain.forecast.physical_model import Parameters
from wallwatch.domain.forecast.targets import Floats, column, targets
from wallwatch.domain.forecast.throttle_tracker import RnicMinute
from wallwatch.domain.forecast.throttled_share import Congested
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.histories.peer_queries import REPORTS, joined

Q_INGRESS = "q_ingress"
SPREADS = ("q_egress_sd", "q_ingress_sd")
_CHAINS = (Q_INGRESS, SPREADS[1], "q_egress", SPREADS[0])
FIELDS: tuple[str, ...] = (*(t.field for t in targets() if t.field is not None), Q_INGRESS, *SPREADS)
"""Fields of `rnic_offload` that forecasts require, in addition to peer reports."""

COUNTS = {"cni_add": 1, "cni_del": -1}
"""Kinds of events that change the number of containers."""

Rnic = tuple[str, str]
Places = npt.NDArray[np.intp]


def history(
    samples: pl.DataFrame,
    containers: pl.DataFrame,
    models: Mapping[Rnic, str | None],
    links: pl.DataFrame | None = None,
    reports: pl.DataFrame | None = None,
    ports: pl.DataFrame | None = None,
) -> History:
    """Put samples into a grid of minutes; minutes without a sample are NaN.

    Parameters
    ----------
    samples : frame with host, pci, minute (since 1970), and any of `FIELDS`
        Several samples in a minute count with their mean. For RNICs that are not in `models`, only their ingress chains are used.
    containers : frame with host, pci, minute, change
    models : mapping of (host, pci) to the RNIC's profile
    links : frame with host, pci, minute, gbps
        Bandwidth of the PCIe links; without it nothing limits the predicted bandwidth.
    reports : frame with the columns of `peer_queries.REPORTS`
        The peers of each RNIC; without it the RNIC's own ingress chain replaces those of the peers.
    ports : frame with host, pci, minute, sent_gbps, sends, receives
        Sent bandwidth, and whether a port was congested (`port_load.congested`); unknown without it.
    """
    names: Sequence[Rnic] = sorted(models)
    places = {name: i for i, name in enumerate(names)}
    hosts = {host: i for i, host in enumerate(sorted({host for host, _ in names}))}
    first = _int(samples["minute"].min()) if len(samples) else 0
    last = _int(samples["minute"].max()) if len(samples) else 0
    shape = (len(names), last - first + 1)
    values = np.full((*shape, len(targets())), np.nan)
    spread = np.full((*shape, 2), np.nan)
    count = np.zeros(shape)
    fields = [f for f in FIELDS if f in samples.columns]
    means = samples.group_by("host", "pci", "minute").agg(pl.col(f).cast(pl.Float64).mean() for f in fields)
    rows, minutes, kept = _places(means, places, first)
    for k, target in enumerate(targets()):
        if target.field in fields:
            values[rows, minutes, k] = means[target.field].to_numpy()[kept]
    if SPREADS[0] in fields:
        spread[rows, minutes, 0] = means[SPREADS[0]].to_numpy()[kept]
    by_minute = None if ports is None else _by_minute(ports)
    if len(containers):
        rows, minutes, kept = _places(containers, places, first)
        inside = (minutes >= 0) & (minutes < shape[1])
        np.add.at(count, (rows[inside], minutes[inside]), containers["change"].to_numpy()[kept][inside])
    link = np.full(shape, np.nan)
    if links is not None and len(links):
        rows, minutes, kept = _places(links, places, first)
        inside = (minutes >= 0) & (minutes < shape[1])
        link[rows[inside], minutes[inside]] = links["gbps"].to_numpy()[kept][inside]
    sent = np.full(shape, np.nan)
    if by_minute is not None:
        rows, minutes, kept = _places(by_minute, places, first)
        inside = (minutes >= 0) & (minutes < shape[1])
        sent[rows[inside], minutes[inside]] = by_minute["sent_gbps"].to_numpy()[kept][inside]
    remote = _remote(means, names, [models[name] for name in names], first, reports, by_minute, sent, link)
    values[:, :, column("q_r")], spread[:, :, 1], of_peers = remote
    numbers = np.array([hosts[host] for host, _ in names], dtype=np.int64)
    return History([models[name] for name in names], names, numbers, first, values, count, spread, of_peers, link, sent)


def _remote(
    means: pl.DataFrame,
    names: Sequence[Rnic],
    models: Sequence[str | None],
    first: int,
    reports: pl.DataFrame | None,
    ports: pl.DataFrame | None,
    sent: Floats,
    link: Floats,
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """`Q_r`, its spread, and whether it was measured at the peers, for the requested RNICs; arrays (rnics, minutes)."""
    others = sorted(set(zip(means["host"], means["pci"], strict=True)) - set(names))
    places = {name: i for i, name in enumerate((*names, *others))}
    n, minutes = sent.shape
    found = np.full((len(_CHAINS), len(places), minutes), np.nan)
    rows, columns, kept = _places(means, places, first)
    for i, field in enumerate(_CHAINS):
        if field in means.columns:
            found[i, rows, columns] = means[field].to_numpy()[kept]
    parameters = Parameters.of([*models, *(None for _ in others)])
    unknown = np.full((2, len(others), minutes), np.nan)
    sent_by_all, links = np.concatenate([sent, unknown[0]]), np.concatenate([link, unknown[1]])
    remote = joined(
        reports if reports is not None else pl.DataFrame(schema=REPORTS), places, first, found[0], found[1],
        _congested(ports, places, first, minutes),
        lambda k: RnicMinute(parameters, found[2, :, k], found[3, :, k], found[0, :, k], found[1, :, k], sent_by_all[:, k], links[:, k]),
    )  # fmt: skip
    return remote.mean[:n], remote.spread[:n], remote.of_peers[:n]


def _by_minute(ports: pl.DataFrame) -> pl.DataFrame:
    """One row per RNIC and minute: mean sent bandwidth, and congested if any of its samples says so."""
    sent = pl.col("sent_gbps").cast(pl.Float64).fill_nan(None).mean()
    return ports.group_by("host", "pci", "minute").agg(sent, pl.col("sends", "receives").cast(pl.Boolean).any())


def _congested(ports: pl.DataFrame | None, places: Mapping[Rnic, int], first: int, minutes: int) -> list[Congested] | None:
    """Congestion minute by minute; None without counters."""
    if ports is None:
        return None
    flags = np.zeros((2, minutes, len(places)), dtype=np.bool_)
    rows, columns, kept = _places(ports, places, first)
    inside = (columns >= 0) & (columns < minutes)
    for i, name in enumerate(("sends", "receives")):
        flags[i, columns[inside], rows[inside]] = ports[name].to_numpy()[kept][inside]
    return [Congested(sends, receives) for sends, receives in zip(flags[0], flags[1], strict=True)]


def _places(frame: pl.DataFrame, places: Mapping[Rnic, int], first: int) -> tuple[Places, Places, Places]:
    """Grid row and column of each frame row whose RNIC is known, and the indices of these frame rows."""
    index = np.array([places.get(key, -1) for key in zip(frame["host"], frame["pci"], strict=True)], dtype=np.intp)
    kept = np.flatnonzero(index >= 0)
    return index[kept], frame["minute"].to_numpy()[kept].astype(np.intp) - first, kept


def _int(value: Any) -> int:
    return int(value)
