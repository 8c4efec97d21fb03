"""How much wider intervals must be for times to walls, so that these too cover nine of ten: from histories that training has not seen.

A wall that is reached came before the earliest time in at most one case of twenty, and after the latest in at most one of twenty; each end
is made wider by itself, and apart for values that stand still and values that move. Of what is wide enough, what warns latest is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.forecast import damped_trend
from wallwatch.domain.forecast.features import FeatureMaker, filled
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import HORIZONS_MIN, NOMINAL_COVERAGE, QUANTILES, Floats, limits
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN, is_growing
from wallwatch.domain.forecast.wall_times import DOWN, REGIMES, SOONER, UP, came_in_min, judged, reached_in_min, unstretched, widened
from wallwatch.domain.forecast.window import History

FACTORS = (1.0, 1.25, 1.5, 2.0, 3.0)
"""Of quantiles: a median that misses a start of growth altogether is not mended by any factor, and beyond the last there is no use."""
SOONEST = (1.0, 1.15, 1.33, 1.5, 2.0, 3.0, 5.0)
"""Of the earliest time."""
FEWEST = 100
"""Walls that were reached, below which nothing is made wider: fewer tell a share of 5 % by 2 % at best."""
TAIL = (1.0 - NOMINAL_COVERAGE) / 2.0
HOUR = 60
MOMENTS = 40
"""Forecasts of each history, at even distances."""
HISTORIES = 10


@dataclass(frozen=True, slots=True)
class Cases:
    """Forecasts of walls and what came; arrays (forecasts, walls), `ahead` with horizons and quantiles."""

    now: Floats
    ahead: Floats
    limit: Floats
    came: Floats
    moves: npt.NDArray[np.bool_]


def widenings(forecaster: Forecaster, unseen: Sequence[History]) -> tuple[Floats, Floats]:
    """Stretches for trained forecasts and for the cold start, see `wall_times.times`."""
    some = unseen[:HISTORIES]
    return stretches(cases(some, plain(forecaster)), cases(some, only_trend(forecaster)))


def plain(forecaster: Forecaster) -> Forecaster:
    """The same without any stretch."""
    return Forecaster(forecaster.boosters, forecaster.margins, forecaster.cold)


def only_trend(forecaster: Forecaster | None) -> Forecaster | None:
    """What forecasts RNICs that start cold."""
    return None if forecaster is None else Forecaster({}, {}, forecaster.cold)


def stretches(trained: Cases, cold: Cases) -> tuple[Floats, Floats]:
    """Stretches for trained forecasts and for the cold start, from what came of either.

    Nothing comes later than a trend that is taken to last, so both its tails are of the early end: with one, "in five minutes at the
    earliest" would be said of every RNIC of a new fleet.
    """
    return stretch(trained, unstretched()), stretch(cold, damped_trend.starting_reach(), 2.0 * TAIL)


def cases(histories: Sequence[History], forecaster: Forecaster | None) -> Cases:
    """Forecasts of walls from moments of histories that an hour follows."""
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    count = len(walls())
    for history in histories:
        limit, values = limits(history.models), filled(history.values)
        last = history.minutes - HOUR - 1
        for index in range(LEAST_HISTORY_MIN, last, max(1, (last - LEAST_HISTORY_MIN) // MOMENTS)):
            window = history.at(index)
            made, maker = predict(window, forecaster), FeatureMaker(window)
            came = came_in_min(values[:, index + 1 : index + HOUR + 1, :count], limit)
            each = [maker.of(k) for k in range(count)]
            moves = np.stack([is_growing(f.rate, f.unit) for f in each], axis=1)
            parts.append((made.now[:, :count], made.paths, limit, came, moves))
    return together([Cases(*part) for part in parts])


def together(parts: Sequence[Cases]) -> Cases:
    """Cases of several histories as one."""
    if not parts:
        none = np.empty((0, len(walls())))
        return Cases(none, np.empty((*none.shape, len(HORIZONS_MIN), len(QUANTILES))), none, none, none.astype(np.bool_))
    columns = [[getattr(part, one.name) for part in parts] for one in fields(Cases)]
    return Cases(*(np.concatenate(column) for column in columns))


def stretch(some: Cases, otherwise: Floats, most_early: float = TAIL) -> Floats:
    """The least stretch that is wide enough, shape (REGIMES, 3); a regime with too few cases has what is given for it."""
    found = otherwise.copy()
    regimes = [some.moves == bool(regime) for regime in range(REGIMES)]
    enough = [int((np.isfinite(some.came) & (some.now < some.limit) & inside).sum()) >= FEWEST for inside in regimes]
    best = np.full((REGIMES, 2), -np.inf)
    late = np.full(REGIMES, np.inf)
    for factor in FACTORS if any(enough) else ():
        reached = reached_in_min(some.now, widened(some.ahead, factor, factor), some.limit)
        verdict = judged(reached, some.came, some.now, some.limit)
        for regime in (r for r in range(REGIMES) if enough[r]):
            came = verdict.concerned & np.isfinite(some.came) & regimes[regime]
            missed = float((verdict.later & came).sum() / came.sum())
            # The first factor that does, or else the one that misses least.
            if late[regime] > TAIL and missed < late[regime]:
                late[regime], found[regime, DOWN] = missed, factor
            earliest = reached[:, :, 0]
            asked = verdict.asked & regimes[regime]
            for sooner in SOONEST:
                early = float((came & (some.came < earliest / sooner - 0.5)).sum() / came.sum())
                # What is wide enough before what is not; then what warns latest, or misses least.
                warns = float(np.minimum(earliest[asked] / sooner, HOUR).mean())
                rank = (1.0, warns) if early <= most_early else (0.0, -early)
                if rank > tuple(best[regime]):
                    best[regime] = rank
                    found[regime, [UP, SOONER]] = factor, sooner
    return found
