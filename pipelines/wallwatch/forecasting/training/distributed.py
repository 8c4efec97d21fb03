"""Training with Dask, for histories that exceed one machine: the same kind of model as `train`, fitted where the examples are.

Only small results reach the client: the models, a sample of the unseen examples that calibrates them, and the predicted and actual times
to walls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array
import lightgbm
import numpy as np
import psycopg
from dask.delayed import delayed
from lightgbm.dask import DaskLGBMClassifier, DaskLGBMRegressor

from wallwatch.domain.forecast import decline_model
from wallwatch.domain.forecast.damped_trend import margins
from wallwatch.domain.forecast.decline_model import DeclineExamples
from wallwatch.domain.forecast.features import NAMES, rhythm
from wallwatch.domain.forecast.forecaster import CLIP, FEWEST, PARAMETERS, ROUNDS, Forecaster, calibrate
from wallwatch.domain.forecast.targets import QUANTILES, targets
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN, Examples, examples_of, together
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.histories import from_store
from wallwatch.forecasting.training import interval_widening
from wallwatch.forecasting.training.train import UNSEEN_SHARE, Extent, describe, extent_of, too_little
from wallwatch.settings import Settings

arrays: Any = dask.array
"""Dask's functions are untyped."""
_NOT_THE_ESTIMATORS = ("seed", "verbosity", "objective")
MOST_UNSEEN = 400_000
"""Examples per target that calibrate the intervals: more would not change the quantiles, and all of them go to one machine."""


@dataclass(frozen=True)
class Lot:
    """The training examples of one part of the fleet; they stay on their worker."""

    seen: list[Examples]
    declines: DeclineExamples
    extent: Extent


@dataclass(frozen=True)
class _LotSummary:
    """The summary of a lot that reaches the client."""

    examples: list[int]
    """Of each target."""
    moves: list[bool]
    """Whether the labels of each target differ at all."""
    declines: int
    fell: int
    extent: Extent


def train(client: Any, parts: Sequence[Any], every_min: int = 5, rounds: int = ROUNDS) -> tuple[Forecaster, dict[str, Any]]:
    """Train on the workers of a cluster; returns a forecaster and its description for the registry, as `train.train`.

    Parameters
    ----------
    client : dask.distributed.Client
        Of the cluster.
    parts : sequence of Delayed that give a History
        Parts of the fleet: each worker reads its part and turns it into examples, so the whole fleet never is in one place. With four or
        more parts, the last quarter of them calibrates the intervals; otherwise the last quarter of each part's time does.

    Raises
    ------
    TooLittle
        When no target has enough examples.
    """
    kept = max(1, round(len(parts) * UNSEEN_SHARE)) if len(parts) >= 4 else 0
    histories = client.persist(list(parts[len(parts) - kept :])) if kept else client.persist(list(parts))
    learnt = [*parts[: len(parts) - kept], *histories] if kept else histories
    until = [1.0] * (len(parts) - kept) + [0.0] * kept if kept else [1.0 - UNSEEN_SHARE] * len(parts)
    lots = client.persist([delayed(_lot)(part, until[i], every_min, i, len(parts)) for i, part in enumerate(learnt)])
    found: list[_LotSummary] = client.gather(client.compute([delayed(_summary)(lot) for lot in lots]))
    counts = [sum(one.examples[k] for one in found) for k in range(len(targets()))]
    boosters = _fit(client, lots, found, counts, rounds)
    if not boosters:
        raise too_little(counts, [one.extent for one in found], every_min)
    beginning = 0.0 if kept else 1.0 - UNSEEN_SHARE
    most = MOST_UNSEEN // max(len(histories), 1)
    gathered = client.gather(client.compute([delayed(_unseen)(part, beginning, every_min, most) for part in histories]))
    unseen = [together(one[k] for one in gathered) for k in range(len(targets()))]
    forecaster = Forecaster(boosters, calibrate(boosters, unseen), margins(unseen))
    forecaster.decline_booster = _fit_declines(client, lots, found)
    forecaster.reach, forecaster.cold_reach = _widenings(client, histories[: interval_widening.HISTORIES], beginning, forecaster)
    return forecaster, describe([one.extent for one in found], every_min, counts, unseen, forecaster)


def of_the_store(parts: Sequence[list[int]], first: int, last: int) -> list[Any]:
    """Parts of the fleet that workers read from the store themselves; their environment has its address."""
    return [delayed(_read)(some, first, last) for some in parts]


def _read(some: list[int], first: int, last: int) -> History:
    with psycopg.connect(Settings().libpq_url, connect_timeout=5, application_name="wallwatch-train") as connection:
        return next(from_store.read_parts(connection, first, last, [some]))


def _lot(history: History, until: float, every_min: int, place: int, parts: int) -> Lot:
    """Examples from the first part of a history; decline examples from all of it, spaced as on one machine (all parts assumed equal)."""
    begins = history.minutes_between(0, round(history.minutes * until))
    seen = examples_of(begins, every_min, place % every_min) if begins.minutes else [together([]) for _ in targets()]
    extent = extent_of(history)
    decline_every = decline_model.spacing(parts * extent.rnic_minutes)
    return Lot(seen, decline_model.decline_examples_of(history, LEAST_HISTORY_MIN + place % decline_every, decline_every), extent)


def _summary(lot: Lot) -> _LotSummary:
    moves = [bool(len(one) and np.ptp(one.labels) > 0) for one in lot.seen]
    return _LotSummary([len(one) for one in lot.seen], moves, len(lot.declines), int(lot.declines.labels.sum()), lot.extent)


def _unseen(history: History, beginning: float, every_min: int, most: int) -> list[Examples]:
    """Examples from the last part of a history, evenly spaced, at most `most` per target."""
    some = examples_of(history.minutes_between(round(history.minutes * beginning), history.minutes), every_min)
    steps = [slice(None, None, max(1, -(-len(one) // most))) for one in some]
    return [Examples(one.rows[step], one.labels[step], one.growing[step]) for one, step in zip(some, steps, strict=True)]


def _fit(
    client: Any, lots: Sequence[Any], summaries: Sequence[_LotSummary], counts: Sequence[int], rounds: int
) -> dict[str, list[lightgbm.Booster]]:
    found: dict[str, list[lightgbm.Booster]] = {}
    for k, target in enumerate(targets()):
        if counts[k] < FEWEST or not any(one.moves[k] for one in summaries):
            continue
        kept = [(lot, one.examples[k]) for lot, one in zip(lots, summaries, strict=True) if one.examples[k]]
        rows, labels = _arrays(kept, len(NAMES), _rows, _labels, k)
        for quantile in QUANTILES:
            model = DaskLGBMRegressor(client=client, objective="quantile", alpha=quantile, **_estimator(PARAMETERS, rounds))
            model.fit(rows, labels, feature_name=list(NAMES))
            found.setdefault(target.name, []).append(model.to_local().booster_)
    return found


def _fit_declines(client: Any, lots: Sequence[Any], summaries: Sequence[_LotSummary]) -> lightgbm.Booster | None:
    """The classifier of declines; None with too few examples, or examples of one kind only (`decline_model.fit`)."""
    count, fell = sum(one.declines for one in summaries), sum(one.fell for one in summaries)
    if count < decline_model.FEWEST or fell in (0, count):
        return None
    kept = [(lot, one.declines) for lot, one in zip(lots, summaries, strict=True) if one.declines]
    rows, labels = _arrays(kept, len(decline_model.NAMES), _decline_rows, _decline_labels)
    model = DaskLGBMClassifier(client=client, objective="binary", **_estimator(decline_model.PARAMETERS, decline_model.ROUNDS))
    model.fit(rows, labels, feature_name=list(decline_model.NAMES))
    booster: lightgbm.Booster = model.to_local().booster_
    return booster


def _widenings(client: Any, histories: Sequence[Any], beginning: float, forecaster: Forecaster) -> tuple[Any, Any]:
    """As `interval_widening.widenings`, with the forecasts made where the histories are."""
    plain, cold = (delayed(one) for one in (interval_widening.plain(forecaster), interval_widening.only_trend(forecaster)))
    each = client.compute([delayed(_cases)(part, beginning, one) for one in (plain, cold) for part in histories])
    cases = client.gather(each)
    return interval_widening.stretches(
        interval_widening.together(cases[: len(histories)]), interval_widening.together(cases[len(histories) :])
    )


def _cases(history: History, beginning: float, forecaster: Forecaster) -> interval_widening.Cases:
    return interval_widening.cases([history.minutes_between(round(history.minutes * beginning), history.minutes)], forecaster)


def _estimator(parameters: Mapping[str, Any], rounds: int) -> dict[str, Any]:
    of_it = {name: value for name, value in parameters.items() if name not in _NOT_THE_ESTIMATORS}
    return {**of_it, "n_estimators": rounds, "random_state": 1, "verbosity": -1, "tree_learner": "data"}


def _arrays(lots: Sequence[tuple[Any, int]], width: int, rows: Any, labels: Any, *of: int) -> tuple[Any, Any]:
    """One array of rows and one of labels over all workers, from the lots and their example counts."""
    left = [arrays.from_delayed(delayed(rows)(lot, *of), (n, width), dtype=np.float32) for lot, n in lots]
    right = [arrays.from_delayed(delayed(labels)(lot, *of), (n,), dtype=np.float64) for lot, n in lots]
    return arrays.concatenate(left), arrays.concatenate(right)


def _rows(lot: Lot, k: int) -> Any:
    return lot.seen[k].rows


def _labels(lot: Lot, k: int) -> Any:
    return np.clip(lot.seen[k].labels - rhythm(lot.seen[k].rows), *CLIP)


def _decline_rows(lot: Lot) -> Any:
    return lot.declines.rows


def _decline_labels(lot: Lot) -> Any:
    return lot.declines.labels
