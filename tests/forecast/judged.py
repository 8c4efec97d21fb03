"""Evaluate one fleet, in its own process."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.forecast.scoring.tally import Baseline, Tally, judge
from tests.forecast.scoring.truth import measured

from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.forecasting.histories.from_recordings import read_history


def judged(folder: Path, forecaster: Forecaster, baselines: dict[str, Baseline], every_min: int) -> tuple[Tally, Tally, float]:
    """One fleet: results of the trained forecaster, the baselines and the cold start, and its RNIC-hours."""
    trained, cold = Tally(), Tally()
    history = read_history(folder)
    truth = measured(folder, history)
    judge(history, truth, forecaster, trained, baselines, every_min)
    judge(history, truth, None, cold, {}, every_min)
    print(f"{folder.name} is judged", file=sys.stderr)
    return trained, cold, len(history.names) * history.minutes / 60
