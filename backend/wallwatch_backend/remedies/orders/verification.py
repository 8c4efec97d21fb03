"""Is a remedy's change on the host, and did it have its effect? Pure judgements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from wallwatch_backend.remedies.states import RemedyState

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
    """Judge the samples of one signal since a remedy was applied, oldest first.

    They confirm it once the signal has been as expected in every sample over `for_s` seconds that begin before the deadline. Without
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


def state_after(change: Verdict, effect: Verdict | None, *, symptom_present: bool, patient: bool) -> RemedyState:
    """The state of an applied remedy.

    Parameters
    ----------
    change, effect : Verdict
        Of its change on the host, and of the signal that it had to change; None where no signal can show an effect.
    symptom_present : bool
        A finding of the symptom is still active there: the signal alone confirms nothing before that clears.
    patient : bool
        The symptom may still clear: it does so some time after its signal is back to normal.

    >>> str(state_after("confirmed", None, symptom_present=True, patient=True))
    'change_confirmed'
    >>> str(state_after("confirmed", "confirmed", symptom_present=True, patient=True))
    'verifying'
    >>> str(state_after("confirmed", "confirmed", symptom_present=False, patient=True))
    'confirmed'
    """
    if "not_confirmed" in (change, effect):
        return RemedyState.not_confirmed
    if "waiting" in (change, effect):
        return RemedyState.verifying
    if effect is None:
        return RemedyState.change_confirmed
    if symptom_present:
        return RemedyState.verifying if patient else RemedyState.not_confirmed
    return RemedyState.confirmed
