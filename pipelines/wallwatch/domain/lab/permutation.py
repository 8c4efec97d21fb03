"""The paper's test of one parameter: does the signal follow it in pairs of tests with all others at random? (section 4.1)"""

from __future__ import annotations

import math
from dataclasses import dataclass

FOLLOWS = math.log(0.95 / 0.5)
DOES_NOT = math.log(0.05 / 0.5)
ENOUGH = math.log(0.99 / 0.01)
"""Wald's test: p >= 0.95 (the paper's 95%) against p <= 0.5, both errors 0.01; eight pairs that all hold suffice."""


def log_odds(pairs: int, held: int) -> float:
    """How strongly the pairs speak for the parameter: from `ENOUGH` on it matters, from `-ENOUGH` down it does not."""
    return held * FOLLOWS + (pairs - held) * DOES_NOT


@dataclass
class Trial:
    """Pairs of tests of one condition."""

    pairs: int = 0
    held: int = 0

    @property
    def odds(self) -> float:
        return log_odds(self.pairs, self.held)

    def add(self, follows: bool) -> None:
        self.pairs += 1
        self.held += follows
