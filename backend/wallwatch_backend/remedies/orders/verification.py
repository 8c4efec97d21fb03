"""Does telemetry confirm that a remedy worked? A pure judgement of samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Verdict = Literal["confirmed", "not_confirmed", "waiting"]
LATE_SAMPLES = timedelta(seconds=15)
"""How long after the deadline to wait for samples measured before it: collection, Kafka and ingest take some seconds."""


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    measured: float | None
    measured_at: datetime | None


def judge(
    samples: Sequence[tuple[datetime, float]],
    holds: Callable[[float], bool],
    *,
    for_s: int,
    deadline: datetime,
    at: datetime,
) -> Judgement:
    """Judge the samples since a remedy was applied, oldest first.

    It is confirmed once the signal has been as expected in every sample over `for_s` seconds that begin before the deadline. Without
    samples nothing is confirmed, and after the deadline it is not confirmed: silence is not success.

    >>> from datetime import UTC
    >>> t = datetime(2026, 1, 1, tzinfo=UTC)
    >>> s = [(t + timedelta(seconds=i * 10), v) for i, v in enumerate([0.4, 0.01, 0.0, 0.02])]
    >>> judge(s, lambda v: v < 0.05, for_s=20, deadline=t + timedelta(minutes=3), at=t).verdict
    'confirmed'
    >>> judge(s[:3], lambda v: v < 0.05, for_s=20, deadline=t + timedelta(minutes=3), at=t).verdict
    'waiting'
    """
    began: datetime | None = None
    for time, value in samples:
        if not holds(value):
            began = None
        elif began is None and time <= deadline:
            began = time
        if began is not None and (time - began).total_seconds() >= for_s:
            return Judgement("confirmed", value, time)
    last = samples[-1] if samples else (None, None)
    patience = deadline + LATE_SAMPLES + (timedelta(seconds=for_s) if began is not None else timedelta())
    verdict: Verdict = "not_confirmed" if at > patience else "waiting"
    return Judgement(verdict, last[1], last[0])
