"""Turns rows into what the API and webhooks show."""

from collections.abc import Sequence

from wallwatch_backend.incidents import repository
from wallwatch_backend.incidents.models import IncidentRow, TimelineRow
from wallwatch_backend.incidents.schemas import Evidence, Hypothesis, Incident, IncidentSummary, SuggestedRemedy, TimelineEntry
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies import repository as remedies


def summary(row: IncidentRow) -> IncidentSummary:
    return IncidentSummary.model_validate(row, from_attributes=True)


def _full(row: IncidentRow, timeline: Sequence[TimelineRow], remedy_ids: Sequence[object]) -> Incident:
    hypotheses = [Hypothesis.model_validate(h) for h in row.hypotheses]
    return Incident.model_validate(
        {
            **summary(row).model_dump(),
            "rule": row.rule,
            "finding_id": row.finding_id,
            "reopened": row.reopened,
            "evidence": [Evidence.model_validate(e) for e in row.evidence],
            "hypotheses": sorted(hypotheses, key=lambda h: -h.posterior),
            "remedies": [SuggestedRemedy.model_validate(r) for r in row.remedies],
            "remedy_ids": remedy_ids,
            "timeline": [TimelineEntry.model_validate(t, from_attributes=True) for t in timeline],
        }
    )


async def full(session: ReadSession, row: IncidentRow) -> Incident:
    """The incident with everything that belongs to it."""
    return _full(row, await repository.timeline(session, row.id), await remedies.ids_of_incident(session, row.id))
