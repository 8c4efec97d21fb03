"""What an incident is according to its findings: pure decisions, without a database."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from wallwatch.domain.catalogue.grouping import grouping
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.states import IncidentState


def new_incident(lead: Any, at: datetime) -> IncidentRow:
    """Return an incident with one finding (its row, or the columns without evidence); `refresh_from_findings` fills in the rest."""
    return IncidentRow(
        id=uuid4(),
        host=lead.host,
        pci=lead.pci,
        symptom=lead.symptom,
        state=IncidentState.open,
        severity=lead.severity,
        blast_radius=lead.blast_radius,
        title=lead.title,
        summary=lead.summary,
        finding_id=lead.finding_id,
        active=True,  # refresh_from_findings clears it if no finding is active
        opened_at=lead.started_at,
        created_at=at,
        updated_at=at,
        reopened=0,
        apart=False,
        version=0,
        external_refs=[],
        recommended={},
        symptoms=[],
        hosts=[],
    )


def refresh_from_findings(incident: IncidentRow, findings: Sequence[Any]) -> None:
    """Set scope, subject, symptoms, severity and activity of an incident from all its findings."""
    if not findings:
        return
    active = [row for row in findings if row.cleared_at is None]
    counting = uninhibited(findings)
    decisive = [row for row in counting if row.cleared_at is None] or counting
    _copy_lead(incident, _leading_finding(incident.finding_id if active else None, decisive))
    incident.severity = "critical" if any(row.severity == "critical" for row in decisive) else "warning"
    incident.symptoms = sorted({row.symptom for row in findings})
    incident.hosts = sorted({row.host for row in findings})
    incident.rnics = len({(row.host, row.pci) for row in findings if row.pci})
    incident.scope = scope_of((row.host, row.pci, row.rack, row.blast_radius) for row in findings)
    incident.subject = subject_of(incident.scope, findings)
    incident.opened_at = min(row.started_at for row in findings)
    # Neither active nor with a time of its end: a person reopened it, and only a person resolves it.
    ends_by_itself = incident.active or incident.cleared_at is not None
    incident.active = bool(active)
    if active:
        incident.cleared_at = None
    elif ends_by_itself:
        incident.cleared_at = max(row.cleared_at for row in findings)


def _copy_lead(incident: IncidentRow, lead: Any) -> None:
    incident.finding_id, incident.host, incident.pci, incident.rack = lead.finding_id, lead.host, lead.pci, lead.rack or None
    incident.symptom, incident.summary = lead.symptom, lead.summary  # the title stays: people quote it
    incident.blast_radius, incident.model, incident.fw_ver = lead.blast_radius, lead.model or None, lead.fw_ver or None
    incident.top_cause = lead.cause


def unsuppressed_state(incident: IncidentRow) -> IncidentState:
    """State of an unresolved incident that nothing suppresses."""
    if incident.acknowledged_by is not None:
        return IncidentState.acknowledged
    return IncidentState.reopened if incident.reopened else IncidentState.open


def is_caused_by_remedy(finding: Any) -> bool:
    """Whether a finding is inhibited now as a side effect of a remedy."""
    return bool(finding.inhibited and finding.inhibited_by)


def uninhibited(findings: Sequence[Any]) -> Sequence[Any]:
    """Findings that decide about an incident: side effects of remedies count only if there are no others."""
    return [row for row in findings if not is_caused_by_remedy(row)] or findings


def common_inhibitor(findings: Sequence[Any]) -> UUID | None:
    """The remedy that caused all these findings (of several remedies, the last finding's), or None if any finding has another cause."""
    return findings[-1].inhibited_by if findings and all(is_caused_by_remedy(row) for row in findings) else None


def _leading_finding(present_lead: UUID | None, findings: Sequence[Any]) -> Any:
    """The finding whose words the incident uses.

    A symptom that explains more about its host leads; of two related symptoms of an RNIC the causing one; then the present lead while it
    is active; then the earliest.
    """
    symptoms = {(row.host, row.pci, row.symptom) for row in findings}

    def weight(row: Any) -> tuple[int, bool, bool, datetime, str]:
        led = any((row.host, row.pci, leader) in symptoms for leader in grouping().leaders(row.symptom))
        return (-grouping().rank(row.symptom), led, row.finding_id != present_lead, row.started_at, str(row.finding_id))

    return min(findings, key=weight)


def scope_of(places: Iterable[tuple[str, str, str, str]]) -> str:
    """How far an incident reaches, from the (host, pci, rack, blast radius) of its findings.

    >>> scope_of([("h1", "0000:17:00.0", "r1", "flows")]), scope_of([("h1", "", "r1", "host")])
    ('rnic', 'host')
    >>> scope_of([("h1", "a", "r1", "rnic"), ("h2", "a", "r1", "rnic")]), scope_of([("h1", "a", "r1", "rnic"), ("h2", "a", "r2", "rnic")])
    ('rack', 'fleet')
    """
    every = list(places)
    if len({host for host, *_ in every}) > 1:
        racks = {rack for _, _, rack, _ in every}
        return "rack" if len(racks) == 1 and "" not in racks else "fleet"
    if len({pci for _, pci, _, _ in every}) > 1 or any(radius == "host" or not pci for _, pci, _, radius in every):
        return "host"
    return "rnic"


def subject_of(scope: str, findings: Sequence[Any]) -> str:
    """What the incident is about, in words."""
    first = findings[0]
    if scope == "rnic":
        return f"{first.host} {first.pci}".strip()
    if scope == "host":
        return str(first.host)
    hosts = {row.host for row in findings}
    if scope == "rack":
        return f"rack {first.rack} ({len(hosts)} hosts)"
    firmware = {row.fw_ver for row in findings if row.fw_ver}
    if len(firmware) == 1:
        models = sorted({row.model for row in findings if row.model})
        return f"firmware {firmware.pop()}{f' of {models[0]}' if len(models) == 1 else ''} ({len(hosts)} hosts)"
    racks = sorted({row.rack for row in findings if row.rack})
    where = f" in racks {', '.join(racks[:5])}{', ...' if len(racks) > 5 else ''}" if racks else ""
    return f"{len(hosts)} hosts{where}"
