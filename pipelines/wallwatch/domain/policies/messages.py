"""Messages about policies from the server, see docs/contracts.md; collectors write the same in Go."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zlib import crc32

import orjson

from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.step import Counts, Violation
from wallwatch.domain.policies.tables import revision

VIOLATED = "policy_violated"

APART_US, WITHIN_US = 500, 100_000
"""Minimum and maximum delay between an event and the time of a server-side violation. Events of one host, RNIC, kind and time are one;
the host's own violations by the same event have its time, or a few microseconds more."""


def _apart_us(violation: Violation) -> int:
    """A delay derived from the violation, so that duplicates have the same time and different violations hardly ever do."""
    return APART_US + crc32(" ".join((violation.policy, *violation.subject)).encode()) % (WITHIN_US - APART_US)


def _time(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def violated(violation: Violation, policy: Policy, rack: str) -> dict[str, Any]:
    """The event of a violation."""
    steps = [
        {"at": _time(step.at_us), "host": step.host, "kinds": step.kinds, "propositions": step.propositions} for step in violation.steps
    ]
    tags = {"host": violation.host, "kind": VIOLATED, "rack": rack, "pci": violation.pci}
    return {
        "name": "event",
        "timestamp": (violation.at_us + _apart_us(violation)) * 1000,
        "tags": {name: value for name, value in tags.items() if value},
        "fields": {
            "detail": policy.violation,
            "policy": policy.id,
            "revision": revision(policy),
            "subject": " ".join(violation.subject),
            "severity": policy.severity,
            "trace": ", ".join(f"{_time(step.at_us)[11:-1]} {'+'.join(step.kinds)} ({step.host})" for step in violation.steps),
            "steps": orjson.dumps(steps).decode(),
            "cut": violation.cut,
        },
    }


def state(policy: Policy, counts: Counts, before: Counts, at_us: int, period_s: float) -> dict[str, Any]:
    """The state of a policy over all hosts."""
    fields: dict[str, Any] = {name: getattr(counts, name) for name in ("subjects", "holding", "satisfied", "unknown")}
    for name in ("violations", "events", "late", "gaps", "evicted"):
        fields[name] = max(getattr(counts, name) - getattr(before, name), 0)
    if counts.subjects:
        fields["coverage"] = 1 - counts.unknown / counts.subjects
    return {
        "name": "policy_state",
        "timestamp": at_us * 1000,
        "tags": {"host": "", "policy": policy.id, "revision": revision(policy)},
        "fields": {**fields, "period_s": period_s},
    }
