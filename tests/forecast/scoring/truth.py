"""Performance of the simulated RNICs' mechanism, from `fleetsim record --performance`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import orjson

from wallwatch.domain.forecast.targets import Floats
from wallwatch.domain.forecast.window import History

PERFORMANCE = "truth_performance.jsonl"


@dataclass(frozen=True, slots=True)
class Measured:
    """What the mechanism could do in each minute of a history: arrays (rnics, minutes), NaN while an RNIC did not send."""

    bandwidth_gbps: Floats
    latency_us: Floats


def measured(folder: Path, of: History) -> Measured:
    """The mechanism's own performance, on the grid of the recording's history.

    Raises
    ------
    FileNotFoundError
        When it was recorded without `--performance`.
    """
    places = {name: i for i, name in enumerate(of.names)}
    found = np.full((2, len(of.names), of.minutes), np.nan)
    for line in (folder / PERFORMANCE).read_bytes().splitlines():
        one = orjson.loads(line)
        minute = int((datetime.fromisoformat(one["at"]).timestamp() - 0.001) // 60) - of.first_minute
        if 0 <= minute < of.minutes:
            found[:, places[one["host"], one["pci"]], minute] = one["bandwidth_gbps"], one["latency_us"]
    return Measured(found[0], found[1])
