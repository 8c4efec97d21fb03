"""Where traffic is going: a trend of flows, packet size and matches, extrapolated by minutes.

Traffic grows by factors rather than by amounts, so the logarithm is extrapolated; matches, which may be 0, are extrapolated as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt

from wallwatch.domain.contention.card import Traffic

SMALLEST_PACKET, LARGEST_PACKET = 60.0, 9600.0


def slope(values: Sequence[float], errors: float) -> float:
    """Change per step by least squares; 0 where it differs from none by less than so many standard errors.

    >>> slope([0.0, 1.0, 2.0, 3.0], 4.0)
    1.0
    >>> slope([0.0, 1.0, 0.0, 1.0], 4.0)
    0.0
    """
    size = len(values)
    if size < 3:
        return 0.0
    middle, mean = (size - 1) / 2, sum(values) / size
    spread = sum((at - middle) ** 2 for at in range(size))
    found = sum((at - middle) * (value - mean) for at, value in enumerate(values)) / spread
    rest = sum((value - mean - found * (at - middle)) ** 2 for at, value in enumerate(values))
    error = sqrt(rest / (size - 2) / spread)
    return found if abs(found) > errors * error else 0.0


def trend(history: Sequence[Traffic], errors: float) -> tuple[float, float, float]:
    """Change per minute of log flows, log packet size and matches, from one value per minute."""
    return (
        slope([log(each.flows) for each in history], errors),
        slope([log(each.packet_bytes) for each in history], errors),
        slope([each.mtbr for each in history], errors),
    )


def ahead(now: Traffic, change: tuple[float, float, float], minutes: float) -> Traffic:
    """Traffic in some minutes, if it goes on like this.

    >>> ahead(Traffic(1000.0, 1518.0, 100.0), (0.01, 0.0, 2.0), 30.0).mtbr
    160.0
    """
    flows, size, matches = change
    return Traffic(
        max(now.flows * exp(flows * minutes), 1.0),
        min(max(now.packet_bytes * exp(size * minutes), SMALLEST_PACKET), LARGEST_PACKET),
        max(now.mtbr + matches * minutes, 0.0),
    )
