"""The two facts of a remedy as its row stores them: its change on the host, and its effect on a symptom's signal. No queries."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from wallwatch.domain.catalogue.remedy_models import Check
from wallwatch_backend.hosts.command_keys.signing import rfc3339
from wallwatch_backend.remedies.orders import actions
from wallwatch_backend.remedies.orders.verification import Judgement

Samples = Sequence[tuple[datetime, float]]

BEFORE = timedelta(minutes=10)
"""How long before a remedy the kept samples of its effect begin."""
_MEAN_BEFORE = timedelta(seconds=15)
_MOST_SAMPLES = 240


def first_change(action_id: str, params: dict[str, Any], applied_at: datetime, symptom: str | None) -> dict[str, Any]:
    """What must show that the host has the change, before anything was read; with the symptom that its incident had.

    >>> from datetime import UTC
    >>> first_change("cordon-rnic", {}, datetime(2026, 1, 1, tzinfo=UTC), "S5")["deadline"]
    '2026-01-01T00:00:30.000Z'
    """
    return {**_first(actions.action_of(action_id).change, params, applied_at), "symptom": symptom}


def first_effect(action_id: str, params: dict[str, Any], applied_at: datetime, symptom: str | None) -> dict[str, Any] | None:
    """What the signal of a symptom must show; None where no signal shows what the action does to that symptom.

    >>> from datetime import UTC
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> first_effect("tune-revalidator", {}, at, "S5")["signal"], first_effect("cordon-rnic", {}, at, "S5")
    ('software_packets_per_s', None)
    """
    if symptom is None or (check := actions.action_of(action_id).cures.get(symptom)) is None:
        return None
    return {**_first(check, params, applied_at), "symptom": symptom, "before": None}


def _first(check: Check, params: dict[str, Any], applied_at: datetime) -> dict[str, Any]:
    label, unit = actions.signal_label(check)
    return {
        "signal": check.signal,
        "label": label,
        "unit": unit,
        "expected": check.expected_with(params),
        "for_s": check.for_s,
        "measured": None,
        "measured_at": None,
        "confirmed_at": None,
        "deadline": rfc3339(applied_at + timedelta(seconds=check.within_s)),
    }


def measured(fact: dict[str, Any], judgement: Judgement) -> dict[str, Any]:
    """The fact with a newer judgement."""
    at = rfc3339(judgement.measured_at) if judgement.measured_at is not None else None
    confirmed_at = fact["confirmed_at"] or (at if judgement.verdict == "confirmed" else None)
    return {**fact, "measured": judgement.measured, "measured_at": at, "confirmed_at": confirmed_at}


def mean_before(samples: Samples, began: datetime) -> float | None:
    """Mean of the samples of the 15 s before a remedy began: a rule may act seconds after the onset, and earlier ones are from before it.

    >>> from datetime import UTC
    >>> t = datetime(2026, 1, 1, tzinfo=UTC)
    >>> mean_before([(t - timedelta(minutes=9), 9.0), (t - timedelta(seconds=10), 2.0), (t, 4.0), (t + timedelta(minutes=1), 0.0)], t)
    3.0
    """
    values = [value for at, value in samples if began - _MEAN_BEFORE <= at <= began]
    return sum(values) / len(values) if values else None


def thinned(samples: Samples) -> list[list[Any]]:
    """At most 240 samples, as `[time, value]`: means of equal intervals, each at the time of its last sample.

    >>> from datetime import UTC
    >>> t = datetime(2026, 1, 1, tzinfo=UTC)
    >>> kept = thinned([(t + timedelta(seconds=i), float(i)) for i in range(480)])
    >>> len(kept), kept[0]
    (240, ['2026-01-01T00:00:01.000Z', 0.5])
    """
    size = -(-len(samples) // _MOST_SAMPLES) or 1
    parts = [samples[i : i + size] for i in range(0, len(samples), size)]
    return [[rfc3339(part[-1][0]), sum(value for _, value in part) / len(part)] for part in parts]
