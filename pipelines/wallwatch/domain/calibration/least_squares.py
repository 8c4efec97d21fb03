"""Robust least squares with bounds, for few points: parameters that the data do not identify keep their prior, and are named.

Residuals are relative to the measured value and in units of `NOISE`, so that 27 and 177 Gbit/s weigh alike. `soft_l1` keeps one bad
run from bending the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

Floats = npt.NDArray[np.float64]

NOISE = 0.02
"""Relative scatter of one run that is assumed where the points are too few to show their own: repeated runs of perftest on an idle pair of
RNICs differ by one to two per cent."""
ASSUMED_FREE = 3
"""Weight of that assumption, in points: a curve that happens to pass through a handful of points does not prove precision."""
LEVEL = 0.95
IDENTIFIED_SHARE = 0.8
"""A parameter counts as identified when the data remove this share of its prior variance."""
BOOTSTRAPS = 40
"""Enough for a standard deviation to a tenth."""
MOST_LEFT_OUT = 40
"""Fits to all but some points: with more different (Q_l, Q_r) than this, several are left out at a time."""


@dataclass(frozen=True, slots=True)
class Model:
    """A function of (Q_l, Q_r) with parameters; `believed` and `spread` are their prior mean and deviation."""

    names: tuple[str, ...]
    predict: Callable[[Floats, Floats, Floats], Floats]
    """parameters, q_l, q_r -> values"""
    gradient: Callable[[Floats, Floats, Floats], Floats]
    """parameters, q_l, q_r -> derivatives of the values by each parameter, shape (points, parameters)"""
    believed: Floats
    spread: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True)
class Fit:
    """Result of `fit`. Parameters that the data do not identify have the interval of their prior, as narrowed by the data."""

    parameters: Floats
    lower: Floats
    upper: Floats
    identified: tuple[bool, ...]
    fitted: Floats
    r_squared: float | None
    """1 - SS_residual / SS_total; None where all values or all (Q_l, Q_r) are one."""
    relative_error: float
    """Root of the mean squared relative residual."""
    left_out_error: float | None
    """The same for each point when left out of the fit; None if there are too few."""
    covariance: Floats
    """Of the parameters, wide enough for the intervals of so few points: multiply by the normal quantile, not by Student's."""
    degrees_of_freedom: int
    method: str


def fit(model: Model, q_l: Floats, q_r: Floats, values: Floats, starts: Sequence[Floats], *, seed: int = 1, quick: bool = False) -> Fit:
    """Fit a model to points.

    Parameters
    ----------
    model : Model
    q_l, q_r, values : arrays of shape (points,)
        Values must be positive.
    starts : sequence of arrays
        Starting points in addition to `believed`; the best result counts.
    quick : bool
        Leave out what costs many more fits: the bootstrap and the points left out in turn.
    """
    distinct = len({(a, b) for a, b in zip(q_l, q_r, strict=True)})
    size = len(model.names)
    anchored = not _told_alone(model, q_l, q_r, distinct, size)
    best = _solve(model, q_l, q_r, values, [model.believed, *starts], anchored)
    fitted = model.predict(best, q_l, q_r)
    relative = fitted / values - 1.0
    free = len(values) - size if distinct >= size else 0
    noise = float(np.sqrt((np.sum(relative**2) + ASSUMED_FREE * NOISE**2) / (free + ASSUMED_FREE)))
    jacobian = model.gradient(best, q_l, q_r) / values[:, None]
    identified, covariance = _identified(jacobian, model.spread, noise)
    quantile = float(stats.t.ppf(0.5 + LEVEL / 2, free + ASSUMED_FREE))
    half = quantile * np.sqrt(np.diag(covariance))
    low, high = np.maximum(best - half, model.lower), np.minimum(best + half, model.upper)
    method = f"covariance; scatter per run from {free} more points than parameters and an assumed {NOISE:.0%}"
    if free >= size and not quick:
        again = _bootstrap(model, q_l, q_r, fitted, relative * values, best, seed)
        wide = quantile * np.std(again, axis=0)
        low, high = np.minimum(low, np.maximum(best - wide, model.lower)), np.maximum(high, np.minimum(best + wide, model.upper))
        method += ", or a bootstrap of the residuals where that is wider"
    left_out = _left_out(model, q_l, q_r, values, best, anchored) if distinct >= 3 and not quick else None
    total = float(np.sum((values - values.mean()) ** 2))
    spread_out = distinct > 1 and total > (0.001 * float(values.mean())) ** 2 * len(values)
    r_squared = 1.0 - float(np.sum((fitted - values) ** 2)) / total if spread_out else None
    error = float(np.sqrt(np.mean(relative**2)))
    widened = covariance * (quantile / float(stats.norm.ppf(0.5 + LEVEL / 2))) ** 2
    return Fit(best, low, high, tuple(bool(one) for one in identified), fitted, r_squared, error, left_out, widened, free, method)


def _told_alone(model: Model, q_l: Floats, q_r: Floats, distinct: int, size: int) -> bool:
    """Whether the points alone identify every parameter: enough of them, and not all on a line in the plane of lookups."""
    if distinct < size:
        return False
    plane = np.column_stack([np.ones_like(q_l), q_l, q_r])
    return bool(np.linalg.matrix_rank(plane) == 3)


def _solve(model: Model, q_l: Floats, q_r: Floats, values: Floats, starts: Sequence[Floats], anchored: bool, refine: bool = True) -> Floats:
    weight = 1.0 if anchored else 1e-3  # parameters identified by the data alone are left to them

    def residuals(parameters: Floats) -> Floats:
        data = (model.predict(parameters, q_l, q_r) / values - 1.0) / NOISE
        return np.concatenate([data, weight * (parameters - model.believed) / model.spread])

    prior = np.diag(weight / model.spread)

    def derivatives(parameters: Floats) -> Floats:
        return np.vstack([model.gradient(parameters, q_l, q_r) / values[:, None] / NOISE, prior])

    best, least = model.believed, np.inf
    for start in starts:
        inside = np.clip(start, model.lower + 1e-9, model.upper - 1e-9)
        found = optimize.least_squares(
            residuals, inside, derivatives, bounds=(model.lower, model.upper), loss="soft_l1", x_scale=model.spread, max_nfev=400
        )
        if found.cost < least - 1e-9:
            best, least = np.asarray(found.x, dtype=np.float64), float(found.cost)
    if refine and len(values) > len(model.names) and not anchored:
        # A failed run still has some influence; starting from the right minimum, a loss that ignores it is safe.
        inside = np.clip(best, model.lower + 1e-9, model.upper - 1e-9)
        bounds = (model.lower, model.upper)
        found = optimize.least_squares(residuals, inside, derivatives, bounds=bounds, loss="cauchy", x_scale=model.spread, max_nfev=400)
        best = np.asarray(found.x, dtype=np.float64)
    return best


def _identified(jacobian: Floats, spread: Floats, noise: float) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Which parameters the data identify, and their covariance; the others keep their prior variance."""
    scaled = jacobian * spread / noise
    information = scaled.T @ scaled
    believed = np.linalg.inv(information + np.eye(len(spread)))
    identified = 1.0 - np.diag(believed) >= IDENTIFIED_SHARE
    if all(identified) and np.linalg.matrix_rank(scaled) == len(spread):
        believed = np.linalg.pinv(information)
    return identified, believed * np.outer(spread, spread)


def _bootstrap(model: Model, q_l: Floats, q_r: Floats, fitted: Floats, residuals: Floats, start: Floats, seed: int) -> Floats:
    draw = np.random.default_rng(seed)
    shares = residuals / fitted
    again = []
    for _ in range(BOOTSTRAPS):
        sample = fitted * (1.0 + draw.choice(shares, len(shares)))
        again.append(_solve(model, q_l, q_r, np.maximum(sample, 1e-6), [start], anchored=False, refine=False))
    return np.array(again)


def _left_out(model: Model, q_l: Floats, q_r: Floats, values: Floats, start: Floats, anchored: bool) -> float:
    """Error at each (Q_l, Q_r) of a fit to the others."""
    where = np.column_stack([q_l, q_r])
    spots, of = np.unique(where, axis=0, return_inverse=True)
    errors: list[float] = []
    for turn in range(min(len(spots), MOST_LEFT_OUT)):
        out = of % MOST_LEFT_OUT == turn
        few = len(np.unique(where[~out], axis=0)) < len(model.names)
        found = _solve(model, q_l[~out], q_r[~out], values[~out], [model.believed, start], anchored or few)
        errors += list(model.predict(found, q_l[out], q_r[out]) / values[out] - 1.0)
    return float(np.sqrt(np.mean(np.square(errors))))
