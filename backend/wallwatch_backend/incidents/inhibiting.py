"""Inhibits findings that a remedy of one's own brings about, and raises those that outlast it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.grouping import grouping
from wallwatch_backend.audit import service as audit
from wallwatch_backend.incidents import events, inhibition_repository
from wallwatch_backend.incidents.finding import Finding
from wallwatch_backend.incidents.grouping import Candidate, Decision, Member, decide
from wallwatch_backend.incidents.inhibition import Beginning, Run
from wallwatch_backend.incidents.inhibition import brought_about_by as newest_of
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.kit.database import ReadSession, WriteSession


async def brought_about_by(session: ReadSession, finding: Finding) -> Run | None:
    """The run of a remedy that has brought a new finding about, or None."""
    runs = await inhibition_repository.runs(session, finding.host, finding.pci, finding.symptom, finding.started_at)
    return newest_of(Beginning(finding.host, finding.pci, finding.symptom, finding.started_at, finding.at, finding.heard_at), runs)


def quietly(finding: Member, found: Sequence[Candidate], reopen_within: timedelta) -> Decision:
    """Where an inhibited finding belongs: to an unresolved incident of its host or to none; it merges nothing, and reopens nothing."""
    near = [c for c in found if c.resolved_at is None and not c.wide and any(m.host == finding.host for m in c.members)]
    decision = decide(finding, near, grouping(), reopen_within)
    return Decision(join=decision.join, inhibited=decision.join is not None, why=decision.why)


def tell(session: WriteSession, incident: IncidentRow, row: IncidentFindingRow, run: Run, at: datetime) -> None:
    """Say in the incident's timeline and in the audit log that a finding is inhibited, by what, and for how long."""
    action = load.remedies()[run.action]
    text = (
        f'Inhibited: {row.symptom} began while the remedy "{action.title}" ran here or settled, which may bring it about. '
        f"Nobody is notified, and no rule acts on it, unless it outlasts the remedy by {run.settle.total_seconds():.0f} s."
    )
    ids: dict[str, Any] = {"finding_id": str(row.finding_id), "remedy_id": str(run.remedy_id)}
    events.note(session, incident, at, "inhibited", text, **ids)
    where = f"{row.host} {row.pci}".strip()
    audit.record(
        session, "system", "incident.inhibit", where, incident_id=str(incident.id), symptom=row.symptom, remedy_action=run.action, **ids
    )
