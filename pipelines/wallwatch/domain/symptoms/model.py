"""What the symptom stage reads and writes: messages, evidence and times, as in docs/contracts.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from wallwatch.domain.catalogue.load import known_signals
from wallwatch.domain.symptoms.window import Feature


class Message(NamedTuple):
    """One telemetry message of a host, its envelope checked and its fields not yet."""

    measurement: str
    tags: Mapping[str, str]
    at_ns: int
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    signal: str
    label: str
    unit: str
    from_: str
    to: str
    value: float
    expected: str
    text: str

    def as_json(self) -> dict[str, Any]:
        found = asdict(self)
        found["from"] = found.pop("from_")
        return found


def rfc3339(at_ms: int) -> str:
    """Milliseconds since 1970 as RFC 3339 UTC.

    >>> rfc3339(1_790_000_000_123)
    '2026-09-21T14:13:20.123Z'
    """
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


WITHOUT_UNIT = frozenset({"none", "ratio"})


def with_unit(text: str, signal: str) -> str:
    """A bound with the unit of its signal.

    >>> with_unit("< 10", "counter_gap_p95_s"), with_unit("< 0.05", "reoffload_ratio")
    ('< 10 s', '< 0.05')
    """
    unit = known_signals()[signal][1]
    return text if unit in WITHOUT_UNIT else f"{text} {unit}"


def evidence(signal: str, feature: Feature, expected: str, text: str) -> Evidence:
    """One signal over its interval, with what it would be on a healthy RNIC."""
    label, unit = known_signals()[signal]
    value = float(f"{feature.value:.6g}")
    return Evidence(signal, label, unit, rfc3339(feature.from_ms), rfc3339(feature.to_ms), value, expected, text)
