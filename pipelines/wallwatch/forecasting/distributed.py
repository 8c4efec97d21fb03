"""Training with Dask, for histories that do not fit into one machine: the same models, fitted where the examples are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask.array
import lightgbm
import numpy as np
from dask.delayed import delayed
from lightgbm.dask import DaskLGBMRegressor

from wallwatch.domain.forecast.examples import Examples, examples_of
from wallwatch.domain.forecast.features import NAMES, rhythm
from wallwatch.domain.forecast.model import CLIP, FEWEST, PARAMETERS, ROUNDS
from wallwatch.domain.forecast.targets import QUANTILES, targets

arrays: Any = dask.array
"""Its functions have no types."""
_NOT_THE_ESTIMATORS = ("seed", "verbosity")


def fit(client: Any, histories: Sequence[Any], every_min: int, rounds: int = ROUNDS) -> dict[str, list[lightgbm.Booster]]:
    """Train the models of each target on the workers of a cluster.

    Parameters
    ----------
    client : dask.distributed.Client
        Of the cluster.
    histories : sequence of Delayed that give a History
        Parts of the fleet: each is read and turned into examples on the worker that has it, so the whole never is in one place.
    """
    lots = [client.persist(delayed(examples_of)(part, every_min)) for part in histories]
    counts = client.gather(client.compute([delayed(_counts)(lot) for lot in lots]))
    found: dict[str, list[lightgbm.Booster]] = {}
    for k, target in enumerate(targets()):
        sizes = [count[k] for count in counts]
        if sum(sizes) < FEWEST:
            continue
        kept = [(lot, size) for lot, size in zip(lots, sizes, strict=True) if size]
        rows = arrays.concatenate([arrays.from_delayed(delayed(_rows)(lot, k), (size, len(NAMES)), dtype=np.float32) for lot, size in kept])
        labels = arrays.concatenate([arrays.from_delayed(delayed(_labels)(lot, k), (size,), dtype=np.float64) for lot, size in kept])
        found[target.name] = [_fit_one(client, rows, labels, quantile, rounds) for quantile in QUANTILES]
    return found


def _fit_one(client: Any, rows: Any, labels: Any, quantile: float, rounds: int) -> lightgbm.Booster:
    parameters = {name: value for name, value in PARAMETERS.items() if name not in _NOT_THE_ESTIMATORS}
    model = DaskLGBMRegressor(
        client=client, n_estimators=rounds, alpha=quantile, random_state=1, verbosity=-1, tree_learner="data", **parameters
    )
    model.fit(rows, labels, feature_name=list(NAMES))
    booster: lightgbm.Booster = model.to_local().booster_
    return booster


def _counts(lot: Sequence[Examples]) -> list[int]:
    return [len(some) for some in lot]


def _rows(lot: Sequence[Examples], k: int) -> Any:
    return lot[k].rows


def _labels(lot: Sequence[Examples], k: int) -> Any:
    return np.clip(lot[k].labels - rhythm(lot[k].rows), *CLIP)
