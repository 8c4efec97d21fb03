"""When a group is told: pure functions of times. A group waits for company once, then keeps a distance between notifications."""

from datetime import datetime, timedelta


def due_at(now: datetime, last_sent_at: datetime | None, already_due_at: datetime | None, wait_s: int, interval_s: int) -> datetime:
    """When a change that came now is told.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> due_at(noon, None, None, 30, 300).time().isoformat()
    '12:00:30'
    >>> due_at(noon, noon - timedelta(seconds=100), None, 30, 300).time().isoformat()
    '12:03:20'
    >>> due_at(noon, noon - timedelta(hours=1), None, 30, 300) == noon
    True
    """
    if already_due_at is not None:
        return already_due_at
    if last_sent_at is None:
        return now + timedelta(seconds=wait_s)
    return max(now, last_sent_at + timedelta(seconds=interval_s))


def repeat_at(sent_at: datetime, repeat_interval_s: int | None, anyone_unresolved: bool) -> datetime | None:
    """When what was sent now is told again; null when it is not."""
    if repeat_interval_s is None or not anyone_unresolved:
        return None
    return sent_at + timedelta(seconds=repeat_interval_s)
