"""Counters that contradict each other: one says that something happened, the other one, which must then move, stands still.

A pair (`catalogue/behaviours.yaml`, `contradictions`) names the counters; nothing here knows any of them. Its readings are kept in the
state of the RNIC, only as long as they can still contradict: two of them while the effect follows its cause. Pure and in event time.

The verdict has three values. A counter that is missing, stale or was reset says nothing, so the pair is unknown then, never in agreement.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from wallwatch.domain.catalogue.behaviour_models import Contradiction

Readings = list[list[int]]
"""`[[ms, cause, effect], ...]`, oldest first: since the effect last moved, at most over the pair's window."""

LIFESPANS = 2
"""A counter may be as old as the driver's `lifespan`: after twice that time it has certainly been read again."""


class Verdict(StrEnum):
    CONTRADICTS = "contradicts"
    AGREES = "agrees"
    UNKNOWN = "unknown"


class Judged(NamedTuple):
    verdict: Verdict
    unanswered: float | None
    """By how much the cause has grown while the effect stood still; 0 where it follows, None where it is unknown."""


UNKNOWN = Judged(Verdict.UNKNOWN, None)


def take(readings: Readings, pair: Contradiction, at_ms: int, cause: int, effect: int) -> None:
    """Add one reading of both counters, taken at the same time; `readings` moves on.

    A counter that went backwards was reset, and a gap longer than the window was not observed: both start from there.
    """
    if readings:
        last_ms, last_cause, last_effect = readings[-1]
        if at_ms <= last_ms:
            return  # out of order: readings go forward only
        if cause < last_cause or effect < last_effect or at_ms - last_ms > pair.window_s * 1000:
            readings.clear()
    readings.append([at_ms, cause, effect])
    while len(readings) > 2 and (_follows(readings, pair) or cause == readings[0][1] or readings[1][0] <= at_ms - pair.window_s * 1000):
        del readings[0]


def judge(readings: Readings, pair: Contradiction, at_ms: int, lifespan_ms: float = 0.0) -> Judged:
    """What the readings say at `at_ms`.

    Parameters
    ----------
    lifespan_ms : float
        How old a counter may be when it is read.

    Examples
    --------
    >>> from wallwatch.domain.catalogue.load import contradictions
    >>> pair, readings = contradictions()["unanswered_marks"], []
    >>> for second, marks, sent in ((0, 0, 5), (10, 400, 5), (20, 900, 5)):
    ...     take(readings, pair, second * 1000, marks, sent)
    >>> judge(readings, pair, 20_000)
    Judged(verdict=<Verdict.CONTRADICTS: 'contradicts'>, unanswered=900.0)
    >>> take(readings, pair, 30_000, 1300, 90)
    >>> judge(readings, pair, 30_000).verdict, judge(readings, pair, 200_000).verdict
    (<Verdict.AGREES: 'agrees'>, <Verdict.UNKNOWN: 'unknown'>)
    """
    window_ms = pair.window_s * 1000
    delay_ms = max(pair.delay_s * 1000.0, LIFESPANS * lifespan_ms)
    if len(readings) < 2 or at_ms - readings[-1][0] > window_ms or delay_ms >= window_ms:
        return UNKNOWN
    if _follows(readings, pair) or readings[-1][1] == readings[0][1]:
        return Judged(Verdict.AGREES, 0.0)
    answerable = [cause for time_ms, cause, _ in readings if time_ms <= readings[-1][0] - delay_ms]
    if not answerable:
        return UNKNOWN
    unanswered = float(answerable[-1] - readings[0][1])
    return Judged(Verdict.CONTRADICTS if unanswered > 0.0 else Verdict.AGREES, unanswered)


def _follows(readings: Readings, pair: Contradiction) -> bool:
    """Whether the effect has moved by more than the tolerance allows."""
    grown = readings[-1][2] - readings[0][2]
    return grown > pair.tolerance * (readings[-1][1] - readings[0][1])
