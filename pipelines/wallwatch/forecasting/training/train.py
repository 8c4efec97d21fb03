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
from wallwatch.domain.forecast.quantile_loss import quantile_loss
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, targets
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN, Examples, batches, examples_of, together
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.registry import base_model
from wallwatch.forecasting.registry.metrics import HORIZON_MIN, MEAN, P95
from wallwatch.forecasting.registry.roles import RegistryError
from wallwatch.forecasting.training.interval_widening import widenings

UNSEEN_SHARE = 0.25
"""Share of the histories (or of the end of each) that calibrates the intervals and is not trained on."""


MOST_EXAMPLES = 2_000_000
"""Maximum per target: more examples of the same fleet add little and take minutes."""


class TooLittle(Exception):
    """There is too little data to train on; the message says how much is required."""


def examples(histories: Sequence[History], every_min: int) -> tuple[list[Examples], list[Examples]]:
    """Examples to train on, and others to calibrate with: whole histories if there are four or more, else the last quarter of each."""
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
    """The data that `examples` does not train on, as histories."""
    if len(histories) >= 4:
        return list(histories[-max(1, round(len(histories) * UNSEEN_SHARE)) :])
    return [h.minutes_between(round(h.minutes * (1 - UNSEEN_SHARE)), h.minutes) for h in histories]


def spacing(rnic_minutes: int, every_min: int) -> int:
    """Minutes between two training samples such that there are at most `MOST_EXAMPLES`.

    >>> spacing(600 * 60, 5), spacing(1000 * 7 * 1440, 5)
    (5, 26)
    """
    return max(every_min, -(-rnic_minutes * len(HORIZONS_MIN) // MOST_EXAMPLES))


def _by_target(lots: Sequence[Sequence[Examples]]) -> list[Examples]:
    return [together(lot[k] for lot in lots) for k in range(len(targets()))]


def train(histories: Sequence[History], every_min: int = 2, threads: int = 1, rounds: int = ROUNDS) -> tuple[Forecaster, dict[str, Any]]:
    """Train a forecaster; returns it with its description for the registry.

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
    """Extent of a history; minutes since 1970."""

    first: int
    last: int
    rnics: int

    @property
    def rnic_minutes(self) -> int:
        return self.rnics * (self.last - self.first)


def extent_of(history: History) -> Extent:
    return Extent(history.first_minute, history.first_minute + history.minutes, len(history.names))


def too_little(counts: Sequence[int], extents: Sequence[Extent], every_min: int) -> TooLittle:
    """What is missing, from the examples per target, and what to do.

    >>> print(str(too_little([1030, 500], [Extent(0, 72, 10)], 5))[:109])
    1,030 examples are too few to train on: 2,000 are required. There are 12 RNIC-hours, with one sample per RNIC
    """
    most, minutes = max(counts, default=0), sum(one.rnic_minutes for one in extents)
    meanwhile = "Until then, the base model forecasts"
    if most >= FEWEST:
        return TooLittle(
            f"{most:,} examples, but no value changes in any of them: there is nothing to learn. Choose a time span in which loads changed "
            f"(--days). {meanwhile}"
        )
    enough = f"about {-(-minutes * FEWEST // most // 60):,} would be enough" if most else "no sample has enough minutes before and after it"
    closer = " or sample more often (--every 1)" if every_min > 1 else ""
    return TooLittle(
        f"{most:,} examples are too few to train on: {FEWEST:,} are required. There are {round(minutes / 60):,} RNIC-hours, with one "
        f"sample per RNIC every {plural(every_min)}; {enough}. Use more data (--days, more recordings){closer}. {meanwhile}"
    )


def plural(minutes: int) -> str:
    return "minute" if minutes == 1 else f"{minutes} minutes"


def loss(forecaster: Forecaster, unseen: Sequence[Examples], compared: Sequence[str]) -> float | None:
    """The mean quantile loss at 15 minutes, as a share of the wall, of these targets; as the job compares models (`live.score`)."""
    losses = []
    for target, some in zip(targets(), unseen, strict=True):
        at_15 = some.rows[:, NAMES.index("horizon_min")] == HORIZON_MIN if len(some) else np.zeros(0, dtype=np.bool_)
        if target.name not in compared or not at_15.any():
            continue
        rows, labels, growing = some.rows[at_15], some.labels[at_15], some.growing[at_15]
        quantiles = forecaster.labels(target.name, rows)
        margins = forecaster.margins[target.name][growing.astype(np.intp), HORIZONS_MIN.index(HORIZON_MIN)]
        quantiles[:, 0] -= margins
        quantiles[:, -1] += margins
        share = (np.abs(rows[:, NAMES.index("rate")]) + QUIET) * HORIZON_MIN
        losses.append(quantile_loss(labels, quantiles) * share)
    return float(np.concatenate(losses).mean()) if losses else None


def against_base(forecaster: Forecaster, unseen: Sequence[Examples]) -> dict[str, Any] | None:
    """How a model compares with the base model on examples that neither was trained on; None where no target is in both."""
    try:
        base = base_model.load()
    except RegistryError:
        return None
    both = sorted(set(base.boosters) & set(forecaster.boosters))
    own, other = loss(forecaster, unseen, both), loss(base, unseen, both)
    if own is None or other is None:
        return None
    return {"base": base.meta["id"], "loss": round(own, 6), "base_loss": round(other, 6)}


def describe(
    extents: Sequence[Extent], every_min: int, seen: Sequence[int], unseen: Sequence[Examples], forecaster: Forecaster
) -> dict[str, Any]:
    """Data window, and errors on data that was not trained on; `seen` has the example count per target."""
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
        "against_base": against_base(forecaster, unseen),
        "metrics": {
            t.name: errors(forecaster, t.name, e)
            for t, e in zip(targets(), unseen, strict=True)
            if t.name in forecaster.boosters and len(e)
        },
    }


def errors(forecaster: Forecaster, target: str, unseen: Examples) -> dict[str, float]:
    """Mean absolute error of the median in units of labels, the coverage of the interval, and the errors at 15 minutes.

    The errors at 15 minutes are shares of the wall: live errors are compared with their 95th percentile. When more than 5% of them
    exceed it, the fleet no longer matches the training data.
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
