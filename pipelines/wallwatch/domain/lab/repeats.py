"""What repeated tests of one configuration of a flaky device say: Wald's sequential test."""

from __future__ import annotations

import math

LOG_ODDS_PER_TEST = math.log(0.8 / 0.2)
LOG_ODDS_ENOUGH = math.log(0.98 / 0.02)
"""A signal shows in at least 80% of the tests against at most 20%, both errors 0.02."""
LOG_ODDS_SURE = math.log(0.999 / 0.001)
"""... and where a verdict is a surprise, both errors 0.001: each surprise costs a revision."""


def wald_verdict(bad: int, good: int, surely: bool = False) -> tuple[bool, bool]:
    """The verdict on so many bad and good tests, and whether it is final.

    >>> wald_verdict(1, 0), wald_verdict(3, 0), wald_verdict(3, 0, surely=True)
    ((True, False), (True, True), (True, False))
    """
    odds = (bad - good) * LOG_ODDS_PER_TEST
    return odds > 0, abs(odds) >= (LOG_ODDS_SURE if surely else LOG_ODDS_ENOUGH)
