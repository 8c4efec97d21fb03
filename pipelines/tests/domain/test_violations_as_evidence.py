"""Violations of policies alongside the other evidence for a cause."""

from __future__ import annotations

from typing import Any

from wallwatch.domain.symptoms import violations

MINUTE = 60_000_000
AGED = {"policy": "flow-deleted-when-aged", "subject": "f", "trace": "00:00:01 flow_entry_created, 00:00:02 flow_entry_deleted"}


def finding(pci: str = "p") -> dict[str, Any]:
    return {"pci": pci, "hypotheses": [{"cause": cause, "evidence_for": []} for cause in ("C1", "C5")]}


def joined(kept: violations.Violations, now_us: int, pci: str = "p") -> dict[str, list[dict[str, Any]]]:
    one = finding(pci)
    violations.join(one, kept, now_us // 1000)
    return {hypothesis["cause"]: hypothesis["evidence_for"] for hypothesis in one["hypotheses"]}


def test_a_violation_is_evidence_for_the_causes_of_its_policy_with_its_trace() -> None:
    kept: violations.Violations = {}
    violations.take(kept, 10 * MINUTE, "p", AGED)
    found = joined(kept, 11 * MINUTE)
    assert found["C5"] == []
    [evidence] = found["C1"]
    assert (evidence["signal"], evidence["value"], evidence["expected"]) == ("policy_violations", 1.0, "0 violations")
    assert "had not aged" in evidence["text"]
    assert evidence["text"].endswith("Last: 00:00:01 flow_entry_created, 00:00:02 flow_entry_deleted.")


def test_violations_are_counted_once_with_those_that_were_left_out() -> None:
    kept: violations.Violations = {}
    for at_us, fields in ((MINUTE, AGED), (MINUTE, AGED), (2 * MINUTE, AGED), (3 * MINUTE, {"policy": AGED["policy"], "left_out": 7})):
        violations.take(kept, at_us, "p", fields)
    [evidence] = joined(kept, 4 * MINUTE)["C1"]
    assert (evidence["value"], evidence["from"][:16], evidence["to"][:16]) == (9.0, "1970-01-01T00:01", "1970-01-01T00:03")


def test_a_policy_that_the_rnic_and_its_host_violate_is_one_line_with_one_count() -> None:
    kept: violations.Violations = {}
    violations.take(kept, 2 * MINUTE, "p", {"policy": AGED["policy"], "trace": "newest"})
    violations.take(kept, MINUTE, "", {"policy": AGED["policy"], "left_out": 7, "trace": "older"})
    [evidence] = joined(kept, 4 * MINUTE)["C1"]
    assert (evidence["value"], evidence["from"][:16], evidence["to"][:16]) == (8.0, "1970-01-01T00:01", "1970-01-01T00:02")
    assert evidence["text"].endswith("Last: newest.")


def test_those_of_another_rnic_of_long_ago_and_of_unknown_policies_say_nothing() -> None:
    kept: violations.Violations = {}
    violations.take(kept, MINUTE, "another", AGED)
    violations.take(kept, MINUTE, "p", {"policy": "own-one"})
    violations.take(kept, MINUTE, "p", {"policy": 7})
    assert joined(kept, 2 * MINUTE) == {"C1": [], "C5": []}
    violations.take(kept, MINUTE, "p", AGED)
    assert joined(kept, 32 * MINUTE) == {"C1": [], "C5": []}


def test_what_is_kept_is_bounded() -> None:
    kept: violations.Violations = {}
    for number in range(100):
        violations.take(kept, number, "p", {"policy": f"own-{number}"})
    assert len(kept) == violations.KEPT


def test_violations_half_an_hour_apart_are_counted_together_and_later_ones_anew() -> None:
    for later_us, count in ((30 * MINUTE, 2.0), (30 * MINUTE + 1000, 1.0)):
        kept: violations.Violations = {}
        violations.take(kept, MINUTE, "p", AGED)
        violations.take(kept, MINUTE + later_us, "p", AGED)
        [evidence] = joined(kept, MINUTE + later_us)["C1"]
        assert evidence["value"] == count


def test_a_violation_is_evidence_for_half_an_hour() -> None:
    kept: violations.Violations = {}
    violations.take(kept, MINUTE, "p", AGED)
    assert joined(kept, 31 * MINUTE)["C1"]
    assert joined(kept, 31 * MINUTE + 1000) == {"C1": [], "C5": []}
