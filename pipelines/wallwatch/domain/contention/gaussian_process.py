"""Regression on few rows: a Gaussian process for the logarithm of throughput against traffic and pressure.

Fifty rows are too few for trees alone: they draw steps between the rows. Two facts are put into the covariance instead.
Solo throughput is a smooth curve of the number of flows, except where a table doubles (a power of two).
The same pressure costs about the same share of it at every number of flows, with a slow change.
See Rasmussen and Williams, Gaussian Processes for Machine Learning, chapters 2 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

Array = npt.NDArray[np.float64]

_START = np.log([0.2, 2.0, 1.0, 1.0, 0.5, 3.0, 0.01])
"""Curve (size, length in log flows, jump length), pressure (size of the common slope, of its change, length), noise."""
_PRIOR_WIDTH = np.array([1.0, 0.7, 1.0, 0.5, 1.0, 0.7, 0.7])
"""Of each logarithm: fifty rows must not talk the curve into following their noise."""
STEP_GAIN = 3.0
"""A step is kept when it improves the logarithm of the posterior by this much (a factor of 20)."""
_MOST_STEPS = 3


@dataclass(frozen=True, slots=True)
class GaussianProcess:
    """A fitted process. `steps` are numbers of flows from which on the curve may jump: a table with as many places is full."""

    steps: tuple[float, ...]
    log_scales: Array
    mean: float
    flows: Array
    pressure: Array
    weights: Array
    """Inverse covariance times residuals, shape (rows,)."""
    targets: Array

    @classmethod
    def fit(cls, flows: Array, pressure: Array, throughput: Array) -> GaussianProcess:
        """Fit to rows: flows > 0, pressure (0 without competitors, else what is lost), throughput > 0; shapes (rows,)."""
        targets = np.log(throughput)
        steps: tuple[float, ...] = ()
        value, scales = _fitted(steps, flows, pressure, targets, _START)
        while len(steps) < _MOST_STEPS:
            trials = [(*steps, step) for step in _candidates(flows) if step not in steps]
            scored = [(_posterior(scales, trial, flows, pressure, targets), trial) for trial in trials]
            if not scored:
                break
            trial = min(scored)[1]
            better, new_scales = _fitted(trial, flows, pressure, targets, scales)
            if value - better < STEP_GAIN:
                break
            value, steps, scales = better, trial, new_scales
        return cls.conditioned(steps, scales, flows, pressure, targets)

    @classmethod
    def conditioned(cls, steps: Sequence[float], scales: Array, flows: Array, pressure: Array, targets: Array) -> GaussianProcess:
        """The process with known scales, given rows: also used for the folds of a cross-validation."""
        mean = float(targets.mean())
        covariance = _covariance(scales, steps, flows, pressure, flows, pressure) + _noise(scales, len(flows))
        weights = cho_solve(cho_factor(covariance, lower=True), targets - mean)
        return cls(tuple(steps), scales, mean, flows, pressure, weights, targets)

    def predict(self, flows: Array, pressure: Array) -> Array:
        """Logarithm of throughput, shape (rows,)."""
        cross = _covariance(self.log_scales, self.steps, flows, pressure, self.flows, self.pressure)
        return np.asarray(self.mean + cross @ self.weights)

    def line(self, flows: Array) -> tuple[Array, Array]:
        """Logarithm of throughput as a line in the pressure: its value without any, and its slope; shapes (flows,)."""
        none, one = np.zeros(len(flows)), np.ones(len(flows))
        level = self.predict(flows, none)
        return level, self.predict(flows, one) - level

    def deviation(self, flows: Array, pressure: Array) -> Array:
        """Standard deviation of the logarithm, noise included, shape (rows,)."""
        covariance = _covariance(self.log_scales, self.steps, self.flows, self.pressure, self.flows, self.pressure)
        factor = cho_factor(covariance + _noise(self.log_scales, len(self.flows)), lower=True)
        cross = _covariance(self.log_scales, self.steps, flows, pressure, self.flows, self.pressure)
        curve, _, _, common, change, _, noise = np.exp(self.log_scales)
        prior = curve**2 + (common**2 + change**2) * pressure**2 + noise**2
        explained = np.einsum("ij,ji->i", cross, cho_solve(factor, cross.T))
        return np.asarray(np.sqrt(np.maximum(prior - explained, noise**2)))

    def as_json(self) -> dict[str, Any]:
        arrays = {"log_scales": self.log_scales, "flows": self.flows, "pressure": self.pressure, "targets": self.targets}
        return {"steps": list(self.steps)} | {name: array.tolist() for name, array in arrays.items()}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> GaussianProcess:
        scales, flows, pressure, targets = (np.array(body[name], dtype=float) for name in ("log_scales", "flows", "pressure", "targets"))
        return cls.conditioned([float(step) for step in body["steps"]], scales, flows, pressure, targets)


def surprise(flows: Array, throughput: Array) -> float:
    """Negative logarithm of the probability of rows without pressure, at the scales that are usual."""
    return _posterior(_START, (), flows, np.zeros(len(flows)), np.log(throughput))


def _candidates(flows: Array) -> list[float]:
    """Powers of two with at least three rows on either side."""
    powers = 2.0 ** np.arange(4, 31)
    return [float(power) for power in powers if 3 <= int((flows >= power).sum()) <= len(flows) - 3]


def _matern(distance: Array) -> Array:
    scaled = np.sqrt(3.0) * distance
    return np.asarray((1.0 + scaled) * np.exp(-scaled))


def _covariance(scales: Array, steps: Sequence[float], flows: Array, pressure: Array, others: Array, other_pressure: Array) -> Array:
    curve, length, jump, common, change, change_length, _ = np.exp(scales)
    apart = np.abs(np.log(flows)[:, None] - np.log(others)[None, :])
    jumps = sum((((flows >= step)[:, None] != (others >= step)[None, :]) * 1.0 for step in steps), np.zeros_like(apart))
    smooth = curve**2 * _matern(np.sqrt((apart / length) ** 2 + (jumps / jump) ** 2))
    slope = common**2 + change**2 * _matern(np.sqrt((apart / change_length) ** 2 + (jumps / jump) ** 2))
    return np.asarray(smooth + np.outer(pressure, other_pressure) * slope)


def _noise(scales: Array, size: int) -> Array:
    return np.asarray(np.eye(size) * np.exp(scales[-1]) ** 2)


def _posterior(scales: Array, steps: Sequence[float], flows: Array, pressure: Array, targets: Array) -> float:
    """Negative logarithm of the posterior of the scales."""
    residuals = targets - targets.mean()
    try:
        factor = cho_factor(_covariance(scales, steps, flows, pressure, flows, pressure) + _noise(scales, len(flows)), lower=True)
    except np.linalg.LinAlgError:
        return 1e9
    fit = 0.5 * residuals @ cho_solve(factor, residuals) + np.log(np.diag(factor[0])).sum()
    return float(fit + 0.5 * (((scales - _START) / _PRIOR_WIDTH) ** 2).sum())


def _fitted(steps: Sequence[float], flows: Array, pressure: Array, targets: Array, start: Array) -> tuple[float, Array]:
    found = minimize(_posterior, start, args=(steps, flows, pressure, targets), method="L-BFGS-B", bounds=[(s - 4, s + 4) for s in _START])
    return float(found.fun), np.asarray(found.x)
