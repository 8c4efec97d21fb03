"""How much to widen intervals so that times to walls reach 90% coverage too, from histories that training has not seen.

At most 5% of the reached walls may come before the earliest time, and at most 5% after the latest. Each end is widened separately, and
separately for steady and moving values. Of all factors that are wide enough, the one that warns latest is used.
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
"""Factors for quantiles: no factor repairs a median that misses the start of growth, and larger factors are useless."""
SOONEST = (1.0, 1.15, 1.33, 1.5, 2.0, 3.0, 5.0)
"""Divisors of the earliest time."""
FEWEST = 100
"""Reached walls required for widening: fewer measure a share of 5% to within 2% at best."""
TAIL = (1.0 - NOMINAL_COVERAGE) / 2.0
HOUR = 60
MOMENTS = 40
"""Forecasts per history, evenly spaced."""
HISTORIES = 10


@dataclass(frozen=True, slots=True)
class Cases:
    """Forecasts of walls and what happened; arrays (forecasts, walls), `ahead` with horizons and quantiles."""

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
    """The same forecaster without any stretch."""
    return Forecaster(forecaster.boosters, forecaster.margins, forecaster.cold)


def only_trend(forecaster: Forecaster | None) -> Forecaster | None:
    """The forecaster of RNICs in a cold start."""
    return None if forecaster is None else Forecaster({}, {}, forecaster.cold)


def stretches(trained: Cases, cold: Cases) -> tuple[Floats, Floats]:
    """Stretches for trained forecasts and for the cold start, from the outcomes of either.

    Nothing comes later than a trend that is assumed to last, so both tails of the cold start belong to the early end: with one tail, every
    RNIC of a new fleet would get "in five minutes at the earliest".
    """
    return stretch(trained, unstretched()), stretch(cold, damped_trend.starting_reach(), 2.0 * TAIL)


def cases(histories: Sequence[History], forecaster: Forecaster | None) -> Cases:
    """Forecasts of walls at moments that are followed by an hour of history."""
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
    """Concatenate the cases of several histories."""
    if not parts:
        none = np.empty((0, len(walls())))
        return Cases(none, np.empty((*none.shape, len(HORIZONS_MIN), len(QUANTILES))), none, none, none.astype(np.bool_))
    columns = [[getattr(part, one.name) for part in parts] for one in fields(Cases)]
    return Cases(*(np.concatenate(column) for column in columns))


def stretch(some: Cases, otherwise: Floats, most_early: float = TAIL) -> Floats:
    """The smallest stretch that is wide enough, shape (REGIMES, 3); a regime with too few cases keeps `otherwise`."""
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
            # The first factor that suffices, otherwise the one that misses least.
            if late[regime] > TAIL and missed < late[regime]:
                late[regime], found[regime, DOWN] = missed, factor
            earliest = reached[:, :, 0]
            asked = verdict.asked & regimes[regime]
            for sooner in SOONEST:
                early = float((came & (some.came < earliest / sooner - 0.5)).sum() / came.sum())
                # Wide enough ranks before too narrow; then the one that warns latest, or misses least.
                warns = float(np.minimum(earliest[asked] / sooner, HOUR).mean())
                rank = (1.0, warns) if early <= most_early else (0.0, -early)
                if rank > tuple(best[regime]):
                    best[regime] = rank
                    found[regime, [UP, SOONER]] = factor, sooner
    return found
