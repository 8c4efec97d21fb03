"""Scores of forecasts, compared with the performance of the RNICs' mechanism, next to simple baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.forecast.scoring.truth import Measured

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.forecast.decline import Declines, reportable
from wallwatch.domain.forecast.features import filled
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.predict import Forecast, predict
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, Floats, limits
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN
from wallwatch.domain.forecast.wall_times import came_in_min, judged
from wallwatch.domain.forecast.window import History
from wallwatch.domain.performance.parameters import DECLINE_SHARE

AHEAD_MIN = 5
"""A decline counts as found when it was predicted this many minutes before."""
HOUR = 60
SMOOTH_MIN = 3
"""Declines of the mechanism are searched in medians over this many minutes, to remove its noise."""

Baseline = Callable[[History, int], tuple[Floats, Floats]]
"""From a history up to a minute: bandwidth and latency, each of shape (rnics, 1 + horizons), now first."""


@dataclass
class Tally:
    """Errors and hits, added over fleets. Errors are relative."""

    bandwidth: dict[str, dict[int, list[Floats]]] = field(default_factory=dict)
    latency: dict[str, dict[int, list[Floats]]] = field(default_factory=dict)
    covered: dict[str, int] = field(default_factory=lambda: {f"{what} {ahead}": 0 for what in ("inside", "of") for ahead in HORIZONS_MIN})
    """How many bandwidths were inside of their interval, by horizon, and of how many."""
    reached: dict[str, int] = field(
        default_factory=lambda: {"inside": 0, "of": 0, "earlier": 0, "later": 0, "silent": 0, "came": 0, "came_inside": 0}
    )
    declines: dict[str, int] = field(
        default_factory=lambda: {
            "there": 0,
            "found": 0,
            "sudden": 0,
            "sudden_found": 0,
            "alarms": 0,
            "right": 0,
            "begun": 0,
            "begun_right": 0,
            "moments": 0,
            "fell": 0,
        }
    )

    def merge(self, other: Tally) -> None:
        """Add what another tally has."""
        for mine, theirs in ((self.bandwidth, other.bandwidth), (self.latency, other.latency)):
            for way, by_horizon in theirs.items():
                for ahead, parts in by_horizon.items():
                    mine.setdefault(way, {}).setdefault(ahead, []).extend(parts)
        for counts, more in ((self.covered, other.covered), (self.reached, other.reached), (self.declines, other.declines)):
            for name, count in more.items():
                counts[name] += count

    def add(self, of: dict[str, dict[int, list[Floats]]], way: str, ahead: int, predicted: Floats, truth: Floats) -> None:
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.abs(predicted / truth - 1.0)
        of.setdefault(way, {}).setdefault(ahead, []).append(errors[~np.isnan(errors)])


def judge(
    history: History, measured: Measured, forecaster: Forecaster | None, tally: Tally, baselines: Mapping[str, Baseline], every_min: int
) -> None:
    """Forecast a history minute by minute and add the results."""
    predicted: list[tuple[int, npt.NDArray[np.bool_]]] = []
    running = Declines()
    values = filled(history.values)
    limit = limits(history.models)
    for index in range(LEAST_HISTORY_MIN, history.minutes, every_min):
        made = predict(history.at(index), forecaster)
        _performance(made, measured, index, tally)
        for way, baseline in baselines.items():
            bandwidth, latency = baseline(history, index)
            for j, ahead in enumerate((0, *HORIZONS_MIN)):
                if index + ahead < history.minutes:
                    tally.add(tally.bandwidth, way, ahead, bandwidth[:, j], measured.bandwidth_gbps[:, index + ahead])
                    tally.add(tally.latency, way, ahead, latency[:, j], measured.latency_us[:, index + ahead])
        chance = reportable(made.decline.chance, ~made.cold_start, made.wall_chance)
        predicted.append((index, running.step(index, chance, made.decline.learnt)))
        if index + HOUR < history.minutes:
            _reached(made, values[:, index + 1 : index + HOUR + 1, : len(walls())], limit, tally)
    declines(history, measured, predicted, tally)


def _performance(made: Forecast, measured: Measured, index: int, tally: Tally) -> None:
    middle = len(QUANTILES) // 2
    tally.add(tally.bandwidth, "forecast", 0, made.performance.bandwidth_now, measured.bandwidth_gbps[:, index])
    tally.add(tally.latency, "forecast", 0, made.performance.latency_now, measured.latency_us[:, index])
    for j, ahead in enumerate(HORIZONS_MIN):
        if index + ahead >= measured.bandwidth_gbps.shape[1]:
            continue
        truth = measured.bandwidth_gbps[:, index + ahead]
        tally.add(tally.bandwidth, "forecast", ahead, made.performance.bandwidth[:, j, middle], truth)
        tally.add(tally.latency, "forecast", ahead, made.performance.latency[:, j, middle], measured.latency_us[:, index + ahead])
        low, high = made.performance.bandwidth[:, j, 0], made.performance.bandwidth[:, j, -1]
        known = ~np.isnan(truth) & ~np.isnan(low)
        # The noise of the mechanism itself, 0.6% over a minute, is no fault of the forecast.
        tally.covered[f"inside {ahead}"] += int((known & (truth >= low * 0.988) & (truth <= high * 1.012)).sum())
        tally.covered[f"of {ahead}"] += int(known.sum())


def _reached(made: Forecast, after: Floats, limit: Floats, tally: Tally) -> None:
    """Intervals of the time to a wall, for walls that were not reached yet and whose growth matters: predicted or real."""
    came = came_in_min(after, limit)
    found = judged(made.reached_in_min, came, made.now[:, : limit.shape[1]], limit)
    tally.reached["of"] += int(found.concerned.sum())
    tally.reached["earlier"] += int(found.earlier.sum())
    tally.reached["later"] += int(found.later.sum())
    tally.reached["inside"] += int((found.concerned & ~found.earlier & ~found.later).sum())
    tally.reached["silent"] += int((found.asked & ~found.concerned).sum())
    hit = found.concerned & np.isfinite(came)
    tally.reached["came"] += int(hit.sum())
    tally.reached["came_inside"] += int((hit & ~found.earlier & ~found.later).sum())


def decline_minutes(bandwidth: Floats) -> list[int]:
    """Minutes at which the bandwidth had fallen by 5% from its highest value since the last such minute.

    >>> decline_minutes(np.array([100.0, 99, 96, 94, 93, 90, 88, 100, 99, 80]))
    [3, 6, 9]
    """
    found: list[int] = []
    highest = -np.inf
    for minute, value in enumerate(bandwidth):
        if np.isnan(value):
            continue
        highest = max(highest, float(value))
        if value <= (1.0 - DECLINE_SHARE) * highest:
            found.append(minute)
            highest = float(value)
    return found


def declines(history: History, measured: Measured, predicted: Sequence[tuple[int, npt.NDArray[np.bool_]]], tally: Tally) -> None:
    """Add the outcomes of predicted declines, by the minute of the forecast, and how often a decline followed at all."""
    minutes = np.array([index for index, _ in predicted])
    alarms = np.array([flags for _, flags in predicted])
    for i in range(len(history.names)):
        truth = smoothed(measured.bandwidth_gbps[i])
        for at in decline_minutes(truth):
            before = (minutes <= at - AHEAD_MIN) & (minutes >= at - HOUR)
            if not before.any():
                continue
            found = bool(alarms[before, i].any())
            # A decline of 5% within the minutes before which it had to be predicted is predictable only from its rhythm.
            start = float(np.nanmax(truth[max(at - AHEAD_MIN, 0) : at]))
            sudden = bool(truth[at - AHEAD_MIN] >= 0.995 * start and truth[at] <= 0.9 * start)
            tally.declines["there"] += 1
            tally.declines["found"] += found
            tally.declines["sudden"] += sudden
            tally.declines["sudden_found"] += sudden and found
        before_that = False
        lowest = _lowest_after(truth)
        for index, flags in predicted:
            if index + HOUR < len(truth) and not np.isnan(truth[index]):
                fell = bool(lowest[index] <= (1.0 - DECLINE_SHARE) * truth[index])
                tally.declines["moments"] += 1
                tally.declines["fell"] += fell
                if flags[i]:
                    tally.declines["alarms"] += 1
                    tally.declines["right"] += fell
                    tally.declines["begun"] += not before_that
                    tally.declines["begun_right"] += fell and not before_that
            before_that = bool(flags[i])


def _lowest_after(series: Floats) -> Floats:
    """The lowest value of the hour after each minute that has a whole one; NaN where none is known, which no fall is less than."""
    hours = np.lib.stride_tricks.sliding_window_view(series[1:], HOUR) if len(series) > HOUR else np.empty((0, HOUR))
    lowest = np.where(np.isnan(hours), np.inf, hours).min(axis=1)
    return np.where(np.isinf(lowest), np.nan, lowest)


def smoothed(series: Floats) -> Floats:
    """Medians over the minutes up to each."""
    padded = np.concatenate([np.full(SMOOTH_MIN - 1, series[0]), series])
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, SMOOTH_MIN), axis=1))


def summary(tally: Tally) -> dict[str, Any]:
    """The figures: accuracy is 1 - mean absolute relative error, as in the paper."""

    def accuracy(of: dict[str, dict[int, list[Floats]]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for way, by_horizon in of.items():
            found[way] = {}
            for ahead, parts in sorted(by_horizon.items()):
                errors = np.concatenate(parts)
                if len(errors):
                    found[way][str(ahead)] = {
                        "accuracy": round(1.0 - float(errors.mean()), 4),
                        "p99_error": round(float(np.quantile(errors, 0.99)), 4),
                        "n": len(errors),
                    }
        return found

    def share(part: int, of: int) -> float | None:
        return round(part / of, 4) if of else None

    d, r = tally.declines, tally.reached
    return {
        "bandwidth": accuracy(tally.bandwidth),
        "latency": accuracy(tally.latency),
        "bandwidth_interval": {str(ahead): share(tally.covered[f"inside {ahead}"], tally.covered[f"of {ahead}"]) for ahead in HORIZONS_MIN},
        "declines": {
            **d,
            "recall": share(d["found"], d["there"]),
            "recall_without_sudden": share(d["found"] - d["sudden_found"], d["there"] - d["sudden"]),
            "precision": share(d["right"], d["alarms"]),
            "precision_of_begun": share(d["begun_right"], d["begun"]),
            "precision_of_always": share(d["fell"], d["moments"]),
            "said_share": share(d["alarms"], d["moments"]),
        },
        "time_to_wall": {**r, "coverage": share(r["inside"], r["of"]), "coverage_of_reached": share(r["came_inside"], r["came"])},
    }
