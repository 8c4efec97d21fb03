"""PSN over time of a direction, thinned so that memory stays bounded whatever the capture's length."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_POINTS = 4_000
MOST_MARKS = 2_000


@dataclass
class Series:
    """Points of a direction; each time that they become too many, every second is dropped and half as many are taken.

    >>> series = Series(most=4)
    >>> for psn in range(20):
    ...     series.add(psn * 10, psn)
    >>> series.stride, series.points
    (4, [(30, 3), (70, 7), (110, 11), (150, 15), (190, 19)])
    """

    most: int = MOST_POINTS
    stride: int = 1
    points: list[tuple[int, int]] = field(default_factory=list)
    nacks: list[tuple[int, int]] = field(default_factory=list)
    cnps: list[int] = field(default_factory=list)
    _seen: int = 0

    def add(self, time_ns: int, number: int) -> None:
        """A packet with the unwrapped PSN `number` was sent."""
        self._seen += 1
        if self._seen % self.stride:
            return
        self.points.append((time_ns, number))
        if len(self.points) >= 2 * self.most:
            del self.points[::2]
            self.stride *= 2

    def nack(self, time_ns: int, number: int) -> None:
        if len(self.nacks) < MOST_MARKS:
            self.nacks.append((time_ns, number))

    def cnp(self, time_ns: int) -> None:
        if len(self.cnps) < MOST_MARKS:
            self.cnps.append(time_ns)
