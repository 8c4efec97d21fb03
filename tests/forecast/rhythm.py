"""`python -m tests.forecast.rhythm`: the value of daily and weekly rhythms, on synthetic loads.

The mechanism is too slow for weeks. Each RNIC has a job that comes at the same minute of each day, within some minutes; for a half of them
not at the weekend. Trained on two weeks, judged on the four days after, from a Monday on, wherever the masks moved.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import orjson
from tests.forecast.document import JSON, write

from wallwatch.domain.forecast.features import FeatureMaker
from wallwatch.domain.forecast.forecaster import Forecaster, calibrate, fit
from wallwatch.domain.forecast.targets import HORIZONS_MIN, column, scales, targets
from wallwatch.domain.forecast.training_examples import examples_of, together
from wallwatch.domain.forecast.window import History

RNICS, DAYS, LEARNT_DAYS, DAY = 16, 18, 14, 1440
MONDAY = 29_453_760 // 10080 * 10080 + 4 * DAY
"""A Monday, in minutes since 1970, which began with a Thursday."""
EVERY_MIN = 31
MASKS = column("egress_masks")


def made_up(seed: int) -> History:
    """Masks that come and go by the day; nothing else moves."""
    rng = np.random.default_rng(seed)
    values = np.zeros((RNICS, DAYS * DAY, len(targets())))
    for i in range(RNICS):
        begins, lasts, masks = rng.integers(60, DAY - 300), rng.integers(60, 240), rng.integers(10, 40)
        series = np.full(DAYS * DAY, float(rng.integers(3, 8)))
        for day in range(DAYS):
            if i % 2 and day % 7 >= 5:
                continue
            at = day * DAY + begins + rng.integers(-4, 5)
            series[at : at + lasts] += masks * np.minimum(np.arange(lasts) / 10.0, 1.0)
        values[i, :, MASKS] = series
    values[:, :, column("q_l")] = values[:, :, MASKS] / 2
    shape = values.shape[:2]
    names = [(f"host{i:02d}", "0000:17:00.0") for i in range(RNICS)]
    spread, link = np.zeros((*shape, 2)), np.full(shape, np.nan)
    return History(["CX-6"] * RNICS, names, np.arange(RNICS), MONDAY, values, np.zeros(shape), spread, np.ones(shape, dtype=np.bool_), link)


def errors(history: History, forecaster: Forecaster) -> dict[str, dict[str, float]]:
    """Mean absolute error at 15, 30 and 60 minutes, in shares of the wall, by way of forecasting."""
    found: dict[str, dict[int, list[Any]]] = {"forecast": {}, "persistence": {}, "linear trend": {}, "as a day ago": {}}
    scale = scales(history.models)[:, MASKS]
    for index in range(LEARNT_DAYS * DAY, history.minutes - max(HORIZONS_MIN), 7):
        features = FeatureMaker(history.at(index)).of(MASKS)
        predicted = forecaster.ahead("egress_masks", features)
        for j, ahead in enumerate(HORIZONS_MIN):
            truth = history.values[:, index + ahead, MASKS]
            moves = np.abs(truth - features.now) > 0.01 * scale
            for way, values in (
                ("forecast", predicted[:, j, 1]),
                ("persistence", features.now),
                ("linear trend", np.maximum(features.now + features.rate * ahead, 0)),
                ("as a day ago", history.values[:, index + ahead - DAY, MASKS]),
            ):
                found[way].setdefault(ahead, []).append((np.abs(values - truth) / scale)[moves])
    return {way: {str(h): round(float(np.concatenate(e).mean()), 4) for h, e in by.items()} for way, by in found.items()}


def measure() -> dict[str, dict[str, float]]:
    """Train and evaluate."""
    history = made_up(7)
    parts = [examples_of(history.minutes_between(0, LEARNT_DAYS * DAY), EVERY_MIN, offset) for offset in (0, 11)]
    seen, unseen = ([e if k == MASKS else together([]) for k, e in enumerate(part)] for part in parts)
    boosters = fit(seen, threads=1)
    return errors(history, Forecaster(boosters, calibrate(boosters, unseen)))


def main() -> int:
    """Add the figures to docs/forecast-evaluation."""
    write({**orjson.loads(JSON.read_bytes()), "rhythm": measure()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
