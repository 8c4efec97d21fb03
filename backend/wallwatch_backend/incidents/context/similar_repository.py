"""Queries of similar past incidents."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, case, or_, select
from sqlalchemy.dialects.postgresql import distinct_on

from wallwatch_backend.incidents.models import IncidentRow as I
from wallwatch_backend.incidents.models import TimelineRow
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession


async def similar(session: ReadSession, row: I, limit: int) -> Sequence[I]:
    """Resolved incidents with its cause or one of its symptoms, ranked by both, then by model, firmware and host, then newest first."""

    def points_if(points: int, holds: ColumnElement[bool]) -> ColumnElement[int]:
        return case((holds, points), else_=0)

    same_cause, same_symptom = I.top_cause == row.top_cause, I.symptoms.overlap(row.symptoms)
    score = (
        points_if(16, same_cause)
        + points_if(8, same_symptom)
        + points_if(4, I.model == row.model)
        + points_if(2, I.fw_ver == row.fw_ver)
        + points_if(1, I.hosts.overlap(row.hosts))
    )
    query = (
        select(I)
        .where(I.id != row.id, I.state == IncidentState.resolved, I.merged_into.is_(None), or_(same_cause, same_symptom))
        .order_by(score.desc(), I.resolved_at.desc(), I.id)
        .limit(limit)
    )
    return (await session.scalars(query)).all()


async def last_comments(session: ReadSession, incident_ids: Sequence[UUID]) -> dict[UUID, str]:
    t = TimelineRow
    query = (
        select(t.incident_id, t.text)
        .ext(distinct_on(t.incident_id))
        .where(t.incident_id.in_(incident_ids), t.kind == "comment")
        .order_by(t.incident_id, t.id.desc())
    )
    return {row[0]: row[1] for row in await session.execute(query)}
