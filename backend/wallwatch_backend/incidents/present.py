"""Turns rows into what the API and webhooks show."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from wallwatch_backend.incidents import members, repository
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow, TimelineRow
from wallwatch_backend.incidents.schemas import Incident, IncidentFinding, IncidentSummary, TimelineEntry
from wallwatch_backend.incidents.upgrades import upgrade_for
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies import repository as remedies

_OF_ROW = [name for name in IncidentSummary.model_fields if name != "cause"]
_OF_FINDING = [name for name in IncidentFinding.model_fields if name not in ("state", "hypotheses")]


def fields_of(row: IncidentRow) -> dict[str, Any]:
    return {**{name: getattr(row, name) for name in _OF_ROW}, "cause": row.top_cause}


def summary(row: IncidentRow) -> IncidentSummary:
    return IncidentSummary.model_validate(fields_of(row))


def _ranked(hypotheses: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(hypotheses, key=lambda h: -h["posterior"])


def _finding(row: IncidentFindingRow) -> IncidentFinding:
    state = "active" if row.cleared_at is None else "cleared"
    fields = {name: getattr(row, name) for name in _OF_FINDING}
    return IncidentFinding.model_validate({**fields, "state": state, "hypotheses": _ranked(row.hypotheses)})


@dataclass
class Parts:
    """What belongs to one incident beside its row."""

    lead: IncidentFindingRow | None = None
    findings: Sequence[IncidentFindingRow] = ()
    merged: list[UUID] = field(default_factory=list)
    remedy_ids: list[UUID] = field(default_factory=list)
    timeline: list[TimelineRow] = field(default_factory=list)


def assembled(row: IncidentRow, parts: Parts) -> Incident:
    lead = parts.lead
    return Incident.model_validate(
        {
            **fields_of(row),
            "finding_id": row.finding_id,
            "rule": lead.rule if lead is not None else "",
            "explanation": lead.explanation if lead is not None else "",
            "evidence": lead.evidence if lead is not None else [],
            "hypotheses": _ranked(lead.hypotheses) if lead is not None else [],
            "remedies": lead.remedies if lead is not None else [],
            "upgrade": upgrade_for(row.top_cause, lead, parts.findings),
            "remedy_ids": parts.remedy_ids,
            "findings": [_finding(one) for one in parts.findings],
            "merged": parts.merged,
            "timeline": [TimelineEntry.model_validate(entry, from_attributes=True) for entry in parts.timeline],
        }
    )


async def full(session: ReadSession, row: IncidentRow) -> Incident:
    """The incident with everything that belongs to it."""
    return (await full_many(session, [row]))[0]


async def full_many(session: ReadSession, rows: Sequence[IncidentRow]) -> list[Incident]:
    """Incidents with everything that belongs to them, in as many statements as for one."""
    parts = {row.id: Parts() for row in rows}
    owner = {id: id for id in parts}  # of each incident, also of those that were merged: which of these shows it
    for merged, into in (await repository.merged_into(session, list(parts))).items():
        parts[into].merged.append(merged)
        owner[merged] = into
    for id, findings in (await members.shown(session, list(parts))).items():
        parts[id].findings = findings
    leads = {one.finding_id: one for part in parts.values() for one in part.findings[:1]}
    away = [row.finding_id for row in rows if row.finding_id not in leads]  # of an incident whose findings were merged into another
    leads |= await members.some(session, away) if away else {}
    for row in rows:
        parts[row.id].lead = leads.get(row.finding_id)
    for remedy_id, incident_id in await remedies.ids_of_incidents(session, list(owner)):
        parts[owner[incident_id]].remedy_ids.append(remedy_id)
    for entry in await repository.timelines(session, list(owner)):
        parts[owner[entry.incident_id]].timeline.append(entry)
    return [assembled(row, parts[row.id]) for row in rows]
