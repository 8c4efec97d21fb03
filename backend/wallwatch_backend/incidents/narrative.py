"""The whole life of an incident in sentences, for tickets and post-mortems. Pure; times in UTC, because tickets are read elsewhere."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.states import IncidentState

_ITS_OWN_START = re.compile(r"^.*? since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.\s*")
"""The first sentence of an active finding's explanation: the incident has its own start."""
_MOST_SYMPTOMS = 8


def explain(row: IncidentRow, lead: IncidentFindingRow | None, findings: Sequence[IncidentFindingRow]) -> str:
    """When it began and ended, which symptoms came and went, why, and how it was resolved."""
    sentences = [_life(row), *_symptoms(findings), _reason(row, lead)]
    if row.state == IncidentState.resolved and row.resolved_at is not None:
        sentences.append(f"Resolved at {_clock(row.resolved_at)} by {row.resolved_by or 'wallwatch'}.")
    return " ".join(sentence for sentence in sentences if sentence)


def _life(row: IncidentRow) -> str:
    what = f"{row.title} on {row.subject}"
    if row.active or row.cleared_at is None:
        return f"{what} since {_clock(row.opened_at)}."
    return f"{what} from {_clock(row.opened_at)} to {_clock(row.cleared_at)} ({_duration(row.opened_at, row.cleared_at)})."


def _symptoms(findings: Sequence[IncidentFindingRow]) -> list[str]:
    """One sentence per symptom where there was more than one finding."""
    if len(findings) < 2:
        return []
    by_symptom: dict[str, list[IncidentFindingRow]] = {}
    for finding in sorted(findings, key=lambda finding: finding.started_at):
        by_symptom.setdefault(finding.symptom, []).append(finding)
    said = []
    for symptom, rows in list(by_symptom.items())[:_MOST_SYMPTOMS]:
        times = f"{len(rows)} times, first from" if len(rows) > 1 else "from"
        ends = [finding.cleared_at for finding in rows if finding.cleared_at is not None]
        until = f"last until {_clock(max(ends))}" if len(ends) == len(rows) else "and is present"
        said.append(f"{symptom} ({rows[0].title}) was present {times} {_clock(rows[0].started_at)}, {until}.")
    return said


def _reason(row: IncidentRow, lead: IncidentFindingRow | None) -> str:
    if lead is None:
        return row.summary
    if lead.cleared_at is None:
        return _ITS_OWN_START.sub("", lead.explanation) or lead.summary
    if not lead.hypotheses:
        return ""
    first = max(lead.hypotheses, key=lambda hypothesis: float(hypothesis["posterior"]))
    return f"The most likely cause was {first['cause']} ({first['title']}; {first['posterior']:.0%})."


def _clock(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _duration(since: datetime, until: datetime) -> str:
    """A length of time in words.

    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> from datetime import timedelta
    >>> [_duration(at, at + timedelta(seconds=length)) for length in (42, 2_646, 90_000)]
    ['42 s', '44 min', '25 h 0 min']
    """
    seconds = round((until - since).total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
