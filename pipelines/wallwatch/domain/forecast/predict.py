"""A whole forecast: values, performance, walls and declines of many RNICs at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.forecast import damped_trend, decline_model, physical_model
from wallwatch.domain.forecast.decline import Outlook, outlook
from wallwatch.domain.forecast.features import FeatureMaker
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.interval_widths import BANDWIDTH, IntervalWidths, with_bandwidth
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, Floats, limits, targets
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN, is_growing
from wallwatch.domain.forecast.wall_chance import chances_within_hour
from wallwatch.domain.forecast.wall_times import times, unstretched
from wallwatch.domain.forecast.window import Window

OWN_ERROR = 0.02
"""Of the performance model, as a share of the bandwidth: the 90% interval for the current state, on development fleets."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast of each RNIC; NaN if unknown.

    Attributes
    ----------
    now : array (rnics, targets)
    ahead : array (rnics, targets, horizons, quantiles)
    paths : array (rnics, walls, horizons, quantiles)
        Basis of the times to walls. Of steady values the upper end is at least that of any value of the fleet that does: a
        model that is sure that nothing begins has only not seen it begin.
    performance : physical_model.Performance
    bandwidth_of_loads : array (rnics, horizons, quantiles)
        As in `performance`, without the performance model's own error.
    headroom : array (rnics, horizons, quantiles)
        Of the nearest wall at that time, 1 - value / limit.
    reached_in_min : array (rnics, walls, 3)
        Earliest, likely, latest; infinite where not within the horizons.
    wall_chance : array (rnics, walls)
        Of reaching each wall within the hour (`wall_chance.chances_within_hour`).
    decline : decline.Outlook
    cold_start : bool array (rnics,)
        Made from the physical model and a damped trend alone.
    growing : bool array (rnics, targets)
        Whether the value changes faster than `features.QUIET` (`training_examples.is_growing`).
    of_peers : bool array (rnics,)
        Whether `q_r` is joined over peers; otherwise the own ingress chain is used.
    """

    minute: int
    now: Floats
    ahead: Floats
    paths: Floats
    performance: physical_model.Performance
    bandwidth_of_loads: Floats
    headroom: Floats
    reached_in_min: Floats
    wall_chance: Floats
    decline: Outlook
    cold_start: npt.NDArray[np.bool_]
    growing: npt.NDArray[np.bool_]
    of_peers: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.now)


def predict(window: Window, forecaster: Forecaster | None, widths: IntervalWidths | None = None) -> Forecast:
    """Forecast every RNIC of a window.

    An RNIC with less than ten minutes of history, or any RNIC while there is no trained model, starts cold: its values continue by a
    damped trend, and the physical model derives the performance. `widths` correct the trained intervals by their outcomes so far.
    """
    n = len(window.models)
    maker = FeatureMaker(window)
    now = np.empty((n, len(targets())))
    ahead = np.empty((n, len(targets()), len(HORIZONS_MIN), len(QUANTILES)))
    moves = np.zeros((n, len(targets())), dtype=np.bool_)
    cold = window.age() < LEAST_HISTORY_MIN
    if forecaster is None:
        cold = np.ones(n, dtype=np.bool_)
    above = np.full((n, len(targets()), len(HORIZONS_MIN)), -np.inf)
    margins = {**damped_trend.starting_margins(), **(forecaster.cold if forecaster is not None else {})}
    for k, target in enumerate(targets()):
        now[:, k] = maker.newest(k)
        if np.isnan(now[:, k]).all():
            ahead[:, k] = np.nan
            continue
        features = maker.of(k)
        moves[:, k] = is_growing(features.rate, features.unit)
        learnt = forecaster is not None and target.name in forecaster.boosters and not cold.all()
        if learnt and forecaster is not None:
            ahead[:, k] = forecaster.ahead(target.name, features)
            if widths is not None:
                ahead[:, k] = widths.scaled(k, ahead[:, k], moves[:, k])
        if not learnt or cold.any() or target.wall is not None:
            by_trend = damped_trend.damped(features, maker.noise(k), margins[target.name])
            above[:, k] = np.where(moves[:, k, None], -np.inf, by_trend[:, :, -1])
            chosen = np.ones(n, dtype=np.bool_) if not learnt else cold
            ahead[chosen, k] = by_trend[chosen]
    link = _carried(window)
    found = physical_model.performance(window.models, now, ahead, window.spread, link, window.sent_gbps)
    if widths is not None:
        scaled = widths.scaled(BANDWIDTH, found.bandwidth, with_bandwidth(moves)[:, BANDWIDTH])
        found = replace(found, bandwidth=np.where(cold[:, None, None], found.bandwidth, scaled))
    of_loads = found.bandwidth
    found = _with_own_error(found, link)
    limit = limits(window.models)
    count = len(walls())
    with np.errstate(invalid="ignore"):
        each = 1.0 - ahead[:, :count] / limit[:, :, None, None]
    nearest = np.where(np.isnan(each), np.inf, each).min(axis=1)[:, :, ::-1]  # many entries, little headroom
    paths = ahead[:, :count].copy()
    paths[..., -1] = np.maximum(paths[..., -1], above[:, :count])
    reached = times(now[:, :count], paths, limit, _stretch(forecaster, cold, moves[:, :count]))
    return Forecast(
        window.minute,
        now,
        ahead,
        paths,
        found,
        of_loads,
        np.where(np.isinf(nearest), np.nan, nearest),
        reached,
        chances_within_hour(now[:, :count], ahead[:, :count], limit),
        outlook(found, _decline_chances(window, maker, forecaster, cold)),
        np.asarray(cold),
        moves,
        window.of_peers,
    )


def _decline_chances(window: Window, maker: FeatureMaker, forecaster: Forecaster | None, cold: npt.NDArray[np.bool_]) -> Floats | None:
    """Chances that the bandwidth declines within the hour; NaN for RNICs that start cold."""
    if forecaster is None or forecaster.decline_booster is None:
        return None
    return np.where(cold, np.nan, forecaster.decline_chances(decline_model.rows_of(window, maker)))


def _carried(window: Window) -> Floats:
    """Capacity of PCIe links, at least the current traffic; NaN if speed and lanes are unknown."""
    if window.sent_gbps is None:
        return window.link_gbps
    return np.where(np.isnan(window.link_gbps), np.nan, np.fmax(window.link_gbps, window.sent_gbps))


def _with_own_error(found: physical_model.Performance, link: Floats) -> physical_model.Performance:
    """Bandwidths whose interval includes the performance model's own error in addition to that of the loads; the link still bounds them."""
    middle = len(QUANTILES) // 2
    likely = found.bandwidth[:, :, middle : middle + 1]
    wide = np.hypot(found.bandwidth - likely, OWN_ERROR * likely)
    bandwidth = likely + np.concatenate([-wide[:, :, :middle], 0.0 * likely, wide[:, :, middle + 1 :]], axis=2)
    bound = np.where(np.isnan(link), np.inf, link)[:, None, None]
    return replace(found, bandwidth=np.clip(bandwidth, 0.0, bound))


def _stretch(forecaster: Forecaster | None, cold: npt.NDArray[np.bool_], moves: npt.NDArray[np.bool_]) -> Floats:
    """Factor that widens each interval, shape (rnics, walls, 3)."""
    starting = damped_trend.starting_reach()
    trained = unstretched() if forecaster is None else forecaster.reach
    from_cold = starting if forecaster is None or forecaster.cold_reach is None else forecaster.cold_reach
    table = np.stack([trained, from_cold])
    return np.asarray(table[cold[:, None].astype(np.intp), moves.astype(np.intp)])
