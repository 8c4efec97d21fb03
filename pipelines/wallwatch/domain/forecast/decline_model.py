"""Will the bandwidth decline by 5% or more within the hour? Learnt directly from the fleet's own past.

The quantiles of the loads give the range of each at each horizon. A decline is another question: that the bandwidth, which depends on both
chains, is low *at any minute* of the hour. Its chance is not a mean of chances at three horizons, so one classifier answers it, from the
growth of both chains in shares of the bandwidth that they cost, what drives them, and what the same minutes an hour, a day and a week ago
brought. The label takes no other truth than the loads that came and the performance model, so a fleet can learn it from its store.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast import physical_model
from wallwatch.domain.forecast.features import FeatureMaker, filled
from wallwatch.domain.forecast.targets import Floats, column
from wallwatch.domain.forecast.window import SEASONS_MIN, History, Window
from wallwatch.domain.performance.parameters import DECLINE_SHARE

HOUR_MIN = 60
SMOOTH_MIN = 3
"""Minutes whose median is the bandwidth: one minute's noise is not a decline."""
PARAMETERS: Mapping[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.02,
    "num_leaves": 15,
    "min_data_in_leaf": 300,
    "lambda_l2": 50.0,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "max_bin": 127,
    "verbosity": -1,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
}
ROUNDS = 900
FEWEST = 1000
"""Examples below which nothing is learnt: the quantiles alone give the chance."""
MOST = 500_000
"""Examples that are learnt from: more of the same fleet teach little, and take minutes."""

_LAGS = (1, 2, 3, 5, 10, 15, 20, 30, 45, 60)
_CHAINS = ("q_l", "q_r")
_CHAIN_LAGS = (1, 3, 5, 10, 15, 30, 60)
_LOADS = ("egress_masks", "ingress_masks", "offloaded_flows")
_AN_HOUR_AGO = (5, 15, 30)
_CONTAINERS = (1, 5, 15, 60)

NAMES: tuple[str, ...] = (
    "bandwidth_share", *(f"fallen_{m}m" for m in _LAGS), "below_highest", "above_lowest", "noise",
    *(f"{q}_{what}" for q in _CHAINS for what in ("cost", "sensitivity", *(f"cost_{m}m" for m in _CHAIN_LAGS))),
    *(f"{x}_{what}" for x in _LOADS for what in ("level", *(f"{m}m" for m in _CHAIN_LAGS), "growing_min", "since_min", "often")),
    "insertions", "insertions_5m", *(f"containers_{m}m" for m in _CONTAINERS), *(f"started_{m}m" for m in _CONTAINERS),
    *(f"fell_an_hour_ago_{m}m" for m in _AN_HOUR_AGO), *(f"lowest_after_{ago}m" for ago in SEASONS_MIN), "age_min",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeclineExamples:
    """Examples: features, shape (n, len(NAMES)), and whether the bandwidth fell within the hour, 0 or 1."""

    rows: npt.NDArray[np.float32]
    labels: Floats

    def __len__(self) -> int:
        return len(self.labels)


def rows_of(window: Window, maker: FeatureMaker) -> npt.NDArray[np.float32]:
    """Features of each RNIC of a window, shape (rnics, len(NAMES))."""
    p = physical_model.Parameters.of(window.models)
    n = len(window.models)
    bandwidth = smoothed(_bandwidth(window, maker, p))
    now = bandwidth[:, -1]
    head = np.zeros(n)
    best = physical_model.bandwidth_gbps(p, head, head)
    found = np.empty((n, len(NAMES)), dtype=np.float32)
    columns: list[Floats] = [now / best]
    columns += [1.0 - now / bandwidth[:, -1 - m] for m in _LAGS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nothing measured: NaN, as it should be
        lowest = np.nanmin(bandwidth, axis=1)
        columns += [1.0 - now / np.nanmax(bandwidth, axis=1), 1.0 - lowest / now]
        columns.append(np.nanstd(np.diff(bandwidth[:, -16:], axis=1), axis=1) / now)
    for name, deepest in zip(_CHAINS, (p.m, p.n), strict=True):
        series = maker.series(name)
        # How much bandwidth one more lookup costs: the derivative of equation (1).
        each = (series[:, -1] - deepest) / p.v**2 * (1.0 - p.w / now)
        columns += [series[:, -1] * each, each, *((series[:, -1] - series[:, -1 - m]) * each for m in _CHAIN_LAGS)]
    for name in _LOADS:
        load = maker.shares(name)
        grows = np.diff(load, axis=1)[:, ::-1] > 1e-6
        columns += [load[:, -1], *(load[:, -1] - load[:, -1 - m] for m in _CHAIN_LAGS)]
        columns += [_first(~grows), _first(grows), grows[:, :10].mean(axis=1)]
    insertions = maker.shares("flow_insertions")
    columns += [insertions[:, -1], insertions[:, -1] - insertions[:, -6]]
    newest_first = window.containers[:, ::-1]
    columns += [newest_first[:, :m].sum(axis=1) for m in _CONTAINERS]
    columns += [np.maximum(newest_first[:, :m], 0.0).sum(axis=1) for m in _CONTAINERS]
    began = bandwidth[:, 0]
    columns += [1.0 - bandwidth[:, m] / began for m in _AN_HOUR_AGO]
    columns += [lowest / began, *_lowest_after(window, p)[1:]]
    columns.append(window.age().astype(np.float64))
    for i, one in enumerate(columns):
        found[:, i] = one
    return found


def labels_at(bandwidth: Floats, index: int) -> Floats:
    """Whether the bandwidth, shape (rnics, minutes), declined within the hour after a minute; NaN if the hour is not over or unknown.

    >>> labels_at(np.array([[100.0] * 30 + [94.0] * 40, [100.0] * 70]), 5).tolist()
    [1.0, 0.0]
    """
    after = bandwidth[:, index + 1 : index + 1 + HOUR_MIN]
    if after.shape[1] < HOUR_MIN:
        return np.full(len(bandwidth), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        least = np.nanmin(after, axis=1)
    known = ~np.isnan(least) & ~np.isnan(bandwidth[:, index])
    return np.where(known, least <= (1.0 - DECLINE_SHARE) * bandwidth[:, index], np.nan)


def expected(history: History) -> Floats:
    """The bandwidth that the performance model gives in each minute, smoothed: shape (rnics, minutes)."""
    values, spread, link = filled(history.values), filled(history.spread), filled(history.link_gbps)
    left, right = values[:, :, column("q_l")], np.nan_to_num(values[:, :, column("q_r")])
    p = physical_model.Parameters.of(history.models).like(left)
    found = physical_model.bandwidth_gbps(p, *physical_model.in_flight(p, left, right, spread[:, :, 0], spread[:, :, 1]))
    return smoothed(np.minimum(found, np.where(np.isnan(link), np.inf, link)))


def spacing(rnic_minutes: int) -> int:
    """Minutes between two training examples, so that there are at most `MOST`.

    >>> spacing(10 * 180), spacing(1000 * 7 * 1440)
    (1, 21)
    """
    return max(1, -(-rnic_minutes // MOST))


def decline_examples_of(history: History, first: int, every_min: int) -> DeclineExamples:
    """Examples from every `every_min`-th minute of a history, from the minute `first` on."""
    bandwidth = expected(history)
    rows, labels = [np.empty((0, len(NAMES)), dtype=np.float32)], [np.empty(0)]
    for index in range(first, history.minutes - HOUR_MIN, every_min):
        fell = labels_at(bandwidth, index)
        known = ~np.isnan(fell)
        if known.any():
            window = history.at(index)
            rows.append(rows_of(window, FeatureMaker(window))[known])
            labels.append(fell[known])
    return DeclineExamples(np.concatenate(rows), np.concatenate(labels))


def fit(lots: Sequence[DeclineExamples], threads: int = 1, rounds: int = ROUNDS) -> lightgbm.Booster | None:
    """The classifier; None if there are too few examples, or all of one kind."""
    rows, labels = np.concatenate([lot.rows for lot in lots]), np.concatenate([lot.labels for lot in lots])
    if len(labels) < FEWEST or np.ptp(labels) == 0:
        return None
    parameters = {**PARAMETERS, "num_threads": threads}
    return lightgbm.train(parameters, lightgbm.Dataset(rows, labels, feature_name=list(NAMES), params=parameters), num_boost_round=rounds)


def smoothed(bandwidth: Floats) -> Floats:
    """Medians over the minutes up to each; shape (rnics, minutes) stays.

    >>> smoothed(np.array([[1.0, 1.0, 5.0, 1.0, 5.0, 5.0]])).tolist()
    [[1.0, 1.0, 1.0, 1.0, 5.0, 5.0]]
    """
    before = np.concatenate([bandwidth[:, :1], bandwidth[:, :1], bandwidth], axis=1)
    a, b, c = before[:, :-2], before[:, 1:-1], before[:, 2:]
    # The median of three without sorting: forty thousand hours per minute pass through here.
    return np.asarray(np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)))


def _bandwidth(window: Window, maker: FeatureMaker, p: physical_model.Parameters) -> Floats:
    """The last hour's bandwidth, shape (rnics, HISTORY_MIN); the spread of positions is assumed to have grown with their mean."""
    past = np.stack([maker.series(name) for name in _CHAINS])
    return _performance(window, p, past, past[:, :, -1])


def _performance(window: Window, of: physical_model.Parameters, chains: Floats, now: Floats) -> Floats:
    """Bandwidth for `q_l` and `q_r`, shape (2, rnics, times), where `now` are those behind the window's spread."""
    left, right = chains[0], np.nan_to_num(chains[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.nan_to_num(window.spread / now.T)
    p = of.like(left)
    queries = physical_model.in_flight(p, left, right, share[:, :1] * left, share[:, 1:] * right)
    link = np.where(np.isnan(window.link_gbps), np.inf, window.link_gbps)
    return np.asarray(np.minimum(physical_model.bandwidth_gbps(p, *queries), link[:, None]))


def _lowest_after(window: Window, p: physical_model.Parameters) -> list[Floats]:
    """By season: the lowest bandwidth of the hour that followed then, as a share of that at its beginning."""
    found = []
    places = [column(name) for name in _CHAINS]
    for i in range(len(SEASONS_MIN)):
        points = np.moveaxis(window.seasons[:, i][:, :, places], 2, 0)
        if np.isnan(points[0]).all():
            found.append(np.full(len(window.models), np.nan))
            continue
        then = _performance(window, p, points, window.values[:, -1, places].T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found.append(np.nanmin(then, axis=1) / then[:, 0])
    return found


def _first(flags: npt.NDArray[np.bool_]) -> Floats:
    """The index of the first true flag; the number of flags if none is."""
    return np.asarray(np.where(flags.any(axis=1), flags.argmax(axis=1), flags.shape[1]), dtype=np.float64)
