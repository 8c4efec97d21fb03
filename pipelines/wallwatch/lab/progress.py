"""How far a campaign is, and how much is left: a range, because nobody knows how many causes a device still hides."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wallwatch.domain.lab.device import Parameter

BASELINE_TESTS = 5
TESTS_FOR_A_CAUSE = (25, 120)
"""Minimising, thresholds, permutation and verification of one cause: few for one condition, many for four or for a flaky one."""
DISCOVERY = ("baseline", "discover", "control")


@dataclass(frozen=True)
class Progress:
    """After an operation. `remaining` is (low, high) in operations, None when it cannot be estimated (strategies that do not adapt)."""

    operations: int
    resets: int
    retries: int
    from_journal: int
    """Of the operations: answered from the journal of an earlier session."""
    phase: str
    phases: dict[str, int]
    seconds: float
    budget: int | None
    remaining: tuple[int, int] | None

    @property
    def seconds_per_operation(self) -> float:
        return self.seconds / self.operations if self.operations else 0.0


@dataclass
class Estimate:
    """Estimates the operations left of an adaptive search.

    Discovery without a fault is a covering array of strength t: about `v**t * log2(p) / 2` rows for `p` parameters of `v` levels, and at
    least half of that (on planted devices of 9 to 20 parameters 60 to 110 % of it). Each cause adds between `TESTS_FOR_A_CAUSE`, corrected
    by what the causes so far have cost; the high end allows for one more cause than the low end.
    """

    parameters: Sequence[Parameter]
    """Those that vary."""
    strength: int = 3
    causes_begun: int = 0
    spent: Counter[str] = field(default_factory=Counter)
    _was_discovery: bool = True

    def count(self, phase: str) -> None:
        """One operation of this phase was done."""
        self.spent[phase] += 1
        is_discovery = phase in DISCOVERY
        if self._was_discovery and not is_discovery:
            self.causes_begun += 1
        self._was_discovery = is_discovery

    def remaining(self, budget: int | None) -> tuple[int, int]:
        """Low and high number of operations left, never above what the budget leaves."""
        done = sum(self.spent.values())
        in_discovery = sum(self.spent[phase] for phase in DISCOVERY)
        on_causes = done - in_discovery
        rows_high = self._rows(self.strength)
        rows_low = max(self._rows(min(2, self.strength)), rows_high // 2)
        least, most = TESTS_FOR_A_CAUSE
        if self.causes_begun > 1 or (self.causes_begun and self._was_discovery):
            each = on_causes / self.causes_begun
            least, most = round(min(least, each)), round(max(most, each))
        low = max(rows_low + BASELINE_TESTS - in_discovery, 0)
        if not self._was_discovery:
            low += least // 2
        high = max(rows_high + BASELINE_TESTS - in_discovery, low) + most
        if budget is not None:
            low, high = min(low, budget - done), min(high, budget - done)
        return max(low, 0), max(high, 0)

    def _rows(self, strength: int) -> int:
        levels = sorted((_levels(one) for one in self.parameters), reverse=True)
        strength = min(strength, len(levels))
        if strength < 1:
            return 1
        return round(math.prod(levels[:strength]) * max(1.0, math.log2(max(len(levels), 2)) / 2))


def _levels(parameter: Parameter) -> int:
    return min(parameter.brute_force_levels, 5)
