"""Whether the RNICs of a node are healthy, as a condition of the node: pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

CONDITION = "WallwatchRnicHealthy"
SILENT = "silent"
"""The condition of `symptoms.yaml` that says that a host stopped reporting."""
_SEVERITIES = ("critical", "warning")
_MOST_NAMED = 8
"""RNICs named in a message; a host has two to eight of them."""
SILENT_AFTER = timedelta(minutes=15)
"""Without a newer sample the health is unknown, whatever findings say: those of a silent host are cleared after a day, and none come while
ingest stands for the whole fleet. Clocks of hosts may be minutes off, and an upgrade of the broker takes minutes."""
HEARTBEAT = timedelta(minutes=10)
"""How old the heartbeat of an unchanged condition may become: 13 writes per second for 8,000 nodes, where kubelets write 800."""


@dataclass(frozen=True)
class Present:
    """A symptom that is present on an RNIC."""

    pci: str
    symptom: str
    severity: str


@dataclass(frozen=True)
class Host:
    """The RNICs of a host: how many, how many of them cordoned, the time of the newest sample, and what is present."""

    rnics: int
    cordoned: int
    seen_at: datetime | None
    present: Sequence[Present] = ()


@dataclass(frozen=True)
class Verdict:
    """What the condition should say."""

    status: str
    reason: str
    message: str
    seen_at: datetime | None

    def body(self, at: datetime, changed_at: datetime) -> dict[str, Any]:
        """Return the condition as Kubernetes has it; the heartbeat is the newest sample, so it ends when telemetry does."""
        return {
            "type": CONDITION,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "lastHeartbeatTime": rfc3339(self.seen_at or at),
            "lastTransitionTime": rfc3339(changed_at),
        }


def rfc3339(at: datetime) -> str:
    """A time in UTC as Kubernetes writes it, to the second.

    >>> from datetime import UTC
    >>> rfc3339(datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC))
    '2026-01-02T03:04:05Z'
    """
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def reason_of(symptom: str) -> str:
    """Return a symptom as one word in CamelCase, as reasons are written.

    >>> [reason_of(s) for s in ("S6", "unexplained", "local/slow-card")]
    ['S6', 'Unexplained', 'LocalSlowCard']
    """
    words = "".join(character if character.isalnum() else " " for character in symptom).split()
    return "".join(word[0].upper() + word[1:] for word in words) or "Symptom"


def verdict_of(host: Host, titles: Mapping[str, str], at: datetime) -> Verdict:
    """Judge the RNICs of a node: the worst symptom is the reason, and silence makes the rest unknown.

    >>> seen_at = datetime(2026, 1, 2, 3, 4)
    >>> [verdict_of(Host(2, 0, seen_at), {}, seen_at + later).reason for later in (SILENT_AFTER, SILENT_AFTER * 2)]
    ['NoSymptoms', 'NoTelemetry']
    """
    unseen = host.seen_at is None or at - host.seen_at > SILENT_AFTER
    if unseen or any(each.symptom == SILENT for each in host.present):
        text = "The host stopped reporting to Wallwatch, so the health of its RNICs is unknown."
        return Verdict("Unknown", "NoTelemetry", text, host.seen_at)
    if not host.present:
        return Verdict("True", "NoSymptoms", f"No symptoms on {host.rnics} RNIC{'' if host.rnics == 1 else 's'}.", host.seen_at)
    by_symptom: dict[str, list[str]] = {}
    for each in sorted(host.present, key=lambda each: (_rank(each.severity), each.symptom, each.pci)):
        by_symptom.setdefault(each.symptom, []).append(each.pci)
    message = "; ".join(_named(symptom, titles.get(symptom), pcis) for symptom, pcis in by_symptom.items())
    return Verdict("False", reason_of(next(iter(by_symptom))), f"{message}.", host.seen_at)


def _rank(severity: str) -> int:
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)


def _named(symptom: str, title: str | None, pcis: Sequence[str]) -> str:
    more = len(pcis) - _MOST_NAMED
    places = ", ".join(pcis[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{symptom} {title} on {places}" if title else f"{symptom} on {places}"


def differs(present: Mapping[str, Any] | None, wanted: Verdict) -> bool:
    """Whether the condition of a node must be written."""
    if present is None:
        return True
    if (present.get("status"), present.get("reason"), present.get("message")) != (wanted.status, wanted.reason, wanted.message):
        return True
    if wanted.seen_at is None:
        return False
    beat = parsed(present.get("lastHeartbeatTime"))
    return beat is None or wanted.seen_at - beat >= HEARTBEAT


def changed_at(present: Mapping[str, Any] | None, wanted: Verdict, at: datetime) -> datetime:
    """Return when the status became what it is: a new reason alone is no transition."""
    if present is not None and present.get("status") == wanted.status and (since := parsed(present.get("lastTransitionTime"))) is not None:
        return since
    return at


def parsed(text: object) -> datetime | None:
    """Return a time that Kubernetes wrote; None for none or one that cannot be read.

    >>> [parsed(each) for each in (None, "soon")]
    [None, None]
    """
    try:
        return datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None
