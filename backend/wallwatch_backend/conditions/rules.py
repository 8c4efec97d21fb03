"""Which webhooks hear of which conditions now."""

from collections.abc import Collection, Mapping

from wallwatch_backend.conditions.kinds import Condition


def begun(conditions: Mapping[str, Condition], known: Collection[str]) -> list[Condition]:
    """Return the conditions that begin and of which the webhook does not know yet.

    >>> from datetime import datetime
    >>> one = Condition("host01", "begins", datetime(2026, 1, 1), "")
    >>> [each.subject for each in begun({"host01": one}, known=[])], begun({"host01": one}, known=["host01"])
    (['host01'], [])
    """
    return [condition for subject, condition in sorted(conditions.items()) if condition.standing == "begins" and subject not in known]


def ended(conditions: Mapping[str, Condition], known: Collection[str]) -> list[str]:
    """Return the subjects that the webhook knows to be in a condition that is over.

    >>> from datetime import datetime
    >>> between = Condition("host01", "holds", datetime(2026, 1, 1), "")
    >>> ended({"host01": between}, known=["host01", "host02"])
    ['host02']
    """
    return [subject for subject in sorted(known) if not lasts(conditions.get(subject))]


def lasts(condition: Condition | None) -> bool:
    """Whether a condition that was announced goes on."""
    return condition is not None and condition.standing != "over"
