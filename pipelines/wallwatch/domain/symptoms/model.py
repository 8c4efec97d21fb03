"""What the symptom stage reads and writes: samples, findings and evidence, as in docs/contracts.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from wallwatch.domain.catalogue.load import known_signals
from wallwatch.domain.symptoms.window import Feature


@dataclass(frozen=True, slots=True)
class OffloadSample:
    """One `rnic_offload` message of a known RNIC, with what is known about it."""

    host: str
    pci: str
    rack: str
    at_ms: int
    fields: Mapping[str, Any]
    model: str | None
    """Profile id, None when the device is unknown or has not been seen yet."""
    misses_per_s: float | None = None


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


def evidence(signal: str, feature: Feature, expected: str, text: str) -> Evidence:
    """One signal over its interval, with what it would be on a healthy RNIC."""
    label, unit = known_signals()[signal]
    value = float(f"{feature.value:.6g}")
    return Evidence(signal, label, unit, rfc3339(feature.from_ms), rfc3339(feature.to_ms), value, expected, text)
