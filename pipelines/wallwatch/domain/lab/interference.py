"""Which symptom may be why another does not show: one that stops the device, or was found to hide the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from wallwatch.domain.lab.metric_level import Level
from wallwatch.domain.lab.tester import Outcome


class Interference:
    """What tests so far say of symptoms that show together, and of what each leaves of the device."""

    def __init__(self) -> None:
        self.together: set[tuple[str, str]] = set()
        self.damage: dict[str, float] = defaultdict(float)
        """The share of the metrics that are missing or zero where a symptom shows: a device that stopped shows nothing else."""
        self.hiding: set[tuple[str, str]] = set()
        """Pairs of which the first was found to hide the second though the device goes on."""

    def note(self, outcome: Outcome, levels: Mapping[str, Level]) -> None:
        self.together.update((a, b) for a in outcome.symptoms for b in outcome.symptoms if a != b)
        if outcome.symptoms and levels:
            lost = sum(_is_lost(level, outcome.metrics.get(name)) for name, level in levels.items()) / len(levels)
            for one in outcome.symptoms:
                self.damage[one] = max(self.damage[one], lost)

    def counted(self, outcomes: Sequence[Outcome], symptom: str) -> tuple[int, int]:
        """In how many outcomes a symptom shows, and in how many it does not though nothing may hide it."""
        shown = sum(symptom in one.symptoms for one in outcomes)
        hidden = sum(symptom not in one.symptoms and self.may_hide(one, symptom) for one in outcomes)
        return shown, len(outcomes) - shown - hidden

    def may_hide(self, outcome: Outcome, symptom: str) -> bool:
        """Whether another symptom may be why this one does not show: it stops the device, and they have never been seen together."""
        return any(self.hides(one, symptom) for one in outcome.symptoms)

    def hides(self, other: str, symptom: str) -> bool:
        """Whether the other symptom may hide this one."""
        return (other, symptom) not in self.together and (self.damage[other] > self.damage[symptom] or (other, symptom) in self.hiding)


def _is_lost(level: Level, value: float | None) -> bool:
    return value is None or (value == 0 and level.median != 0)
