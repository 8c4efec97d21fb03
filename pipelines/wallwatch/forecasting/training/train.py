"""Training: from histories to a forecaster with calibrated intervals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from wallwatch.domain.forecast import decline_model
from wallwatch.domain.forecast.damped_trend import margins
from wallwatch.domain.forecast.features import NAMES, QUIET
from wallwatch.domain.forecast.forecaster import FEWEST, ROUNDS, Forecaster, calibrate, fit
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, targets
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN, Examples, batches, examples_of, together
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.registry.metrics import HORIZON_MIN, MEAN, P95
from wallwatch.forecasting.training.interval_widening import widenings

UNSEEN_SHARE = 0.25
"""Of the histories, or of the end of a single one, that calibrate the intervals and are not trained on."""


MOST_EXAMPLES = 2_000_000
"""Of each target: more of the same fleet teach little, and take minutes."""


class TooLittle(Exception):
    """There is not enough to learn from; the text says how much is needed."""


def examples(histories: Sequence[History], every_min: int) -> tuple[list[Examples], list[Examples]]:
    """Examples to train on, and others to calibrate with: whole histories where there are several, otherwise its last quarter."""
    if len(histories) >= 4:
        lots = list(batches(histories, every_min))
        kept = max(1, round(len(lots) * UNSEEN_SHARE))
        return _by_target(lots[:-kept]), _by_target(lots[-kept:])
    seen, unseen = [], []
    for history in histories:
        cut = round(history.minutes * (1 - UNSEEN_SHARE))
        seen.append(examples_of(history.minutes_between(0, cut), every_min))
        unseen.append(examples_of(history.minutes_between(cut, history.minutes), every_min))
    return _by_target(seen), _by_target(unseen)


def unseen_of(histories: Sequence[History]) -> list[History]:
    """What `examples` does not train on, as histories."""
    if len(histories) >= 4:
        return list(histories[-max(1, round(len(histories) * UNSEEN_SHARE)) :])
    return [h.minutes_between(round(h.minutes * (1 - UNSEEN_SHARE)), h.minutes) for h in histories]


def spacing(rnic_minutes: int, every_min: int) -> int:
    """Minutes between two moments that are learnt from, so that there are at most `MOST_EXAMPLES`.

    >>> spacing(600 * 60, 5), spacing(1000 * 7 * 1440, 5)
    (5, 26)
    """
    return max(every_min, -(-rnic_minutes * len(HORIZONS_MIN) // MOST_EXAMPLES))


def _by_target(lots: Sequence[Sequence[Examples]]) -> list[Examples]:
    return [together(lot[k] for lot in lots) for k in range(len(targets()))]


def train(histories: Sequence[History], every_min: int = 2, threads: int = 1, rounds: int = ROUNDS) -> tuple[Forecaster, dict[str, Any]]:
    """A forecaster, and what the registry says of it.

    Raises
    ------
    TooLittle
        When no target has enough examples.
    """
    rnic_minutes = sum(len(h.names) * h.minutes for h in histories)
    every_min, decline_every = spacing(rnic_minutes, every_min), decline_model.spacing(rnic_minutes)
    seen, unseen = examples(histories, every_min)
    extents = [extent_of(h) for h in histories]
    boosters = fit(seen, threads, rounds)
    if not boosters:
        raise too_little([len(e) for e in seen], extents, every_min)
    forecaster = Forecaster(boosters, calibrate(boosters, unseen), margins(unseen))
    falls = [decline_model.decline_examples_of(h, LEAST_HISTORY_MIN + i % decline_every, decline_every) for i, h in enumerate(histories)]
    forecaster.decline_booster = decline_model.fit(falls, threads)
    forecaster.reach, forecaster.cold_reach = widenings(forecaster, unseen_of(histories))
    return forecaster, describe(extents, every_min, [len(e) for e in seen], unseen, forecaster)


class Extent(NamedTuple):
    """How much a history has; minutes since 1970."""

    first: int
    last: int
    rnics: int

    @property
    def rnic_minutes(self) -> int:
        return self.rnics * (self.last - self.first)


def extent_of(history: History) -> Extent:
    return Extent(history.first_minute, history.first_minute + history.minutes, len(history.names))


def too_little(counts: Sequence[int], extents: Sequence[Extent], every_min: int) -> TooLittle:
    """What is missing, from the examples of each target, and what to do.

    >>> print(str(too_little([1030, 500], [Extent(0, 72, 10)], 5))[:109])
    1,030 examples are too few to learn from: 2,000 are needed. There are 12 RNIC-hours, with a moment of each RN
    """
    most, minutes = max(counts, default=0), sum(one.rnic_minutes for one in extents)
    meanwhile = "Until then forecasts are made by the physical model and a damped trend"
    if most >= FEWEST:
        return TooLittle(
            f"{most:,} examples, and in none of them anything moves: there is nothing to learn. Take a time in which loads came and went "
            f"(--days). {meanwhile}"
        )
    enough = f"about {-(-minutes * FEWEST // most // 60):,} would do" if most else "none has the minutes before and after it"
    closer = " or moments closer together (--every 1)" if every_min > 1 else ""
    return TooLittle(
        f"{most:,} examples are too few to learn from: {FEWEST:,} are needed. There are {round(minutes / 60):,} RNIC-hours, with a moment "
        f"of each RNIC every {plural(every_min)}; {enough}. Take more of them (--days, more recordings){closer}. {meanwhile}"
    )


def plural(minutes: int) -> str:
    return "minute" if minutes == 1 else f"{minutes} minutes"


def describe(
    extents: Sequence[Extent], every_min: int, seen: Sequence[int], unseen: Sequence[Examples], forecaster: Forecaster
) -> dict[str, Any]:
    """Data window, and errors on what was not trained on; `seen` are numbers of examples of each target."""
    return {
        "data": {
            "from": _time(min(one.first for one in extents)),
            "to": _time(max(one.last for one in extents)),
            "rnics": sum(one.rnics for one in extents),
            "rnic_hours": round(sum(one.rnic_minutes for one in extents) / 60, 1),
            "every_min": every_min,
            "reach": forecaster.reach.tolist(),
            "examples": {t.name: n for t, n in zip(targets(), seen, strict=True)},
        },
        "metrics": {
            t.name: errors(forecaster, t.name, e)
            for t, e in zip(targets(), unseen, strict=True)
            if t.name in forecaster.boosters and len(e)
        },
    }


def errors(forecaster: Forecaster, target: str, unseen: Examples) -> dict[str, float]:
    """Mean absolute error of the median in units of labels, the coverage of the interval, and the errors at 15 minutes.

    Those are shares of the wall: live errors are compared with their 95th percentile. When more than a twentieth of them
    exceeds it, the fleet is not that of the training.
    """
    quantiles = forecaster.labels(target, unseen.rows)
    error = np.abs(unseen.labels - quantiles[:, len(QUANTILES) // 2])
    horizons = unseen.rows[:, NAMES.index("horizon_min")].astype(np.int64)
    margins = forecaster.margins[target][unseen.growing.astype(np.intp), np.searchsorted(HORIZONS_MIN, horizons)]
    inside = (unseen.labels >= quantiles[:, 0] - margins) & (unseen.labels <= quantiles[:, -1] + margins)
    share = error * (np.abs(unseen.rows[:, NAMES.index("rate")]) + QUIET) * horizons
    at_15 = share[horizons == HORIZON_MIN]
    return {
        "mean_error": round(float(error.mean()), 4),
        "coverage": round(float(inside.mean()), 4),
        MEAN: round(float(at_15.mean()), 5) if len(at_15) else 0.0,
        P95: round(float(np.quantile(at_15, 0.95)), 5) if len(at_15) else 0.0,
    }


def _time(minute: int) -> str:
    return datetime.fromtimestamp(minute * 60, UTC).isoformat().replace("+00:00", "Z")
