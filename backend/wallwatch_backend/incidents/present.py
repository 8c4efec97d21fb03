"""Turns rows into what the API and webhooks show."""

from collections.abc import Sequence
from typing import Any

from wallwatch_backend.incidents import members, repository
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.schemas import Incident, IncidentFinding, IncidentSummary, TimelineEntry
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


async def full(session: ReadSession, row: IncidentRow) -> Incident:
    """The incident with everything that belongs to it."""
    lead = await members.one(session, row.finding_id)
    merged = await repository.merged_into(session, row.id)
    return Incident.model_validate(
        {
            **fields_of(row),
            "finding_id": row.finding_id,
            "rule": lead.rule if lead is not None else "",
            "explanation": lead.explanation if lead is not None else "",
            "evidence": lead.evidence if lead is not None else [],
            "hypotheses": _ranked(lead.hypotheses) if lead is not None else [],
            "remedies": lead.remedies if lead is not None else [],
            "remedy_ids": await remedies.ids_of_incidents(session, [row.id, *merged]),
            "findings": [_finding(one) for one in await members.shown(session, row.id, row.finding_id)],
            "merged": merged,
            "timeline": [TimelineEntry.model_validate(t, from_attributes=True) for t in await repository.timeline(session, row.id)],
        }
    )
