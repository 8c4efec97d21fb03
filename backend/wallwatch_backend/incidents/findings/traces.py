"""A finding in the trace of its incident: how long its symptom took to be recognised, carried and grouped."""

from collections.abc import Iterator

from wallwatch_backend.incidents import finding_repository
from wallwatch_backend.incidents.findings.outcomes import Applied
from wallwatch_backend.incidents.findings.schemas import Finding
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.subject_traces import ROOT, Step

_BEGINS = {Applied.opened: "finding begins", Applied.joined: "finding begins", Applied.reopened: "finding recurs"}


async def note(session: WriteSession, finding: Finding, applied: Applied) -> None:
    """Trace a message that opened, joined or reopened an incident, or that ended a finding."""
    ends = finding.state == "cleared" and applied in (Applied.cleared, Applied.refreshed)
    if not ends and applied not in _BEGINS:
        return
    row = await finding_repository.get(session, finding.finding_id)
    if row is not None:
        session.trace(row.incident_id, *_steps(finding, applied))


def _steps(finding: Finding, applied: Applied) -> Iterator[Step]:
    now, at = clock.now(), finding.at
    began = at if finding.state == "cleared" else finding.started_at
    carried = finding.received_at or at
    attributes = {
        "wallwatch.host": finding.host,
        "wallwatch.pci": finding.pci or None,
        "wallwatch.rack": finding.rack or None,
        "wallwatch.symptom": finding.symptom,
        "wallwatch.severity": finding.severity,
        "wallwatch.cause": finding.top.cause if finding.hypotheses else None,
        "wallwatch.finding_id": str(finding.finding_id),
    }
    if applied is Applied.opened:
        yield Step(f"incident {finding.symptom}", began, now, ROOT, attributes)
    key = f"{finding.finding_id} {finding.state} {at.isoformat()}"
    yield Step(_BEGINS.get(applied, "finding is cleared"), began, now, key, attributes | {"wallwatch.outcome": str(applied)})
    if began < at:
        yield Step("symptom lasts until it is recognised", began, at, f"{key} recognised", inside=key)
    yield Step("host, Kafka and classify", at, carried, f"{key} carried", inside=key)
    yield Step("Kafka and grouping", carried, now, f"{key} grouped", inside=key)
