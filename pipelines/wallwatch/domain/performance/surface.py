"""Equation (1) over arrays, with its derivatives: what fits of bandwidth need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def bandwidth(p: Floats, q_l: Floats, q_r: Floats) -> Floats:
    """Equation (1), with the bracket around the sum that its printed form lacks."""
    u, v, m, n, w = p
    return np.asarray(u * np.exp(-((q_l - m) ** 2 + (q_r - n) ** 2) / (2.0 * v * v)) + w, dtype=np.float64)


def bandwidth_gradient(p: Floats, q_l: Floats, q_r: Floats) -> Floats:
    """Derivatives by u, v, m, n, w; shape (points, 5)."""
    u, v, m, n, _ = p
    left, right = q_l - m, q_r - n
    shape = np.exp(-(left**2 + right**2) / (2.0 * v * v))
    slope = u * shape / v**2
    return np.column_stack([shape, slope * (left**2 + right**2) / v, slope * left, slope * right, np.ones_like(shape)])
