"""Queries of incidents and their timelines. Those of findings are in members.py."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Text, cast, delete, func, literal, select, text, tuple_, update

from wallwatch_backend.incidents.filters import IncidentFilter, ListQuery
from wallwatch_backend.incidents.models import CHANGE_SEQ, IncidentRow, NoticeRow, TimelineRow
from wallwatch_backend.incidents.selection import SEVERITY_RANK, conditions
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import any_of, array_of, changed

LOCK_GROUPING = 7_241_002
"""One transaction at a time decides which incidents there are: findings, merges, silences."""
LOCK_SEQ = 7_241_004
"""Held from the drawing of a number of the change feed to the commit, so that the numbers grow in the order of commits. Taken after every
lock on rows of incidents: two that hold one kind and wait for the other would wait for ever."""

SORT_COLUMNS = {"opened_at": IncidentRow.opened_at, "updated_at": IncidentRow.updated_at}


async def page(session: ReadSession, query: ListQuery, after: tuple[Any, ...] | None) -> Sequence[IncidentRow]:
    """One row more than asked for, sorted; `after` is the sort key of the last row before."""
    key: list[Any] = [SEVERITY_RANK, IncidentRow.opened_at] if query.sort == "severity" else [SORT_COLUMNS[query.sort]]
    key.append(IncidentRow.id)
    wanted = select(IncidentRow).where(*conditions(query))
    if after is not None:
        wanted = wanted.where(tuple_(*key) < after if query.order == "desc" else tuple_(*key) > after)
    ordered = [column.desc() if query.order == "desc" else column.asc() for column in key]
    return (await session.scalars(wanted.order_by(*ordered).limit(query.limit + 1))).all()


async def ids(session: ReadSession, chosen: IncidentFilter, limit: int) -> Sequence[UUID]:
    return (await session.scalars(select(IncidentRow.id).where(*conditions(chosen)).order_by(IncidentRow.id).limit(limit))).all()


async def count(session: ReadSession, chosen: IncidentFilter) -> int:
    return (await session.execute(select(func.count()).select_from(IncidentRow).where(*conditions(chosen)))).scalar_one()


async def count_by(session: ReadSession, chosen: IncidentFilter, facet: str) -> dict[str, int]:
    """Incidents by the values of one filter, under all others."""
    columns: dict[str, Any] = {
        "state": IncidentRow.state,
        "severity": IncidentRow.severity,
        "cause": IncidentRow.top_cause,
        "scope": IncidentRow.scope,
        "symptom": func.unnest(IncidentRow.symptoms),
    }
    chosen_rows = select(columns[facet].label("value")).where(*conditions(chosen, without=facet)).subquery()
    query = select(chosen_rows.c.value, func.count()).where(chosen_rows.c.value.is_not(None)).group_by(chosen_rows.c.value)
    return {row[0]: row[1] for row in await session.execute(query)}


async def count_by_state(session: ReadSession) -> dict[str, int]:
    query = select(IncidentRow.state, func.count()).where(IncidentRow.merged_into.is_(None)).group_by(IncidentRow.state)
    return {row[0]: row[1] for row in await session.execute(query)}


async def after_seq(session: ReadSession, since: int, limit: int) -> Sequence[IncidentRow]:
    return (await session.scalars(select(IncidentRow).where(IncidentRow.seq > since).order_by(IncidentRow.seq).limit(limit))).all()


async def one(session: ReadSession, incident_id: UUID) -> IncidentRow | None:
    return await session.get(IncidentRow, incident_id)


async def one_locked(session: WriteSession, incident_id: UUID) -> IncidentRow | None:
    found = await some_locked(session, [incident_id])
    return found[0] if found else None


async def some_locked(session: WriteSession, incident_ids: Sequence[UUID]) -> Sequence[IncidentRow]:
    """Rows in the order of their ids, which is the order in which everyone locks them."""
    query = select(IncidentRow).where(IncidentRow.id.in_(incident_ids)).order_by(IncidentRow.id)
    return (await session.scalars(query.with_for_update().execution_options(populate_existing=True))).all()


async def some(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[IncidentRow]:
    return (await session.scalars(select(IncidentRow).where(IncidentRow.id == any_of(incident_ids)))).all()


async def merged_into(session: ReadSession, incident_ids: Sequence[UUID]) -> dict[UUID, UUID]:
    """Incidents that were merged into these, by their beginning, each with the one that has its findings."""
    i = IncidentRow
    query = select(i.id, i.merged_into).where(i.merged_into == any_of(incident_ids)).order_by(i.opened_at, i.id)
    return {row.id: row.merged_into for row in await session.execute(query)}


async def repoint_merged(session: WriteSession, sources: Sequence[UUID], target: UUID) -> None:
    """Incidents that were merged into `sources` earlier answer with `target` from now on."""
    query = update(IncidentRow).where(IncidentRow.merged_into.in_(sources)).values(merged_into=target)
    await session.execute(query.execution_options(synchronize_session=False))


async def timelines(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[TimelineRow]:
    """What happened in these incidents. Event times come late, so by time."""
    query = select(TimelineRow).where(TimelineRow.incident_id == any_of(incident_ids))
    return (await session.scalars(query.order_by(TimelineRow.at, TimelineRow.id))).all()


async def lock_grouping(session: WriteSession) -> None:
    await session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK_GROUPING})


async def add(session: WriteSession, row: IncidentRow) -> None:
    session.add(row)
    await session.flush()


def add_timeline(session: WriteSession, **values: Any) -> None:
    session.add(TimelineRow(**values))


async def next_seq(session: WriteSession, incident_id: UUID) -> int:
    """Give an incident the next number of the change feed. From here to the commit no other transaction gets one."""
    query = text(
        "WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(:lock)) "
        "UPDATE incident SET seq = nextval('incident_change_seq') FROM held WHERE id = :id RETURNING seq"
    )
    return int((await session.execute(query, {"lock": LOCK_SEQ, "id": incident_id})).scalar_one())


# Many at once: one statement each, whatever their number.


async def lock_many(session: WriteSession, incident_ids: Sequence[UUID]) -> Sequence[Any]:
    """Lock incidents; return (id, state, assignee, merged_into, acknowledged_by) of those that there are."""
    i = IncidentRow
    columns = (i.id, i.state, i.assignee, i.merged_into, i.acknowledged_by)
    query = select(*columns).where(IncidentRow.id == any_of(incident_ids)).order_by(IncidentRow.id).with_for_update()
    return (await session.execute(query)).all()


async def suppressed_from_the_start(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[UUID]:
    """Those that were suppressed when they were opened, so that nobody was told of them."""
    i = IncidentRow
    return (await session.scalars(select(i.id).where(i.id == any_of(incident_ids), i.suppressed_at <= i.created_at))).all()


async def update_many(session: WriteSession, incident_ids: Sequence[UUID], at: datetime, **values: Any) -> int:
    """Change incidents that are locked, each with a new version and its own number of the change feed."""
    await session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK_SEQ})
    query = (
        update(IncidentRow)
        .where(IncidentRow.id == any_of(incident_ids))
        .values(version=IncidentRow.version + 1, seq=CHANGE_SEQ.next_value(), updated_at=at, **values)
        .execution_options(synchronize_session=False)
    )
    return changed(await session.execute(query))


async def note_many(
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


async def over_before(session: WriteSession, at: datetime, limit: int) -> Sequence[UUID]:
    """Lock unresolved incidents whose symptoms ended before; those that someone is changing wait for the next time."""
    i = IncidentRow
    query = select(i.id).where(i.state != "resolved", i.active.is_(False), i.over_since <= at).order_by(i.over_since).limit(limit)
    return (await session.scalars(query.with_for_update(skip_locked=True))).all()


async def take_notices(session: WriteSession, limit: int) -> list[tuple[UUID, str, datetime]]:
    """Remove the oldest notices and return them: (incident, event, time)."""
    oldest = select(NoticeRow.id).order_by(NoticeRow.id).limit(limit).with_for_update(skip_locked=True)
    query = delete(NoticeRow).where(NoticeRow.id.in_(oldest)).returning(NoticeRow.id, NoticeRow.incident_id, NoticeRow.event, NoticeRow.at)
    rows = (await session.execute(query.execution_options(synchronize_session=False))).all()
    return [(row.incident_id, row.event, row.at) for row in sorted(rows, key=lambda row: row.id)]


async def in_blocks(session: ReadSession, chosen: IncidentFilter) -> AsyncIterator[Sequence[IncidentRow]]:
    """All incidents that the filters leave, newest first, some hundred at a time."""
    query = select(IncidentRow).where(*conditions(chosen)).order_by(IncidentRow.opened_at.desc(), IncidentRow.id.desc())
    await session.one_transaction()
    result = await session.stream_scalars(query.execution_options(yield_per=500))
    async for rows in result.partitions():
        yield rows
