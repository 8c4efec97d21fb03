"""Queries of incidents and their timelines. Those of findings are in `finding_repository`; lists and counts in `listing`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Text, cast, delete, func, literal, select, text, update

from wallwatch_backend.incidents.models import CHANGE_SEQ, IncidentFindingRow, IncidentRow, NoticeRow, TimelineRow
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import any_of, array_of, changed

LOCK_GROUPING = 7_241_002
"""One transaction at a time decides which incidents exist: findings, merges, silences."""
LOCK_SEQ = 7_241_004
"""Held from drawing a number of the change feed to the commit, so that the numbers grow in the order of commits. Taken after every lock on
rows of incidents: two transactions that hold one kind of lock and wait for the other would deadlock."""


async def get(session: ReadSession, incident_id: UUID) -> IncidentRow | None:
    return await session.get(IncidentRow, incident_id)


async def get_locked(session: WriteSession, incident_id: UUID) -> IncidentRow | None:
    rows = await get_many_locked(session, [incident_id])
    return rows[0] if rows else None


async def get_many_locked(session: WriteSession, incident_ids: Sequence[UUID]) -> Sequence[IncidentRow]:
    """Lock incidents in the order of their ids: every transaction locks them in this order, so that none deadlock."""
    query = select(IncidentRow).where(IncidentRow.id.in_(incident_ids)).order_by(IncidentRow.id)
    return (await session.scalars(query.with_for_update().execution_options(populate_existing=True))).all()


async def get_many(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[IncidentRow]:
    return (await session.scalars(select(IncidentRow).where(IncidentRow.id == any_of(incident_ids)))).all()


async def merged_sources(session: ReadSession, incident_ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """Incidents that were merged into these, by start time: source -> the incident that has its findings."""
    i = IncidentRow
    query = select(i.id, i.merged_into).where(i.merged_into == any_of(incident_ids)).order_by(i.opened_at, i.id)
    return {row.id: row.merged_into for row in await session.execute(query)}


async def repoint_merged(session: WriteSession, sources: Sequence[UUID], target: UUID) -> None:
    """Let incidents that were merged into `sources` earlier point to `target`."""
    query = update(IncidentRow).where(IncidentRow.merged_into.in_(sources)).values(merged_into=target)
    await session.execute(query.execution_options(synchronize_session=False))


async def timelines(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[TimelineRow]:
    """Timeline entries of these incidents, by event time: entries may be written out of order."""
    query = select(TimelineRow).where(TimelineRow.incident_id == any_of(incident_ids))
    return (await session.scalars(query.order_by(TimelineRow.at, TimelineRow.id))).all()


async def states_of(session: ReadSession, incident_ids: Collection[UUID]) -> dict[UUID, str]:
    """States of those incidents that exist."""
    query = select(IncidentRow.id, IncidentRow.state).where(IncidentRow.id.in_(incident_ids))
    return {row.id: row.state for row in await session.execute(query)}


async def lock_grouping(session: WriteSession) -> None:
    await session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK_GROUPING})


async def add(session: WriteSession, row: IncidentRow) -> None:
    session.add(row)
    await session.flush()


def add_timeline(session: WriteSession, **values: Any) -> None:
    session.add(TimelineRow(**values))


async def next_seq(session: WriteSession, incident_id: UUID) -> int:
    """Give an incident the next number of the change feed. Until the commit no other transaction gets one."""
    query = text(
        "WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(:lock)) "
        "UPDATE incident SET seq = nextval('incident_change_seq') FROM held WHERE id = :id RETURNING seq"
    )
    return int((await session.execute(query, {"lock": LOCK_SEQ, "id": incident_id})).scalar_one())


# Bulk changes: one statement each, whatever the number of incidents.


async def lock_states(session: WriteSession, incident_ids: Sequence[UUID]) -> Sequence[Any]:
    """Lock incidents; return (id, state, assignee, merged_into, acknowledged_by) of those that exist."""
    i = IncidentRow
    columns = (i.id, i.state, i.assignee, i.merged_into, i.acknowledged_by)
    query = select(*columns).where(IncidentRow.id == any_of(incident_ids)).order_by(IncidentRow.id).with_for_update()
    return (await session.execute(query)).all()


async def suppressed_from_the_start(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[UUID]:
    """Those that were suppressed when they opened, so that nobody was notified of them."""
    i = IncidentRow
    return (await session.scalars(select(i.id).where(i.id == any_of(incident_ids), i.suppressed_at <= i.created_at))).all()


async def update_many(session: WriteSession, incident_ids: Sequence[UUID], at: datetime, **values: Any) -> int:
    """Change locked incidents; each gets a new version and its own number of the change feed."""
    await session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK_SEQ})
    query = (
        update(IncidentRow)
        .where(IncidentRow.id == any_of(incident_ids))
        .values(version=IncidentRow.version + 1, seq=CHANGE_SEQ.next_value(), updated_at=at, **values)
        .execution_options(synchronize_session=False)
    )
    return changed(await session.execute(query))


async def add_timeline_many(
    session: WriteSession, incident_ids: Sequence[UUID], at: datetime, kind: str, actor: str, text: str, data: dict[str, Any] | None = None
) -> None:
    rows = select(
        func.unnest(array_of(incident_ids)),
        literal(at),
        literal(kind),
        literal(actor),
        cast(literal(text), Text),
        literal(data or {}, TimelineRow.data.type),
    )
    table = TimelineRow.__table__
    await session.execute(table.insert().from_select(["incident_id", "at", "kind", "actor", "text", "data"], rows))  # type: ignore[attr-defined]  # a Table


async def add_notices(session: WriteSession, incident_ids: Sequence[UUID], event: str, at: datetime) -> None:
    rows = select(func.unnest(array_of(incident_ids)), literal(event), literal(at))
    await session.execute(NoticeRow.__table__.insert().from_select(["incident_id", "event", "at"], rows))  # type: ignore[attr-defined]  # a Table


async def lock_cleared_before(session: WriteSession, at: datetime, limit: int) -> Sequence[UUID]:
    """Lock unresolved incidents whose last symptom cleared before `at`, except those that another transaction is changing."""
    i = IncidentRow
    query = select(i.id).where(i.state != IncidentState.resolved, i.active.is_(False), i.cleared_at <= at)
    query = query.order_by(i.cleared_at).limit(limit)
    return (await session.scalars(query.with_for_update(skip_locked=True))).all()


async def pop_notices(session: WriteSession, limit: int) -> list[tuple[UUID, str, datetime]]:
    """Remove the oldest notices and return them: (incident, event, time)."""
    oldest = select(NoticeRow.id).order_by(NoticeRow.id).limit(limit).with_for_update(skip_locked=True)
    query = delete(NoticeRow).where(NoticeRow.id.in_(oldest)).returning(NoticeRow.id, NoticeRow.incident_id, NoticeRow.event, NoticeRow.at)
    rows = (await session.execute(query.execution_options(synchronize_session=False))).all()
    return [(row.incident_id, row.event, row.at) for row in sorted(rows, key=lambda row: row.id)]


async def hosts_of(session: ReadSession, incident_id: UUID) -> set[str]:
    """The hosts of an incident and of its findings; none when there is no such incident."""
    of_incident = select(IncidentRow.host).where(IncidentRow.id == incident_id)
    return set(
        await session.scalars(of_incident.union(select(IncidentFindingRow.host).where(IncidentFindingRow.incident_id == incident_id)))
    )
