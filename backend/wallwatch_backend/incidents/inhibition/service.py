"""Inhibits findings that are side effects of remedies."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.grouping import grouping
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.incidents import events
from wallwatch_backend.incidents.grouping.rules import Candidate, Decision, Member, decide
from wallwatch_backend.incidents.inhibition import repository as inhibition_repository
from wallwatch_backend.incidents.inhibition.rules import Beginning, Run, causing_run
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.kit.database import ReadSession, WriteSession


async def find_causing_run(session: ReadSession, finding: Beginning) -> Run | None:
    """The run of a remedy that caused a new finding, or None."""
    runs = await inhibition_repository.runs_that_may_cause(session, finding.host, finding.pci, finding.symptom, finding.started_at)
    return causing_run(finding, runs)


def decide_inhibited(finding: Member, candidates: Sequence[Candidate], reopen_within: timedelta) -> Decision:
    """Where an inhibited finding belongs: to an unresolved incident of its host or to a new one; it never merges or reopens incidents."""
    near = [c for c in candidates if c.resolved_at is None and not c.wide and any(m.host == finding.host for m in c.members)]
    decision = decide(finding, near, grouping(), reopen_within)
    return Decision(join=decision.join, inhibited=decision.join is not None, why=decision.why)


def record_inhibition(session: WriteSession, incident: IncidentRow, row: IncidentFindingRow, run: Run, at: datetime) -> None:
    """Write to the incident's timeline and the audit log that a remedy inhibits a finding, and for how long."""
    action = load.remedies()[run.action]
    text = (
        f'Inhibited: {row.symptom} started while the remedy "{action.title}" ran or settled here, and is likely a side effect of it. '
        f"It sends no notifications and triggers no rule unless it outlasts the remedy by {run.settle.total_seconds():.0f} s."
    )
    ids: dict[str, Any] = {"finding_id": str(row.finding_id), "remedy_id": str(run.remedy_id)}
    events.note(session, incident, at, "inhibited", text, **ids)
    place = f"{row.host} {row.pci}".strip()
    audit.record(
        session, "system", "incident.inhibit", place, incident_id=str(incident.id), symptom=row.symptom, remedy_action=run.action, **ids
    )
