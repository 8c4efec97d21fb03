"""The curve of recall vs. precision for the threshold of declines, on development fleets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.forecast.scoring.tally import Tally, declines, summary
from tests.forecast.scoring.truth import measured

from wallwatch.domain.forecast.decline import SAID_FROM, SAID_UNTIL, Declines
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN
from wallwatch.forecasting.histories.from_recordings import read_history

POINTS = (0.5, 0.6, 0.65, 0.7, 0.75, SAID_FROM, 0.8, 0.85, 0.9)
WAVERING = SAID_FROM - SAID_UNTIL
"""How far a probability falls below its threshold before the prediction of a decline ends."""


def curve(folders: Iterable[Path], forecaster: Forecaster, every_min: int) -> list[dict[str, Any]]:
    """Recall and precision by threshold."""
    tallies = {point: Tally() for point in POINTS}
    for folder in folders:
        history = read_history(folder)
        truth = measured(folder, history)
        minutes = range(LEAST_HISTORY_MIN, history.minutes, every_min)
        outlooks = [predict(history.at(index), forecaster).decline for index in minutes]
        for point, tally in tallies.items():
            declining = Declines(thresholds=(point, point - WAVERING))
            predicted = [(i, declining.step(i, one.chance, one.learnt)) for i, one in zip(minutes, outlooks, strict=True)]
            declines(history, truth, predicted, tally)
    return [{"from": point, **summary(tally)["declines"]} for point, tally in tallies.items()]
