"""How a host's findings are compared with what is right."""

import dataclasses
from collections import Counter

import pytest
from tests.evaluation.scoring.replay import Episode, Replay
from tests.raw_hosts import verdict
from tests.raw_hosts.case import END, Case, Expected
from tests.raw_hosts.cases import all_cases
from tests.raw_hosts.host import EPOCH_NS
from tests.raw_hosts.play import Played
from tests.raw_hosts.section import section, stored
from tests.raw_hosts.tables import line, summary

START_MS = EPOCH_NS // 1_000_000
S1 = Expected("S1", 30.0, ("C5",), by_s=60)


def episode(symptom: str, at_s: float, cause: str, pci: str = "0000:3b:00.0") -> Episode:
    at = START_MS + int(at_s * 1000)
    return Episode(f"{symptom}-{at}-{pci}", symptom, "raw01", pci, at, at, at, rankings=[(at, [cause])])


def judged(
    monkeypatch: pytest.MonkeyPatch,
    expected: tuple[Expected, ...],
    *episodes: Episode,
    tolerated: tuple[str, ...] = (),
    length_s: float = 150.0,
) -> verdict.Verdict:
    monkeypatch.setattr(verdict, "replay", lambda _: Replay(list(episodes), {}, START_MS, START_MS, 1, Counter()))
    return verdict.judge(Case("a host", lambda _: None, expected, tolerated, length_s), Played())


def test_a_symptom_found_in_time_with_its_cause_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, (S1,), episode("S1", 41.5, "C5"))
    assert (found.outcome, found.delay_s, found.found) == ("right", 11.5, ("S1",))
    assert "right" in line(found)


def test_a_symptom_found_too_late_is_missed_and_not_false(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, (S1,), episode("S1", 100.0, "C5"))
    assert (found.outcome, found.false) == ("missed", ())


def test_a_finding_before_its_symptom_is_false(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, (S1,), episode("S1", 10.0, "C5"), episode("S1", 40.0, "C5"))
    assert (found.outcome, found.false) == ("false finding", ("S1 at 10 s",))


def test_another_cause_than_any_acceptable_one_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(monkeypatch, (S1,), episode("S1", 40.0, "C1"))
    assert (found.outcome, found.wrong_causes) == ("wrong cause", ("S1: C1 instead of C5",))


def test_a_symptom_that_goes_on_must_be_active_to_its_end_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    cleared = episode("S1", 40.0, "C5")
    cleared.cleared_ms = START_MS + 60_000
    goes_on = Expected("S1", 30.0, ("C5",), until_s=END)
    assert judged(monkeypatch, (goes_on,), cleared).outcome == "wrong end"
    assert judged(monkeypatch, (goes_on,), cleared, episode("S1", 90.0, "C5")).outcome == "right"
    brief = Expected("S1", 30.0, ("C5",), until_s=70.0)
    assert judged(monkeypatch, (brief,), cleared, length_s=400.0).outcome == "right"
    assert judged(monkeypatch, (brief,), episode("S1", 40.0, "C5"), length_s=400.0).outcome == "wrong end"


def test_a_finding_about_another_rnic_is_false_and_the_symptom_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Expected("S1", 30.0, pci="0000:5e:00.0")
    found = judged(monkeypatch, (expected,), episode("S1", 40.0, "C5"))
    assert found.outcome == "missed"
    assert found.false


def test_a_finding_on_a_healthy_host_is_false_unless_tolerated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(monkeypatch, (), episode("S2", 40.0, "C2")).outcome == "false finding"
    assert judged(monkeypatch, (), episode("S2", 40.0, "C2"), tolerated=("S2",)).outcome == "right"
    assert judged(monkeypatch, ()).outcome == "right"


def test_figures_count_hosts_symptoms_and_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = [
        judged(monkeypatch, (S1,), episode("S1", 40.0, "C5")),
        judged(monkeypatch, (S1,), episode("S1", 40.0, "C1")),
        judged(monkeypatch, (S1,)),
        judged(monkeypatch, (), episode("S1", 40.0, "C1")),
        judged(monkeypatch, ()),
    ]
    assert summary(verdicts).as_dict() == {
        "cases": 5, "right": 2, "symptoms": 3, "symptoms_found": 2, "wrong_causes": 1, "healthy": 2, "healthy_with_findings": 1,
    }  # fmt: skip


def test_each_symptom_of_a_host_counts_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    both = judged(monkeypatch, (S1, Expected("S7", 30.0)), episode("S1", 40.0, "C1"))
    figures = summary([both]).as_dict()
    text = section(stored([dataclasses.asdict(both)], figures))
    assert "| S1 | 1 | 1 | 0 | 1 |" in text
    assert "| S7 | 1 | 0 | 1 | 0 |" in text
    assert "- missed: a host (expected S1, S7; S1: C1 instead of C5)" in text


def test_half_of_the_hosts_are_healthy_and_each_symptom_has_hosts() -> None:
    cases = all_cases()
    assert len(cases) >= 60
    assert sum(case.healthy for case in cases) * 2 >= len(cases) - 5
    assert {f"S{i}" for i in range(1, 9)} <= {one.symptom for case in cases for one in case.expected}
    assert any(case.length_s >= 600 for case in cases)
    assert {case.interval_s for case in cases} == {1.0, 10}
