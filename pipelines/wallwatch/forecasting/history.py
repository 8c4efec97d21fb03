"""Minutes of RNICs from rows of samples: what recordings and the store have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wallwatch.domain.forecast.targets import targets
from wallwatch.domain.forecast.window import History

SPREAD = "q_egress_sd"
FIELDS: tuple[str, ...] = (*(t.field for t in targets() if t.field is not None), SPREAD)
"""Fields of `rnic_offload` that forecasts need."""

COUNTS = {"cni_add": 1, "cni_del": -1}
"""Kinds of events that change the number of containers."""

Rnic = tuple[str, str]
Places = npt.NDArray[np.intp]


def history(
    samples: pl.DataFrame, containers: pl.DataFrame, models: Mapping[Rnic, str | None], links: pl.DataFrame | None = None
) -> History:
    """Put samples into a grid of minutes; minutes without a sample are NaN.

    Parameters
    ----------
    samples : frame with host, pci, minute (since 1970), and any of `FIELDS` and `q_r`
        Several samples in a minute count with their mean.
    containers : frame with host, pci, minute, change
    models : mapping of (host, pci) to the RNIC's profile
    links : frame with host, pci, minute, gbps
        What PCIe links carried; without it nothing bounds the bandwidth.
    """
    names: Sequence[Rnic] = sorted(models)
    places = {name: i for i, name in enumerate(names)}
    hosts = {host: i for i, host in enumerate(sorted({host for host, _ in names}))}
    first = _int(samples["minute"].min()) if len(samples) else 0
    last = _int(samples["minute"].max()) if len(samples) else 0
    shape = (len(names), last - first + 1)
    values = np.full((*shape, len(targets())), np.nan)
    spread = np.full(shape, np.nan)
    count = np.zeros(shape)
    fields = [f for f in (*FIELDS, "q_r") if f in samples.columns]
    means = samples.group_by("host", "pci", "minute").agg(pl.col(f).cast(pl.Float64).mean() for f in fields)
    rows, minutes, kept = _places(means, places, first)
    for k, target in enumerate(targets()):
        field = target.field or target.name
        if field in fields:
            values[rows, minutes, k] = means[field].to_numpy()[kept]
    if SPREAD in fields:
        spread[rows, minutes] = means[SPREAD].to_numpy()[kept]
    if len(containers):
        rows, minutes, kept = _places(containers, places, first)
        inside = (minutes >= 0) & (minutes < shape[1])
        np.add.at(count, (rows[inside], minutes[inside]), containers["change"].to_numpy()[kept][inside])
    link = np.full(shape, np.nan)
    if links is not None and len(links):
        rows, minutes, kept = _places(links, places, first)
        inside = (minutes >= 0) & (minutes < shape[1])
        link[rows[inside], minutes[inside]] = links["gbps"].to_numpy()[kept][inside]
    numbers = np.array([hosts[host] for host, _ in names], dtype=np.int64)
    return History([models[name] for name in names], names, numbers, first, values, count, spread, link)


def _places(frame: pl.DataFrame, places: Mapping[Rnic, int], first: int) -> tuple[Places, Places, Places]:
    """Row and column in the grid of each row of the frame whose RNIC is known, and which rows these are."""
    index = np.array([places.get(key, -1) for key in zip(frame["host"], frame["pci"], strict=True)], dtype=np.intp)
    kept = np.flatnonzero(index >= 0)
    return index[kept], frame["minute"].to_numpy()[kept].astype(np.intp) - first, kept


def _int(value: Any) -> int:
    return int(value)
