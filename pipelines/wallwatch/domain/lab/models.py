"""The architecture model of a device: how each metric depends on the parameters that causes kept (paper, section 4.1, last paragraph).

Of the families in `model_families.py` the one counts that predicts points best that it was not fitted to. Fits cost no test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wallwatch.domain.lab.conditions import Cause
from wallwatch.domain.lab.device import Config, Device, as_integer
from wallwatch.domain.lab.model_families import Constant, Family, Fitted, Floats, Linear, Piecewise, Rbf

Test = tuple[Config, Mapping[str, float]]
"""A configuration and what it gave of each metric."""
MOST_POINTS = 300
MOST_PARAMETERS = 6
MOST_CAUSES = 4
"""Bounds on the work, so that it stays far below the time of the tests themselves."""
FEWEST_POINTS = 8
TURNS = 12
"""Each point is left out once; with more points than this, several at a time."""
WORTH_IT = 0.95
"""A family with more coefficients must leave at most this share of a simpler one's error on points left out."""
NEGLIGIBLE = 1e-6
"""Errors below this share of the variation count as none."""


@dataclass(frozen=True)
class _Choice:
    family: Family
    fitted: Fitted
    goodness: float
    left_out: float


def fit_models(device: Device, tests: Sequence[Test], causes: Sequence[Cause]) -> list[dict[str, Any]]:
    """The best model of each metric that varies, in the form of the report (`models`).

    Parameters
    ----------
    device : Device
    tests : sequence of (configuration, metrics)
        Tests that pass, or fail without hiding what the device does; evenly thinned to `MOST_POINTS`.
    causes : sequence of Cause
        Their integers are the model's parameters. A cause of several conditions adds an input "cause N", 1 where it holds and else 0, so
        that a decline that needs all of them is a wall too.

    Returns
    -------
    list of dict
        `goodness` is 1 - SSE/SST over the points, `leave_one_out` the same for points that were left out of the fit. Empty without causes
        that have an integer, and without points enough.
    """
    kept = [name for cause in causes for name in sorted(cause.parameters) if device.by_name[name].kind == "integer"]
    parameters = list(dict.fromkeys(kept))[:MOST_PARAMETERS]
    if not parameters:
        return []
    joint = [(f"cause {i + 1}", cause) for i, cause in enumerate(causes) if len(cause.conditions) > 1][:MOST_CAUSES]
    found = []
    for metric in device.metric:
        measured = _thinned([(config, metrics[metric]) for config, metrics in tests if metric in metrics])
        values = np.array([value for _, value in measured], dtype=np.float64)
        if len(values) < FEWEST_POINTS or not np.isfinite(values).all() or np.ptp(values) <= 1e-9 * np.abs(values).max():
            continue
        inputs = _inputs([config for config, _ in measured], parameters, [cause for _, cause in joint])
        families: list[Family] = [Constant(), Linear(), _rbf(device, parameters, inputs, values), Piecewise()]
        best = _best(families, inputs, values)
        names = [*parameters, *(name for name, _ in joint)]
        found.append(
            {
                "metric": metric,
                "family": best.family.name,
                "parameters": parameters,
                "goodness": round(best.goodness, 4),
                "leave_one_out": round(best.left_out, 4),
                "coefficients": best.family.describe(best.fitted, names),
            }
        )
    return found


def _thinned(measured: list[tuple[Config, float]]) -> list[tuple[Config, float]]:
    if len(measured) <= MOST_POINTS:
        return measured
    return [measured[i] for i in np.linspace(0, len(measured) - 1, MOST_POINTS).round().astype(int)]


def _inputs(configs: Sequence[Config], parameters: Sequence[str], causes: Sequence[Cause]) -> Floats:
    """Shape (configurations, parameters + causes)."""
    rows = [[*(as_integer(one[name]) for name in parameters), *(cause.holds(one) for cause in causes)] for one in configs]
    return np.array(rows, dtype=np.float64)


def _rbf(device: Device, parameters: Sequence[str], inputs: Floats, values: Floats) -> Rbf:
    """Of the two parameters that go along with the metric most. Parameters of one unit share the larger scale."""
    strength = [_correlation(inputs[:, i], values) for i in range(len(parameters))]
    columns = sorted(sorted(range(len(parameters)), key=lambda i: -strength[i])[:2])
    spans = {i: float(np.ptp(inputs[:, i])) or 1.0 for i in columns}
    units = {i: device.by_name[parameters[i]].unit or str(i) for i in columns}
    return Rbf(tuple(columns), tuple(max(spans[j] for j in columns if units[j] == units[i]) for i in columns))


def _correlation(along: Floats, values: Floats) -> float:
    if np.ptp(along) == 0:
        return 0.0
    return abs(float(np.corrcoef(along, values)[0, 1]))


def _best(families: Sequence[Family], inputs: Floats, values: Floats) -> _Choice:
    """The simplest family that no later one predicts clearly better than; families are in the order of their simplicity."""
    total = float(np.sum((values - values.mean()) ** 2))
    best: _Choice | None = None
    for family in families:
        fitted = family.fit(inputs, values)
        if fitted is None:
            continue
        within = float(np.sum((family.predict(fitted, inputs) - values) ** 2))
        to_beat = np.inf if best is None else WORTH_IT * (1 - best.left_out) * total - NEGLIGIBLE * total
        if within >= to_beat:  # points left out are predicted no better than those of the fit itself
            continue
        error = _left_out_error(family, fitted, inputs, values)
        if error is not None and error < to_beat:
            best = _Choice(family, fitted, 1 - within / total, 1 - error / total)
    if best is None:
        raise ValueError("no family could be fitted: there are no points")
    return best


def _left_out_error(family: Family, fitted: Fitted, inputs: Floats, values: Floats) -> float | None:
    """Sum of squared errors at points that were left out of the fit; None where too few remain to fit."""
    turns = min(TURNS, len(values))
    turn_of = np.arange(len(values)) % turns
    error = 0.0
    for turn in range(turns):
        out = turn_of == turn
        refitted = family.fit(inputs[~out], values[~out], fitted)
        if refitted is None:
            return None
        error += float(np.sum((family.predict(refitted, inputs[out]) - values[out]) ** 2))
    return error
