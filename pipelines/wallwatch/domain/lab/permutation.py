"""The paper's test of one parameter: does the signal follow it in pairs of tests with all others at random? (section 4.1)"""

from __future__ import annotations

import math

FOLLOWS = math.log(0.95 / 0.5)
DOES_NOT = math.log(0.05 / 0.5)
ENOUGH = math.log(0.99 / 0.01)
"""Wald's test: p >= 0.95 (the paper's 95%) against p <= 0.5, both errors 0.01; eight pairs that all hold suffice."""


def log_odds(pairs: int, held: int) -> float:
    """How much so many pairs, of which so many held, speak for the parameter: above `ENOUGH` it matters, below the negative it does not."""
    return held * FOLLOWS + (pairs - held) * DOES_NOT
