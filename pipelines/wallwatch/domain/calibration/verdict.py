"""May a fit replace what it was compared with?"""

from __future__ import annotations

import math

from wallwatch.domain.calibration.least_squares import NOISE, Fit

TIE = 1.05
"""Errors within five per cent of each other are alike."""


def judge(found: Fit, distinct: int, current_error: float, current_goodness: float) -> tuple[bool, str]:
    """Whether it is at least as good, and a sentence why.

    Rejected are: points at one (Q_l, Q_r), which do not show the effect of lookups; a fit whose R squared is below the goodness of the
    current profile; a fit that meets the points, or those left out of it, worse than the current profile does.

    Parameters
    ----------
    distinct : int
        Different (Q_l, Q_r).
    current_error : float
        Root mean square of the relative residuals of the current profile at the same points.
    current_goodness : float
        R squared with which the current profile was fitted (GD in Table 3).
    """
    if distinct < 2 or found.r_squared is None:
        return (
            False,
            "all points have the same (Q_l, Q_r), or all values are equal: the effect of mask lookups is unknown. "
            "Measure with other mask counts too.",
        )
    if found.r_squared < current_goodness:
        return False, f"R squared is {found.r_squared:.3f}, below the goodness {current_goodness:.3f} of the current profile."
    if found.relative_error > max(current_error * TIE, NOISE):
        return False, f"its error is {found.relative_error:.1%}; the current profile's is {current_error:.1%} at the same points."
    # The root mean square of n errors scatters by 1 / sqrt(2 n) of itself: less than that apart, neither predicts worse.
    chance = 1.0 + 1.0 / math.sqrt(2.0 * len(found.fitted))
    if found.degrees_of_freedom > 0 and found.left_out_error is not None and found.left_out_error > max(current_error * chance, NOISE):
        return False, (
            f"its error at points left out of the fit is {found.left_out_error:.1%}, the current profile's is"
            f" {current_error:.1%}: it would predict worse."
        )
    return True, f"R squared {found.r_squared:.4f}; error {found.relative_error:.1%}, current profile {current_error:.1%}."
