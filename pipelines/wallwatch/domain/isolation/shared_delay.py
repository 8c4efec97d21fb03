"""Whether VFs are slow together: more of them at the same time than single blips of guests and of the fabric explain."""

from __future__ import annotations

from math import comb

USUAL_BLIPS = 0.02
"""Assumed part of VF-seconds with a delay above the promise for reasons of their own, before anything is learnt."""

FEWEST_BLIPS = 0.005
MOST_BLIPS = 0.3
WEIGHT = 0.01
"""Weight of one interval in the learnt part: it follows some 100 intervals."""

LIKELY = 1e-3
"""Chance below which slow VFs count as shared when something else of this second shows who blocks them."""

CERTAIN = 1e-6
"""Chance below which they count as shared by themselves: one such coincidence in 11 days of seconds."""


class BlipRate:
    """How often a VF is slow on its own on this RNIC."""

    __slots__ = ("rate",)

    def __init__(self) -> None:
        self.rate = USUAL_BLIPS

    def learn(self, slow: int, measured: int) -> None:
        """Take an interval in which nothing was broken."""
        if measured:
            self.rate = min(max(self.rate + WEIGHT * (slow / measured - self.rate), FEWEST_BLIPS), MOST_BLIPS)

    def chance(self, slow: int, measured: int) -> float:
        """Probability that at least `slow` of `measured` VFs are slow by themselves in the same interval.

        >>> rate = BlipRate()
        >>> rate.chance(0, 7), round(rate.chance(3, 7), 6)
        (1.0, 0.000264)
        """
        if slow <= 0:
            return 1.0
        p = self.rate
        return sum(comb(measured, k) * p**k * (1 - p) ** (measured - k) for k in range(slow, measured + 1))
