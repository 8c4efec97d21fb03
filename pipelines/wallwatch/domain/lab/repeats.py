"""What repeated tests of one configuration of a flaky device say: Wald's sequential test, and what a matter of chance is."""

from __future__ import annotations

import math

LOG_ODDS_PER_TEST = math.log(0.8 / 0.2)
LOG_ODDS_ENOUGH = math.log(0.98 / 0.02)
"""A signal shows in at least 80% of the tests against at most 20%, both errors 0.02."""
LOG_ODDS_SURE = math.log(0.999 / 0.001)
"""... and where a verdict is a surprise, both errors 0.001: each surprise costs a revision."""


EVEN_TESTS = (12, 24)
EVEN = ((0.3, 0.65), (0.35, 0.6))
"""After so many tests a symptom that comes by chance shows in such a share of them; a flaky one shows in 80% or more, or hardly ever."""
SHOWN = 2
CHANCE_TESTS = 12
CHANCE_TESTS_SURE = 20
"""A symptom that comes by chance can show where it does so twice in so many tests: a chance of 0.3 or more is then seen in 91% (99%)."""
RARE = 0.3
"""What shows in a smaller share of the tests is rare: once the cause of a symptom that comes by chance is known, it is not pursued."""
TESTS_PER_VERDICT = {"once": 1, "flaky": 3, "by chance": 8}
"""About how many tests a verdict takes."""


def looks_even(shown: int, missing: int) -> bool | None:
    """Whether a symptom comes as if by chance that shows in so many tests and is missing in so many; None for too few tests.

    >>> looks_even(7, 5), looks_even(10, 2), looks_even(12, 12)
    (None, False, True)
    """
    tests = shown + missing
    for (low, high), number in zip(EVEN, EVEN_TESTS, strict=True):
        if tests >= number and not low <= shown / tests <= high:
            return False
    return True if tests >= EVEN_TESTS[-1] else None


def chance_verdict(shown: int, missing: int, surely: bool = False) -> tuple[bool, bool]:
    """Whether a symptom that comes by chance can show, and whether that is final.

    >>> chance_verdict(1, 3), chance_verdict(2, 3), chance_verdict(1, 11)
    ((False, False), (True, True), (False, True))
    """
    return shown >= SHOWN, shown >= SHOWN or shown + missing >= (CHANCE_TESTS_SURE if surely else CHANCE_TESTS)


def wald_verdict(bad: int, good: int, surely: bool = False) -> tuple[bool, bool]:
    """The verdict on so many bad and good tests, and whether it is final.

    >>> wald_verdict(1, 0), wald_verdict(3, 0), wald_verdict(3, 0, surely=True)
    ((True, False), (True, True), (True, False))
    """
    odds = (bad - good) * LOG_ODDS_PER_TEST
    return odds > 0, abs(odds) >= (LOG_ODDS_SURE if surely else LOG_ODDS_ENOUGH)
