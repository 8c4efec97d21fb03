"""How well predictions meet measurements: the figures of Yala's tables 2 to 5."""

from __future__ import annotations

import numpy as np

from wallwatch.domain.contention.gaussian_process import Array


def accuracy(measured: Array, predicted: Array, low: Array, high: Array) -> dict[str, float | int]:
    """All but `n` in percent: mean absolute error, rows within 5% and 10%, rows inside of the 90% interval, and its mean width."""
    errors = np.abs(predicted / measured - 1.0)
    return {
        "mape": float(100 * errors.mean()),
        "within_5": float(100 * (errors <= 0.05).mean()),
        "within_10": float(100 * (errors <= 0.10).mean()),
        "coverage_90": float(100 * ((low <= measured) & (measured <= high)).mean()),
        "width_90": float(100 * ((high - low) / predicted).mean()),
        "n": len(measured),
    }
