"""Builds from rows what the API and webhooks send."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from wallwatch_backend.incidents import finding_repository, narrative, recommended, repository
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow, TimelineRow
from wallwatch_backend.incidents.remedy_history import remedy_history
from wallwatch_backend.incidents.schemas import Incident, IncidentFinding, IncidentSummary, TimelineEntry
from wallwatch_backend.incidents.upgrades import upgrade_for
from wallwatch_backend.kit.database import ReadSession

_OF_ROW = [name for name in IncidentSummary.model_fields if name != "cause"]
_OF_FINDING = [name for name in IncidentFinding.model_fields if name not in ("state", "hypotheses")]


def _summary_fields(row: IncidentRow) -> dict[str, Any]:
    return {**{name: getattr(row, name) for name in _OF_ROW}, "cause": row.top_cause}


def summary(row: IncidentRow) -> IncidentSummary:
    return IncidentSummary.model_validate(_summary_fields(row))


def _ranked(hypotheses: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(hypotheses, key=lambda h: -h["posterior"])


def _finding(row: IncidentFindingRow) -> IncidentFinding:
    state = "active" if row.cleared_at is None else "cleared"
    fields = {name: getattr(row, name) for name in _OF_FINDING}
    return IncidentFinding.model_validate({**fields, "state": state, "hypotheses": _ranked(row.hypotheses)})


def _suggestions(lead: IncidentFindingRow | None, findings: Sequence[IncidentFindingRow]) -> list[recommended.Suggestions]:
    """What the leading finding suggests, then the others that are active on its RNIC: S5 before S1 must not hide what helps against S1."""
    if lead is None:
        return []
    others = (row for row in findings if row.cleared_at is None and not row.inhibited and row.finding_id != lead.finding_id)
    return [lead.remedies, *(row.remedies for row in others if (row.host, row.pci) == (lead.host, lead.pci))]


@dataclass
class Details:
    """What belongs to one incident besides its row."""

    lead: IncidentFindingRow | None = None
    findings: Sequence[IncidentFindingRow] = ()
    merged: list[UUID] = field(default_factory=list)
    remedy_ids: list[UUID] = field(default_factory=list)
    timeline: list[TimelineRow] = field(default_factory=list)


def incident_of(row: IncidentRow, details: Details) -> Incident:
    lead = details.lead
    return Incident.model_validate(
        {
            **_summary_fields(row),
            "finding_id": row.finding_id,
            "rule": lead.rule if lead is not None else "",
            "explanation": narrative.explain(row, lead, details.findings),
            "evidence": lead.evidence if lead is not None else [],
            "hypotheses": _ranked(lead.hypotheses) if lead is not None else [],
            "remedies": recommended.offered(row.recommended, _suggestions(lead, details.findings), row.top_cause),
            "upgrade": upgrade_for(row.top_cause, lead, details.findings),
            "remedy_ids": details.remedy_ids,
            "findings": [_finding(finding) for finding in details.findings],
            "merged": details.merged,
            "timeline": [TimelineEntry.model_validate(entry, from_attributes=True) for entry in details.timeline],
        }
    )


async def full(session: ReadSession, row: IncidentRow) -> Incident:
    """The incident with everything that belongs to it."""
    return (await full_many(session, [row]))[0]


async def full_many(session: ReadSession, rows: Sequence[IncidentRow]) -> list[Incident]:
    """Incidents with everything that belongs to them, in as many statements as for one."""
    details = {row.id: Details() for row in rows}
    shown_in = {id: id for id in details}  # each incident, and each that was merged into one of them -> the one that shows its entries
    for source, target in (await repository.merged_sources(session, list(details))).items():
        details[target].merged.append(source)
        shown_in[source] = target
    for id, findings in (await finding_repository.first_of_incidents(session, list(details))).items():
        details[id].findings = findings
    leads = {finding.finding_id: finding for each in details.values() for finding in each.findings[:1]}
    elsewhere = [row.finding_id for row in rows if row.finding_id not in leads]  # of incidents whose findings were merged into another
    leads |= await finding_repository.get_many(session, elsewhere) if elsewhere else {}
    for row in rows:
        details[row.id].lead = leads.get(row.finding_id)
    for remedy_id, incident_id in await remedy_history().ids_of_incidents(session, list(shown_in)):
        details[shown_in[incident_id]].remedy_ids.append(remedy_id)
    for entry in await repository.timelines(session, list(shown_in)):
        details[shown_in[entry.incident_id]].timeline.append(entry)
    return [incident_of(row, details[row.id]) for row in rows]
