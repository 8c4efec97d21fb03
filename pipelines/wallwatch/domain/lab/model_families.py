"""Families of functions that an architecture model is chosen from: constant, linear, RBF (paper, equation 1), piecewise with a wall.

Inputs are arrays of shape (points, parameters), values of shape (points,), both in the units of the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy import optimize

from wallwatch.domain.performance.surface import bandwidth, bandwidth_gradient

Floats = npt.NDArray[np.float64]
FamilyName = Literal["constant", "linear", "rbf", "piecewise"]
MOST_CUTS = 24
"""Walls that are tried per parameter at first; then all next to the best of them."""
RIDGE = 1e-9
"""Keeps equations solvable where a parameter does not vary on one side of a wall; too small to matter elsewhere."""
START_EVALUATIONS = 60
AGAIN_EVALUATIONS = 10
"""Evaluations of the RBF's fit: the first one, and those that start from its result."""


@dataclass(frozen=True)
class Fitted:
    """A function of one family. `numbers` is what the family stores; `describe` in the family gives it names."""

    numbers: tuple[Floats, ...]


class Family(Protocol):
    """Fits and predicts."""

    @property
    def name(self) -> FamilyName: ...

    def fit(self, inputs: Floats, values: Floats, start: Fitted | None = None) -> Fitted | None:
        """The best function; None if there are too few points. `start` is the result for nearly the same points."""
        ...

    def predict(self, fitted: Fitted, inputs: Floats) -> Floats: ...

    def describe(self, fitted: Fitted, names: list[str]) -> dict[str, object]:
        """Coefficients as JSON."""
        ...


class Constant:
    name: FamilyName = "constant"

    def fit(self, inputs: Floats, values: Floats, start: Fitted | None = None) -> Fitted | None:
        return Fitted((np.array([values.mean()]),)) if len(values) else None

    def predict(self, fitted: Fitted, inputs: Floats) -> Floats:
        return np.full(len(inputs), fitted.numbers[0][0])

    def describe(self, fitted: Fitted, names: list[str]) -> dict[str, object]:
        return {"value": float(fitted.numbers[0][0])}


class Linear:
    """`intercept + sum of slope * parameter`."""

    name: FamilyName = "linear"

    def fit(self, inputs: Floats, values: Floats, start: Fitted | None = None) -> Fitted | None:
        if len(values) < inputs.shape[1] + 2:
            return None
        return Fitted((_least_squares(inputs, values),))

    def predict(self, fitted: Fitted, inputs: Floats) -> Floats:
        return _design(inputs) @ fitted.numbers[0]

    def describe(self, fitted: Fitted, names: list[str]) -> dict[str, object]:
        return _line_json(fitted.numbers[0], names)


class Piecewise:
    """One linear function below a wall and another from it on. The wall is a value of one parameter."""

    name: FamilyName = "piecewise"

    def fit(self, inputs: Floats, values: Floats, start: Fitted | None = None) -> Fitted | None:
        fewest = inputs.shape[1] + 2
        if len(values) < 2 * fewest:
            return None
        best, least = None, np.inf
        for column in range(inputs.shape[1]):
            found = _best_wall(inputs, values, column, fewest)
            if found is not None and found[0] < least:
                least, best = found[0], (column, found[1])
        if best is None:
            return None
        column, wall = best
        beyond = inputs[:, column] >= wall
        lines = [_least_squares(inputs[side], values[side]) for side in (~beyond, beyond)]
        return Fitted((np.array([column, wall]), *lines))

    def predict(self, fitted: Fitted, inputs: Floats) -> Floats:
        (column, wall), below, beyond = fitted.numbers
        design = _design(inputs)
        return np.where(inputs[:, int(column)] >= wall, design @ beyond, design @ below)

    def describe(self, fitted: Fitted, names: list[str]) -> dict[str, object]:
        (column, wall), below, beyond = fitted.numbers
        return {
            "wall": {"parameter": names[int(column)], "at": float(wall)},
            "below": _line_json(below, names),
            "beyond": _line_json(beyond, names),
        }


@dataclass(frozen=True)
class Rbf:
    """The paper's equation 1: `u * exp(-((x - m)^2 + (y - n)^2) / (2 v^2)) + w` of one or two parameters.

    Parameters of one unit share a scale, so that the surface is round in it, as the paper's is in lookups; `scales` holds the unit of
    length of each of the two parameters that `columns` names.
    """

    columns: tuple[int, ...]
    scales: tuple[float, ...]
    name: FamilyName = "rbf"

    def fit(self, inputs: Floats, values: Floats, start: Fitted | None = None) -> Fitted | None:
        if len(values) < 7:
            return None
        x, y = self._plane(inputs)
        least, most = float(values.min()), float(values.max())
        size = max(most - least, 1e-12)
        lower, upper = np.array([-20 * size, 0.02, -3.0, -3.0, least - 20 * size]), np.array([20 * size, 5.0, 3.0, 3.0, most + 20 * size])
        # A decline from the origin, as of masks, a steep one, and a rise.
        starts = [np.array([top, v, 0.0, 0.0, floor]) for top, v, floor in ((size, 0.5, least), (size, 0.15, least), (-size, 0.5, most))]
        if start is not None:
            starts = [start.numbers[0]]
        best, cost = None, np.inf
        for one in starts:
            found = optimize.least_squares(
                lambda p: bandwidth(p, x, y) - values,
                np.clip(one, lower + 1e-9, upper - 1e-9),
                lambda p: bandwidth_gradient(p, x, y),
                bounds=(lower, upper),
                x_scale=np.array([size, 1.0, 1.0, 1.0, size]),
                max_nfev=START_EVALUATIONS if start is None else AGAIN_EVALUATIONS,
            )
            if found.cost < cost:
                best, cost = np.asarray(found.x, dtype=np.float64), float(found.cost)
        return None if best is None else Fitted((best,))

    def predict(self, fitted: Fitted, inputs: Floats) -> Floats:
        return bandwidth(fitted.numbers[0], *self._plane(inputs))

    def describe(self, fitted: Fitted, names: list[str]) -> dict[str, object]:
        u, v, m, n, w = map(float, fitted.numbers[0])
        centre = dict(zip((names[i] for i in self.columns), (c * s for c, s in zip((m, n), self.scales, strict=False)), strict=True))
        width = {names[i]: v * scale for i, scale in zip(self.columns, self.scales, strict=True)}
        return {"u": u, "w": w, "centre": centre, "width": width}

    def _plane(self, inputs: Floats) -> tuple[Floats, Floats]:
        scaled = [inputs[:, i] / scale for i, scale in zip(self.columns, self.scales, strict=True)]
        return scaled[0], scaled[1] if len(scaled) > 1 else np.zeros(len(inputs))


def _design(inputs: Floats) -> Floats:
    return np.column_stack([np.ones(len(inputs)), inputs])


def _least_squares(inputs: Floats, values: Floats) -> Floats:
    """Intercept and slopes; of several solutions the smallest."""
    middle, scale = inputs.mean(axis=0), np.ptp(inputs, axis=0)
    scale[scale == 0] = np.inf  # no slope along what does not vary
    solution = np.linalg.lstsq(_design((inputs - middle) / scale), values, rcond=1e-10)[0]
    slopes = solution[1:] / scale
    return np.concatenate([[solution[0] - slopes @ middle], slopes])


def _best_wall(inputs: Floats, values: Floats, column: int, fewest: int) -> tuple[float, float] | None:
    """(sum of squared residuals, wall) of the best wall along one parameter, from running sums of the normal equations."""
    order = np.argsort(inputs[:, column], kind="stable")
    along = inputs[order, column]
    cuts = np.flatnonzero(np.diff(along) > 0) + 1
    cuts = cuts[(cuts >= fewest) & (cuts <= len(values) - fewest)]
    if not len(cuts):
        return None
    spread = np.ptp(inputs, axis=0)
    design = _design((inputs[order] - inputs.mean(axis=0)) / np.where(spread == 0, 1.0, spread))
    target = values[order] - values.mean()
    sums = np.cumsum(design[:, :, None] * design[:, None, :], axis=0), np.cumsum(design * target[:, None], axis=0)
    coarse = np.unique(np.linspace(0, len(cuts) - 1, MOST_CUTS).round().astype(int))
    i = int(np.argmin(_residuals(*sums, target, cuts[coarse])))
    near = cuts[coarse[max(i - 1, 0)] : coarse[min(i + 1, len(coarse) - 1)] + 1]
    residuals = _residuals(*sums, target, near)
    best = int(np.argmin(residuals))
    return float(residuals[best]), float(along[near[best]])


def _residuals(squares: Floats, products: Floats, target: Floats, cuts: npt.NDArray[np.intp]) -> Floats:
    """The sum of squared residuals of two lines, for each cut: the first line has the points before it."""
    residuals = np.full(len(cuts), float(target @ target))
    ridge = RIDGE * len(target) * np.eye(products.shape[1])
    before = squares[cuts - 1], products[cuts - 1]
    for left, right in (before, (squares[-1] - before[0], products[-1] - before[1])):
        solution = np.linalg.solve(left + ridge, right[:, :, None])[:, :, 0]
        residuals -= np.sum(solution * right, axis=1)
    return residuals


def _line_json(line: Floats, names: list[str]) -> dict[str, object]:
    return {"intercept": float(line[0]), "slopes": dict(zip(names, map(float, line[1:]), strict=True))}
