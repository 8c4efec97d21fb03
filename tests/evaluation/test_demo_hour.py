"""What is reported where nothing is wrong is told apart from what the scripted faults bring about."""

import json
from typing import Any

from tests.evaluation import demo_hour_section
from tests.evaluation.demo_hour import violations

QUIET: dict[str, Any] = {
    "rnic_hours": 32.0, "rnics": 32, "faulty": 2, "symptoms": ["S1", "S6"], "findings_outside": [], "violations": 5000,
    "violations_outside": {},
}  # fmt: skip


def state(policy: str, host: str, pci: str, count: int) -> bytes:
    tags = {"policy": policy, "host": host, **({"pci": pci} if pci else {})}
    return json.dumps({"name": "policy_state", "timestamp": 1, "tags": tags, "fields": {"violations": count}}).encode()


def test_violations_are_counted_by_policy_and_place_over_all_reports() -> None:
    lines = [
        state("flow-kept-while-used", "host03", "0000:3b:00.0", 5),
        state("flow-kept-while-used", "host03", "0000:3b:00.0", 7),
        state("flow-kept-while-used", "host04", "0000:3b:00.0", 0),
        state("host-cpus-run", "host04", "", 1),
        b'{"name": "rnic", "timestamp": 1, "tags": {"host": "host04"}, "fields": {"violations": 3}}',
    ]
    assert violations(lines) == {
        ("flow-kept-while-used", "host03", "0000:3b:00.0"): 12,
        ("host-cpus-run", "host04", ""): 1,
    }


def test_whatever_is_reported_elsewhere_counts_and_is_named() -> None:
    loud = {**QUIET, "findings_outside": ["S1 host05 0000:3b:00.0"], "violations_outside": {"flow-kept-while-used host05 0000:3b:00.0": 9}}
    assert (demo_hour_section.outside(QUIET), demo_hour_section.outside(loud)) == (0, 2)
    assert "- S1 host05 0000:3b:00.0\n- flow-kept-while-used host05 0000:3b:00.0: 9 violations" in demo_hour_section.text(loud)
    assert "\n- " not in demo_hour_section.text(QUIET)
