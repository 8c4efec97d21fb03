"""Compares what the pipeline found with what is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.evaluation.scoring.replay import Episode, Replay, replay
from tests.raw_hosts.case import Case, Expected
from tests.raw_hosts.host import EPOCH_NS
from tests.raw_hosts.play import Played

EDGE_S = 20.0
"""A symptom must still be active this long before its end."""
LINGER_S = 180.0
"""A finding must be cleared this long after its symptom has ended."""
EARLY_S = 5.0
"""A clock that is read at the edge of a step may show a symptom a little before its time."""


@dataclass(frozen=True)
class Finding:
    """A finding, with times in s since the case began."""

    symptom: str
    pci: str
    raised_s: float
    cleared_s: float | None
    first_cause: str
    last_cause: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """How one case went."""

    case: str
    healthy: bool
    outcome: str
    """`right`, or the first of these that applies: `missed`, `false finding`, `wrong cause`, `wrong end`."""
    expected: tuple[str, ...]
    found: tuple[str, ...]
    """Expected symptoms that were found."""
    wrong_causes: tuple[str, ...]
    wrong_ends: tuple[str, ...]
    false: tuple[str, ...]
    delay_s: float | None
    """Of the slowest expected symptom that was found."""
    findings: tuple[Finding, ...]
    refused: dict[str, int]
    errors: dict[str, int]
    messages: int
    took_s: float


def _finding(episode: Episode, offset_ms: int) -> Finding:
    rankings = [causes for _, causes in episode.rankings if causes]
    return Finding(
        symptom=episode.symptom,
        pci=episode.pci,
        raised_s=(episode.raised_ms - offset_ms) / 1000,
        cleared_s=None if episode.cleared_ms is None else (episode.cleared_ms - offset_ms) / 1000,
        first_cause=rankings[0][0] if rankings else "",
        last_cause=rankings[-1][0] if rankings else "",
        evidence=tuple(episode.evidence),
    )


def _belongs(finding: Finding, expected: Expected) -> bool:
    if expected.pci and finding.pci != expected.pci:
        return False
    return finding.symptom == expected.symptom and expected.from_s - EARLY_S <= finding.raised_s <= expected.from_s + expected.by_s


def _explains(expected: Expected, finding: Finding) -> bool:
    """Whether a finding is about a symptom that is there, however late."""
    right_place = not expected.pci or finding.pci == expected.pci
    return right_place and finding.symptom == expected.symptom and finding.raised_s >= expected.from_s - EARLY_S


def _wrong_end(case: Case, expected: Expected, matching: Sequence[Finding]) -> str:
    """What is wrong with when findings ended, empty where nothing is."""
    if expected.until_s is None:
        return ""
    last = min(expected.until_s, case.length_s) - EDGE_S
    if not any(one.raised_s <= last and (one.cleared_s is None or one.cleared_s > last) for one in matching):
        return f"{expected.symptom}: no finding is active at {last:.0f} s although it goes on"
    limit = expected.until_s + LINGER_S
    if limit < case.length_s and any(one.cleared_s is None or one.cleared_s > limit for one in matching):
        return f"{expected.symptom}: a finding is active at {limit:.0f} s although it ended at {expected.until_s:.0f} s"
    return ""


def judge(case: Case, played: Played) -> Verdict:
    """Run a case's messages through the job's own decoding and stage, and compare."""
    return compare(case, played, replay(played.messages))


def compare(case: Case, played: Played, replayed: Replay) -> Verdict:
    """Compare what came of a case's messages with what is right."""
    findings = [_finding(one, EPOCH_NS // 1_000_000) for one in replayed.episodes if one.symptom != "silent"]
    found: list[str] = []
    delays: list[float] = []
    wrong: list[str] = []
    ends: list[str] = []
    for expected in case.expected:
        matching = [one for one in findings if _belongs(one, expected)]
        if not matching:
            continue
        first = min(matching, key=lambda one: one.raised_s)
        found.append(expected.symptom)
        delays.append(max(0.0, first.raised_s - expected.from_s))
        if expected.causes and first.last_cause not in expected.causes:
            wrong.append(f"{expected.symptom}: {first.last_cause} instead of {' or '.join(expected.causes)}")
        if end := _wrong_end(case, expected, [one for one in findings if _explains(expected, one)]):
            ends.append(end)
    # Raised again after it cleared is the same symptom; too early is not.
    false = [
        f"{one.symptom} at {one.raised_s:.0f} s"
        for one in findings
        if one.symptom not in case.tolerated and not any(_explains(expected, one) for expected in case.expected)
    ]
    missed = len(case.expected) - len(found)
    outcome = "missed" if missed else "false finding" if false else "wrong cause" if wrong else "wrong end" if ends else "right"
    return Verdict(
        case=case.name,
        healthy=case.healthy,
        outcome=outcome,
        expected=tuple(one.symptom for one in case.expected),
        found=tuple(found),
        wrong_causes=tuple(wrong),
        wrong_ends=tuple(ends),
        false=tuple(false),
        delay_s=max(delays, default=None),
        findings=tuple(findings),
        refused=dict(replayed.problems),
        errors=dict(played.errors),
        messages=replayed.messages,
        took_s=played.took_s,
    )
