"""Where and when a rule acts: pure decisions."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from wallwatch_backend.kit.matchers import Labels, Matcher, labels_of, matches


class Place(Protocol):
    """What a rule needs to know of an active finding and its incident, or of a predicted decline."""

    finding_id: UUID | None
    incident_id: UUID | None
    host: str
    pci: str
    rack: str
    model: str
    fw_ver: str
    symptom: str
    cause: str | None
    severity: str
    scope: str


def in_window(at: datetime, begin: str | None, end: str | None) -> bool:
    """Whether a time (UTC) is in a daily window; one that ends before it starts spans midnight.

    >>> from datetime import UTC
    >>> night = datetime(2026, 1, 1, 1, 30, tzinfo=UTC)
    >>> in_window(night, "22:00", "05:00"), in_window(night, "02:00", "05:00"), in_window(night, None, None)
    (True, False, True)
    """
    if begin is None or end is None:
        return True
    now = f"{at:%H:%M}"
    return begin <= now < end if begin < end else now >= begin or now < end


def labels(place: Place) -> Labels:
    """Labels of a finding, with the names that silences and webhooks use."""
    names = ("host", "pci", "rack", "model", "fw_ver", "symptom", "severity", "scope")
    return labels_of({**{name: getattr(place, name) for name in names}, "top_cause": place.cause})


def chosen(matchers: Sequence[Matcher], places: Iterable[Place], *, on_rnic: bool) -> list[Place]:
    """Return the places where a rule acts, each once. An action on an RNIC needs a finding that names one."""
    found: dict[tuple[str, str], Place] = {}
    for place in places:
        if (place.pci or not on_rnic) and matches(matchers, labels(place)):
            found.setdefault((place.host, place.pci if on_rnic else ""), place)
    return list(found.values())
