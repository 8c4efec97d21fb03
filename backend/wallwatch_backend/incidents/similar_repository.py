"""Queries of past incidents."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on

from wallwatch_backend.incidents.models import IncidentRow as I
from wallwatch_backend.incidents.models import TimelineRow
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import RemedyRow

_HAPPENED = ("applied", "verified", "not_verified", "undone")


async def alike(session: ReadSession, row: I, limit: int) -> Sequence[I]:
    """Resolved incidents with its cause or a symptom of it: first what shares both, then model, firmware and host; then the newest."""

    def worth(points: int, holds: ColumnElement[bool]) -> ColumnElement[int]:
        return case((holds, points), else_=0)

    same_cause, same_symptom = I.top_cause == row.top_cause, I.symptoms.overlap(row.symptoms)
    score = (
        worth(16, same_cause)
        + worth(8, same_symptom)
        + worth(4, I.model == row.model)
        + worth(2, I.fw_ver == row.fw_ver)
        + worth(1, I.hosts.overlap(row.hosts))
    )
    query = (
        select(I)
        .where(I.id != row.id, I.state == "resolved", I.merged_into.is_(None), or_(same_cause, same_symptom))
        .order_by(score.desc(), I.resolved_at.desc(), I.id)
        .limit(limit)
    )
    return (await session.scalars(query)).all()


async def applied_remedies(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[tuple[UUID, RemedyRow]]:
    """(incident, remedy) of what was really done, oldest first; that of a merged incident counts for the one it was merged into."""
    owner = func.coalesce(I.merged_into, I.id)
    query = (
        select(owner, RemedyRow)
        .join(I, I.id == RemedyRow.incident_id)
        .where(owner.in_(incident_ids), RemedyRow.mode == "apply", RemedyRow.state.in_(_HAPPENED))
        .order_by(RemedyRow.created_at)
    )
    return [(row[0], row[1]) for row in await session.execute(query)]


async def last_comments(session: ReadSession, incident_ids: Sequence[UUID]) -> dict[UUID, str]:
    t = TimelineRow
    query = (
        select(t.incident_id, t.text)
        .ext(distinct_on(t.incident_id))
        .where(t.incident_id.in_(incident_ids), t.kind == "comment")
        .order_by(t.incident_id, t.id.desc())
    )
    return {row[0]: row[1] for row in await session.execute(query)}
