"""How much wider intervals must be for times to walls, so that these too cover nine of ten: from histories that training has not seen."""

from __future__ import annotations

from collections.abc import Sequence

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.forecast.examples import LEAST_HISTORY_MIN
from wallwatch.domain.forecast.features import filled
from wallwatch.domain.forecast.model import Forecaster
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.reach import came_in_min, judged, reached_in_min, widened
from wallwatch.domain.forecast.targets import NOMINAL_COVERAGE, Floats, limits
from wallwatch.domain.forecast.window import History

FACTORS = (1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0)
"""A median that misses a start of growth altogether is not mended by any factor: beyond the last there is no use."""
FEWEST = 200
"""Cases below which the factor stays 1: fewer tell a coverage of 90 % by 2 % at best."""
HOUR = 60
MOMENTS = 40
"""Forecasts of each history, at even distances."""
HISTORIES = 10

Case = tuple[Floats, Floats, Floats, Floats]
"""Values now and ahead, limits, and the minutes after which walls were reached."""


def widenings(forecaster: Forecaster, unseen: Sequence[History]) -> tuple[float, float | None]:
    """Factors for trained forecasts and for the cold start; None where there are too few cases to tell the latter."""
    trained = _factor([case for history in unseen[:HISTORIES] for case in cases(history, forecaster)])
    return (1.0 if trained is None else trained), widening_of_trend(unseen[:HISTORIES])


def widening_of_trend(histories: Sequence[History]) -> float | None:
    """The factor for forecasts by the damped trend alone."""
    return _factor([case for history in histories for case in cases(history, None)])


def cases(history: History, forecaster: Forecaster | None) -> list[Case]:
    """Forecasts of walls from moments of a history that an hour follows."""
    limit, values = limits(history.models), filled(history.values)
    last = history.minutes - HOUR - 1
    found = []
    for index in range(LEAST_HISTORY_MIN, last, max(1, (last - LEAST_HISTORY_MIN) // MOMENTS)):
        made = predict(history.at(index), forecaster)
        came = came_in_min(values[:, index + 1 : index + HOUR + 1, : len(walls())], limit)
        found.append((made.now[:, : len(walls())], made.ahead[:, : len(walls())], limit, came))
    return found


def _factor(some: Sequence[Case]) -> float | None:
    for factor in FACTORS:
        of = inside = 0
        for now, ahead, limit, came in some:
            found = judged(reached_in_min(now, widened(ahead, factor), limit), came, now, limit)
            of += int(found.concerned.sum())
            inside += int((found.concerned & ~found.earlier & ~found.later).sum())
        if of < FEWEST:
            return None
        if inside >= NOMINAL_COVERAGE * of:
            return factor
    return FACTORS[-1]
