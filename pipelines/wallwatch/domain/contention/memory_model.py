"""Throughput of a function whose memory accesses compete with others' (Yala, sections 4.1.2 and 5.1.2), learnt from few rows.

Two stages, because profiles are small. Gradient boosting learns from the rows at one number of flows how much the competitors'
counters cost (their *pressure*), falling with their working set. A Gaussian process then learns throughput against flows and pressure
from all rows. One ensemble over all columns (the paper's way) has to learn the pressure again at each number of flows, and its error on
rows that were left out is half as large again or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from wallwatch.domain.contention import packet_size
from wallwatch.domain.contention.gaussian_process import Array, GaussianProcess
from wallwatch.domain.contention.packet_size import PacketSize

# Columns of a row, as in the profiles' files.
FLOWS, PACKET_BYTES, IPC, INSTRUCTIONS, L2_READS, L2_WRITES, MEMORY_READS, MEMORY_WRITES, WORKING_SET, THROUGHPUT = range(10)
_PRESSURE_COLUMNS = (IPC, L2_READS, MEMORY_READS, WORKING_SET)
"""The other counters are nearly proportional to one of these."""
_FALLS_WITH = (0, 0, 0, -1)
_TREES = 300
_PRESSURE_SCALE = 5.0
"""Brings pressures, logarithms of 0 to 0.3, to the order of 1."""
FOLDS, REPEATS = 10, 3


@dataclass(frozen=True, slots=True)
class MemoryModel:
    """A trained model of one function on one card."""

    booster: lightgbm.Booster
    highest: float
    """Logarithm of throughput without pressure, at the reference number of flows."""
    process: GaussianProcess
    residuals: Array
    """Of the cross-validation: logarithms, measured - predicted, in deviations; shape (rows x repeats,)."""
    cross_validation: Mapping[str, float]
    size: PacketSize = packet_size.NO_EFFECT

    def predict(self, rows: Array) -> Array:
        """Throughput for rows of flows, packet size and the competitors' seven counters; shape (rows,)."""
        at_smallest = np.exp(self.process.predict(rows[:, FLOWS], self.pressure(rows)))
        return self.size.slowed(at_smallest, rows[:, PACKET_BYTES])

    def half_width(self, rows: Array, confidence: float = 0.9) -> Array:
        """Conformal half width of the interval around the logarithm of the prediction, shape (rows,).

        Residuals of rows that were left out, in deviations of the process, give the quantile; its finite-sample correction is that of split
        conformal prediction, for the number of distinct rows.
        """
        return np.asarray(self._quantile(confidence) * self.process.deviation(rows[:, FLOWS], self.pressure(rows)))

    def noise_half_width(self, confidence: float = 0.9) -> float:
        """Half width of the interval that measurement noise alone causes."""
        return self._quantile(confidence) * float(np.exp(self.process.log_scales[-1]))

    def _quantile(self, confidence: float) -> float:
        size = max(len(self.residuals) // REPEATS, 1)
        level = min(np.ceil((size + 1) * confidence) / size, 1.0)
        return float(np.quantile(np.abs(self.residuals), level))

    def pressure(self, rows: Array) -> Array:
        """What the competitors cost at the reference number of flows, scaled; 0 without competitors."""
        return _pressure(self.booster, self.highest, rows)

    def as_json(self) -> dict[str, Any]:
        return {
            "booster": self.booster.model_to_string(),
            "highest": self.highest,
            "process": self.process.as_json(),
            "residuals": self.residuals.tolist(),
            "cross_validation": dict(self.cross_validation),
            "size": self.size.as_json(),
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> MemoryModel:
        booster = lightgbm.Booster(model_str=body["booster"])
        process = GaussianProcess.from_json(body["process"])
        residuals, size = np.array(body["residuals"], dtype=float), PacketSize.from_json(body.get("size"))
        return cls(booster, float(body["highest"]), process, residuals, dict(body["cross_validation"]), size)


def train(rows: Array, reference: Array | None = None, seed: int = 0) -> MemoryModel:
    """Train on rows of ten columns: flows, packet size, seven counters of the competitors, throughput.

    Parameters
    ----------
    rows : array (rows, 10)
        With various numbers of flows.
    reference : array (rows, 10), optional
        At one number of flows. Without it, the rows' own trend with flows is removed first.
    """
    size = packet_size.learn(rows)
    rows = size.removed(rows)
    reference = None if reference is None else size.removed(reference)
    lessons = _lessons(rows, reference)
    booster, highest = _learn_pressure(*lessons, seed)
    flows, pressure, throughput = rows[:, FLOWS], _pressure(booster, highest, rows), rows[:, THROUGHPUT]
    process = GaussianProcess.fit(flows, pressure, throughput)
    residuals, errors = _left_out(rows, None if reference is not None else lessons[1], process, (booster, highest), size, seed)
    figures = {
        "mape": float(100 * errors.mean()),
        "within_5": float(100 * (errors <= 0.05).mean()),
        "within_10": float(100 * (errors <= 0.10).mean()),
        "rows": float(len(rows)),
    }
    return MemoryModel(booster, highest, process, residuals, figures, size)


def _left_out(
    rows: Array,
    detrended: Array | None,
    process: GaussianProcess,
    learnt: tuple[lightgbm.Booster, float],
    size: PacketSize,
    seed: int,
) -> tuple[Array, Array]:
    """Residuals in deviations, and relative errors, of rows that were left out; shapes (rows x repeats,).

    The scales and the trend (`detrended`, where there is no reference) are those of all rows; everything else is learnt from the rows kept.
    """
    residuals, errors = [], []
    for repeat in range(REPEATS):
        order = np.random.default_rng((seed, repeat)).permutation(len(rows))
        for fold in np.array_split(order, min(FOLDS, len(rows))):
            kept, held = np.delete(rows, fold, axis=0), rows[fold]
            booster, highest = learnt if detrended is None else _learn_pressure(kept, np.delete(detrended, fold), seed)
            pressure, held_pressure = _pressure(booster, highest, kept), _pressure(booster, highest, held)
            targets = np.log(kept[:, THROUGHPUT])
            part = GaussianProcess.conditioned(process.steps, process.log_scales, kept[:, FLOWS], pressure, targets)
            logarithm = part.predict(held[:, FLOWS], held_pressure)
            residuals.append((np.log(held[:, THROUGHPUT]) - logarithm) / part.deviation(held[:, FLOWS], held_pressure))
            predicted, measured = (size.slowed(rate, held[:, PACKET_BYTES]) for rate in (np.exp(logarithm), held[:, THROUGHPUT]))
            errors.append(np.abs(predicted / measured - 1.0))
    return np.concatenate(residuals), np.concatenate(errors)


def _lessons(rows: Array, reference: Array | None) -> tuple[Array, Array]:
    """Rows and logarithms from which the pressure is learnt."""
    if reference is not None:
        return reference, np.log(reference[:, THROUGHPUT])
    none = np.zeros(len(rows))
    trend = GaussianProcess.fit(rows[:, FLOWS], none, rows[:, THROUGHPUT])
    return rows, np.log(rows[:, THROUGHPUT]) - trend.predict(rows[:, FLOWS], none)


def _learn_pressure(counters: Array, targets: Array, seed: int) -> tuple[lightgbm.Booster, float]:
    parameters = {
        "objective": "regression",
        "learning_rate": 0.05,
        "num_leaves": 4,
        "min_data_in_leaf": 3,
        "min_data_in_bin": 1,
        "lambda_l2": 0.1,
        "monotone_constraints": list(_FALLS_WITH),
        "seed": seed,
        "deterministic": True,
        "num_threads": 1,
        "verbose": -1,
    }
    data = lightgbm.Dataset(counters[:, _PRESSURE_COLUMNS], targets)
    return lightgbm.train(parameters, data, _TREES), float(targets.max())


def _pressure(booster: lightgbm.Booster, highest: float, rows: Array) -> Array:
    predicted = np.asarray(booster.predict(rows[:, _PRESSURE_COLUMNS], num_threads=1), dtype=float)
    idle = ~rows[:, IPC : WORKING_SET + 1].any(axis=1)
    return np.asarray(_PRESSURE_SCALE * np.where(idle, 0.0, np.maximum(highest - predicted, 0.0)))
