"""A curve of drops that was measured: more load never gives throughput back, whatever the noise of two points says.

Single measurements are noisy, and whoever chooses by them chooses those that came out too good. So a curve is fitted to all of them: a
Gaussian process for the logarithm of throughput against the competitors' load (Rasmussen and Williams, Gaussian Processes for Machine
Learning, chapters 2 and 5). It averages neighbours, and knows how wrong each drop may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

Array = npt.NDArray[np.float64]

FEWEST = 8
"""Measurements: with fewer, neither noise nor shape is known."""
_START = np.log([0.1, 0.5, 0.01])
"""Size of the drop, length over which it changes (in roots of shares of the largest load), noise of one measurement."""
_PRIOR_WIDTH = np.array([1.0, 0.5, 1.0])
"""Of each logarithm."""
_LEVEL = 5.0
"""Standard deviation of the logarithm of the solo throughput around the mean: wide, so that the measurements decide."""
_POINTS = 33
_BEYOND = (1.25, 1.5, 2.0)
"""Loads past the largest that was measured: the error there is that of a guess."""
_LARGEST_DROP = 0.999


class UnusableMeasurements(ValueError):
    """Too few measurements, or none alone on the card."""


@dataclass(frozen=True, slots=True)
class MeasuredCurve:
    """`points` are (competitors' load, drop as a share of solo), `errors` the standard error of each drop."""

    points: tuple[tuple[float, float], ...]
    errors: tuple[float, ...]


def fit(measurements: Sequence[tuple[float, float]]) -> MeasuredCurve:
    """The curve of measurements `(competitors' load, throughput)`, in any order; a load may be measured several times.

    Raises
    ------
    UnusableMeasurements
        With fewer than `FEWEST` measurements, without one alone (load 0), or with two loads or fewer.
    """
    loads, logs, counts, spread = _grouped(measurements)
    level = float((logs * counts).sum() / counts.sum())
    range_of_loads = float(loads.max())
    scales = minimize(
        _posterior,
        _START,
        args=(loads / range_of_loads, logs - level, counts, spread),
        method="L-BFGS-B",
        bounds=[(start - 3.0, start + 3.0) for start in _START],
    ).x
    grid = np.concatenate([np.linspace(0.0, 1.0, _POINTS), _BEYOND])
    factor = cho_factor(_covariance(scales, loads / range_of_loads, loads / range_of_loads) + _noise(scales, counts), lower=True)
    cross = _covariance(scales, grid, loads / range_of_loads)
    mean = cross @ cho_solve(factor, logs - level)
    covariance = _covariance(scales, grid, grid) - cross @ cho_solve(factor, cross.T)
    # The drop compares a load with none, and both come from the same measurements: their errors partly cancel out.
    left = np.exp(mean - mean[0])
    variance = covariance[0, 0] + np.diag(covariance) - 2.0 * covariance[0]
    errors = np.sqrt(np.maximum(variance, 0.0)) * left
    drops = [0.0, *ascending([float(drop) for drop in np.minimum(1.0 - left[1:], _LARGEST_DROP)])]
    return MeasuredCurve(tuple(zip((grid * range_of_loads).tolist(), drops, strict=True)), tuple(errors.tolist()))


def _grouped(measurements: Sequence[tuple[float, float]]) -> tuple[Array, Array, Array, float]:
    """Loads; mean logarithm of throughput and number of measurements of each; sum of squares within loads."""
    if len(measurements) < FEWEST:
        raise UnusableMeasurements(f"{len(measurements)} measurements: at least {FEWEST} are required")
    given = np.array(measurements, dtype=float)
    loads, at = np.unique(given[:, 0], return_inverse=True)
    if loads[0] > 0:
        raise UnusableMeasurements("no measurement alone on the card (load 0): a drop has nothing to compare with")
    if len(loads) < 3:
        raise UnusableMeasurements("at least three different loads are required")
    counts = np.bincount(at).astype(float)
    logs = np.bincount(at, weights=np.log(given[:, 1])) / counts
    return loads, logs, counts, float(((np.log(given[:, 1]) - logs[at]) ** 2).sum())


def _covariance(scales: Array, loads: Array, others: Array) -> Array:
    """Matern's with one derivative, over the roots of the loads: drops may begin steeply, and smoothing that would take them for noise."""
    size, length, _ = np.exp(scales)
    apart = np.sqrt(3.0) * np.abs(np.sqrt(loads)[:, None] - np.sqrt(others)[None, :]) / length
    return np.asarray(size**2 * (1.0 + apart) * np.exp(-apart) + _LEVEL**2)


def _noise(scales: Array, counts: Array) -> Array:
    return np.asarray(np.diag(np.exp(scales[2]) ** 2 / counts))


def _posterior(scales: Array, loads: Array, logs: Array, counts: Array, spread: float) -> float:
    """Negative logarithm of the posterior of the scales."""
    try:
        factor = cho_factor(_covariance(scales, loads, loads) + _noise(scales, counts), lower=True)
    except np.linalg.LinAlgError:
        return 1e9
    likelihood = 0.5 * logs @ cho_solve(factor, logs) + np.log(np.diag(factor[0])).sum()
    # Repeated measurements of a load say how large the noise is.
    likelihood += 0.5 * spread * np.exp(-2.0 * scales[2]) + (counts.sum() - len(counts)) * scales[2]
    return float(likelihood + 0.5 * (((scales - _START) / _PRIOR_WIDTH) ** 2).sum())


def ascending(values: Sequence[float]) -> list[float]:
    """The closest values, by least squares, that never fall and are not negative (pool adjacent violators).

    Values that ascend come back as they are.

    >>> ascending([0.0, 0.1, 0.08, 0.3])
    [0.0, 0.09, 0.09, 0.3]
    >>> ascending([-0.01, 0.02])
    [0.0, 0.02]
    """
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (first, first_count), (last, last_count) = pools[-2:]
            count = first_count + last_count
            pools[-2:] = [((first * first_count + last * last_count) / count, count)]
    return [max(value, 0.0) for value, count in pools for _ in range(count)]
