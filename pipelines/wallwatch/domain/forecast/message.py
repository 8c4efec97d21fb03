"""Forecasts as messages of `wallwatch.forecasts`; the form is in docs/contracts.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.forecast.confidence import Confidence
from wallwatch.domain.forecast.predict import Forecast
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, Floats, targets

HORIZONS_S = [60 * m for m in HORIZONS_MIN]
_NAMES = tuple(t.name for t in targets())


def messages(
    forecast: Forecast,
    names: Sequence[tuple[str, str, str]],
    models: Sequence[str | None],
    limit: Floats,
    forecaster: str,
    confidence: Confidence,
    violated: npt.NDArray[np.bool_],
    since: npt.NDArray[np.int64],
) -> Iterator[dict[str, Any]]:
    """One message per RNIC with a forecast.

    Parameters
    ----------
    forecast : Forecast
    names : sequence of (host, pci, rack)
    models : sequence
        RNIC profiles.
    limit : array (rnics, walls)
    forecaster : str
        Id of the trained model, empty without one.
    confidence : Confidence
        In forecasts of that model; a cold start has the lowest.
    violated : bool array (rnics,)
        Whether a policy is violated on the RNIC or its host.
    since : int array (rnics,)
        Minute of the first forecast of the currently predicted decline (`decline.Declines`), -1 if there is none.
    """
    at = _time(forecast.minute)
    p = forecast.performance
    now, ahead = _numbers(forecast.now), _numbers(forecast.ahead)
    bandwidth, bandwidth_now = _numbers(p.bandwidth), _numbers(p.bandwidth_now)
    latency, latency_now = _numbers(p.latency), _numbers(p.latency_now)
    headroom = _numbers(forecast.headroom)
    share, chance, in_min = _numbers(forecast.decline.share), _numbers(forecast.decline.chance), _numbers(forecast.decline.in_min)
    reached = np.round(forecast.reached_in_min * 60.0)
    unknown = np.isnan(reached[:, :, 0]).tolist()
    times = np.where(np.isfinite(reached), reached, np.nan)
    reached_s = _numbers(times)
    limits = _numbers(limit)
    wall_chance = _numbers(forecast.wall_chance)
    for i, (host, pci, rack) in enumerate(names):
        if all(value is None for value in now[i]):
            continue
        yield {
            "host": host,
            "pci": pci,
            "rack": rack,
            "model": models[i] or "",
            "at": at,
            "forecaster": "" if forecast.cold_start[i] else forecaster,
            "cold_start": bool(forecast.cold_start[i]),
            "confidence": Confidence.LOW if forecast.cold_start[i] else confidence,
            "policy_violated": bool(violated[i]),
            "q_r_basis": "peers" if forecast.of_peers[i] else "own_ingress",
            "horizons_s": HORIZONS_S,
            "quantiles": list(QUANTILES),
            "targets": {name: {"now": now[i][k], "ahead": ahead[i][k]} for k, name in enumerate(_NAMES) if now[i][k] is not None},
            "bandwidth_gbps": None if bandwidth_now[i] is None else {"now": bandwidth_now[i], "ahead": bandwidth[i]},
            "latency_us": None if latency_now[i] is None else {"now": latency_now[i], "ahead": latency[i]},
            "headroom": headroom[i],
            "walls": {
                wall: {
                    "limit": limits[i][k],
                    "earliest_in_s": reached_s[i][k][0],
                    "likely_in_s": reached_s[i][k][1],
                    "latest_in_s": reached_s[i][k][2],
                    "chance": wall_chance[i][k],
                }
                for k, wall in enumerate(walls())
                if not unknown[i][k]
            },
            "decline": None
            if share[i] is None
            else {
                "share": share[i],
                "chance": chance[i],
                "in_s": in_min[i] * 60.0 if since[i] >= 0 and in_min[i] is not None else None,
                "since": _time(int(since[i])) if since[i] >= 0 else None,
            },
        }


def _time(minute: int) -> str:
    """The end of a minute."""
    return datetime.fromtimestamp((minute + 1) * 60, UTC).isoformat().replace("+00:00", "Z")


def _numbers(array: Floats) -> list[Any]:
    """Nested lists of numbers with four decimals, None for NaN."""
    rounded = np.round(array, 4)
    missing = np.isnan(rounded)
    if not missing.any():
        return list(rounded.tolist())
    objects = rounded.astype(object)
    objects[missing] = None
    return list(objects.tolist())
