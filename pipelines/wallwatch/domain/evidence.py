"""A signal over a window of time, as evidence for or against a symptom or a cause; JSON format in docs/contracts.md."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from wallwatch.domain.catalogue.load import known_signals
from wallwatch.domain.instants import rfc3339


class Feature(NamedTuple):
    """One signal over one window: `value` from samples between two times (ms since 1970)."""

    value: float
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One signal over its interval.

    Of a symptom, `expected` is what a healthy RNIC shows. Of a cause, `test` is the bound that supports the cause where it is met: the two
    are different thresholds, so evidence has one of them.
    """

    signal: str
    label: str
    unit: str
    from_: str
    to: str
    value: float
    expected: str | None
    text: str
    test: str | None = None

    def as_json(self) -> dict[str, Any]:
        found = asdict(self)
        found["from"] = found.pop("from_")
        if self.test is None:
            del found["test"]
        return found


WITHOUT_UNIT = frozenset({"none", "ratio"})


def with_unit(text: str, signal: str) -> str:
    """A bound with the unit of its signal.

    >>> with_unit("< 10", "counter_gap_p95_s"), with_unit("< 0.05", "reoffload_ratio")
    ('< 10 s', '< 0.05')
    """
    unit = known_signals()[signal][1]
    return text if unit in WITHOUT_UNIT else f"{text} {unit}"


def evidence(signal: str, feature: Feature, expected: str | None, text: str, test: str | None = None) -> Evidence:
    """One signal over its interval, with what it would be on a healthy RNIC, or with the test of a cause."""
    label, unit = known_signals()[signal]
    value = float(f"{feature.value:.6g}")
    return Evidence(signal, label, unit, rfc3339(feature.from_ms), rfc3339(feature.to_ms), value, expected, text, test)
