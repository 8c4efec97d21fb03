"""Reads `rnic_state.symptoms`: active symptoms, and those that cleared recently."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from wallwatch.store.tables import RECENT_MIN

RECENT = timedelta(minutes=RECENT_MIN)


def until(entry: Mapping[str, Any]) -> datetime | None:
    """When a symptom cleared; None while it is active."""
    ended = entry.get("until")
    return datetime.fromisoformat(ended) if ended else None


def split(stored: Mapping[str, Mapping[str, Any]] | None, at: datetime) -> tuple[list[str], list[str]]:
    """Return the active symptoms, and those that cleared in the last `RECENT`.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> split({"S1": {}, "S2": {"until": "2026-01-01T11:50:00Z"}, "S6": {"until": "2026-01-01T11:00:00Z"}}, noon)
    (['S1'], ['S2'])
    """
    active, recent = [], []
    for symptom, entry in sorted((stored or {}).items()):
        ended = until(entry)
        if ended is None:
            active.append(symptom)
        elif at - ended < RECENT:
            recent.append(symptom)
    return active, recent
