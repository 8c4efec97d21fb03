"""Verdicts as text."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from tests.raw_hosts.verdict import Verdict


@dataclass(frozen=True)
class Summary:
    """Figures over all cases."""

    cases: int
    right: int
    symptoms: int
    symptoms_found: int
    wrong_causes: int
    healthy: int
    healthy_with_findings: int

    def as_dict(self) -> dict[str, int]:
        """The figures by name."""
        return dataclasses.asdict(self)

    def text(self) -> str:
        """One paragraph."""
        return (
            f"{self.right} of {self.cases} hosts right; {self.symptoms_found} of {self.symptoms} symptoms found, {self.wrong_causes} with "
            f"a wrong cause; false findings on {self.healthy_with_findings} of {self.healthy} healthy hosts."
        )


def summary(verdicts: Sequence[Verdict]) -> Summary:
    """Count."""
    healthy = [one for one in verdicts if one.healthy]
    return Summary(
        cases=len(verdicts),
        right=sum(one.outcome == "right" for one in verdicts),
        symptoms=sum(len(one.expected) for one in verdicts),
        symptoms_found=sum(len(one.found) for one in verdicts),
        wrong_causes=sum(len(one.wrong_causes) for one in verdicts),
        healthy=len(healthy),
        healthy_with_findings=sum(bool(one.false) for one in healthy),
    )


def line(verdict: Verdict, with_findings: bool = False) -> str:
    """One line for a case, and more where asked for or where something is wrong with the play itself."""
    expected = ", ".join(verdict.expected) or "nothing"
    delay = "" if verdict.delay_s is None else f", delay {verdict.delay_s:.1f} s"
    text = f"{verdict.outcome:<13} {verdict.case} (expected {expected}{delay}; {verdict.took_s:.0f} s)"
    details = [*verdict.wrong_causes, *verdict.wrong_ends] + [f"false: {one}" for one in verdict.false]
    details += [f"refused: {text} ({count})" for text, count in verdict.refused.items()]
    if with_findings:
        details += [f"error: {text} ({count})" for text, count in verdict.errors.items()]
        for one in verdict.findings:
            cleared = "" if one.cleared_s is None else f", cleared at {one.cleared_s:.0f} s"
            details.append(f"{one.symptom} {one.pci} at {one.raised_s:.1f} s{cleared}: {one.first_cause}, at last {one.last_cause}")
            details += [f"  {evidence}" for evidence in one.evidence]
    return "\n".join([text, *(f"              {detail}" for detail in details)])
