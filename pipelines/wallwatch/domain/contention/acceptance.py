"""Whether a newly trained model may be used: it must predict well enough, and no worse than the one that it replaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wallwatch.domain.contention.function_model import FunctionModel
from wallwatch.domain.contention.gaussian_process import Array
from wallwatch.domain.contention.profile_columns import MEMORY_PROFILE

LARGEST_ERROR = 10.0
"""Percent. Measured throughput that leaves the prediction by this much is reported, so a model with such an error reports itself."""
TOLERANCE = 0.25
"""Percentage points by which the error may exceed that of the present model: a cross-validation repeats no better."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reasons` are sentences for people."""

    accepted: bool
    reasons: tuple[str, ...]


def judge(candidate: FunctionModel, rows: Array, present: FunctionModel | None) -> Verdict:
    """Compare a model's cross-validation on `rows`, its memory profile, with the present model's error on the same rows.

    The present model has not seen these rows either (unless they are its own), so both errors are of rows that were left out.
    """
    error = candidate.memory.cross_validation["mape"]
    if error > LARGEST_ERROR:
        reason = f"The mean error of rows that were left out is {error:.1f}%; at most {LARGEST_ERROR:g}% is of use: measure more rows."
        return Verdict(False, (reason,))
    said = f"The mean error of rows that were left out is {error:.1f}%."
    if present is None:
        return Verdict(True, (said,))
    earlier = mean_error(present, rows)
    comparison = f"The active model's error on the same rows is {earlier:.1f}%."
    if set(candidate.data.values()) == set(present.data.values()):
        return Verdict(True, (said, "The active model was trained on the same files."))
    if error > earlier + TOLERANCE:
        return Verdict(False, (said, comparison, "A model that predicts worse does not replace it."))
    return Verdict(True, (said, comparison))


def mean_error(model: FunctionModel, rows: Array) -> float:
    """Mean absolute error, in percent, of a model's prediction for rows of a memory profile: nobody else at the accelerator."""
    predicted = model.memory.predict(rows[:, : len(MEMORY_PROFILE) - 1])
    return float(100 * np.abs(predicted / rows[:, -1] - 1.0).mean())
