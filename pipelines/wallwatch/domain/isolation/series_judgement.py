"""A whole series through the detector: which seconds broke, which are unknown, and the seconds of each VF."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from wallwatch.domain.isolation.csv_rows import BadSeries
from wallwatch.domain.isolation.detector import Detector
from wallwatch.domain.isolation.readings import Reading
from wallwatch.domain.isolation.reporting import Tally
from wallwatch.domain.isolation.slo import SloFile
from wallwatch.domain.isolation.verdicts import Verdict

GAP = 1.5
"""An interval this many times the usual one has missing readings in it."""

LONGEST_GAP_S = 31 * 86_400.0
"""A longer gap is no gap of one series, and its seconds are not worth listing."""

INTERVALS = 31
"""Intervals whose median is the usual one."""


@dataclass(slots=True)
class Judgement:
    """What a series says."""

    broken: list[Verdict]
    unknown: list[float]
    """Times of seconds that no reading ends, or that could not be judged."""
    counts: dict[str, int]
    tally: Tally
    seen: set[str]
    """VFs that the series has."""


def judge_series(readings: Iterable[Reading], file: SloFile, counts: Counter[str]) -> Judgement:
    """Run the detector over a series.

    Parameters
    ----------
    counts
        What the reader of the series has counted, and goes on counting while `readings` is read.

    Raises
    ------
    BadSeries
        What `readings` raises, and if the time leaps by more than a month.
    """
    detector = Detector(file.slo, file.nic_bps)
    usual: deque[float] = deque(maxlen=INTERVALS)
    judgement = Judgement([], [], {}, Tally(file.slo), set())
    judged = 0
    for reading in readings:
        judgement.seen.update(reading.vfs)
        verdict = detector.step(reading)
        if verdict is None:
            continue
        usual.append(verdict.interval_s)
        cadence = median(usual)
        unknown = not verdict.known
        seconds = verdict.interval_s
        if verdict.interval_s > GAP * cadence:
            missing = _missing(verdict, cadence)
            judgement.unknown.extend(missing)
            judgement.tally.missing(cadence * len(missing))
            seconds -= cadence * len(missing)
            # The counters say that something broke since the last reading; only the delay says whether it was still so at its end.
            unknown = unknown or (verdict.broken and not _still(verdict, file))
        judgement.tally.add(verdict, seconds, unknown)
        if unknown:
            judgement.unknown.append(verdict.t)
            continue
        judged += 1
        if verdict.broken:
            judgement.broken.append(verdict)
    judgement.counts = {**counts, **detector.counts, "judged": judged, "broken": len(judgement.broken), "unknown": len(judgement.unknown)}
    return judgement


def _missing(verdict: Verdict, cadence: float) -> list[float]:
    """Times of the readings that are missing in an interval."""
    if verdict.interval_s > LONGEST_GAP_S:
        raise BadSeries(f"the time leaps by {verdict.interval_s / 86_400:,.0f} days at {verdict.t:.0f} s: split the series there")
    if cadence <= GAP:
        return Detector.missing_seconds(verdict.t - verdict.interval_s, verdict.t)
    count = round(verdict.interval_s / cadence) - 1
    return [verdict.t - back * cadence for back in range(count, 0, -1)]


def _still(verdict: Verdict, file: SloFile) -> bool:
    """Whether a victim was slow in the probes of the last second."""
    for name in verdict.victims:
        promise, p99 = file.slo.get(name), verdict.vfs[name].delay_p99_us
        if promise is not None and promise.p99_us is not None and p99 is not None and p99 > promise.p99_us:
            return True
    return False
