"""Queries of queued events, groups, and what each webhook was sent of each incident."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, insert, or_, select, tuple_

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.notify.models import DeliveryRow, EventRow, GroupRow, MemberRow, WebhookRow


async def add_events(session: WriteSession, events: Sequence[dict[str, Any]]) -> None:
    await session.execute(insert(EventRow), events)


async def lock_events(session: WriteSession, limit: int) -> Sequence[EventRow]:
    query = select(EventRow).order_by(EventRow.id).limit(limit).with_for_update(skip_locked=True)
    return (await session.scalars(query)).all()


async def delete_events(session: WriteSession, ids: Collection[int]) -> None:
    await session.execute(delete(EventRow).where(EventRow.id.in_(ids)))


async def enabled_webhooks(session: ReadSession) -> Sequence[WebhookRow]:
    return (await session.scalars(select(WebhookRow).where(WebhookRow.enabled).order_by(WebhookRow.created_at, WebhookRow.id))).all()


async def members_of_incidents(session: WriteSession, incident_ids: Collection[UUID]) -> Sequence[MemberRow]:
    return (await session.scalars(select(MemberRow).where(MemberRow.incident_id.in_(incident_ids)))).all()


async def members_of_group(session: WriteSession, group_id: UUID) -> Sequence[MemberRow]:
    query = select(MemberRow).where(MemberRow.group_id == group_id).order_by(MemberRow.changed_at.desc(), MemberRow.incident_id)
    return (await session.scalars(query)).all()


async def groups_by_key(session: WriteSession, keys: Collection[tuple[UUID, str]]) -> Sequence[GroupRow]:
    return (await session.scalars(select(GroupRow).where(tuple_(GroupRow.webhook_id, GroupRow.key).in_(keys)))).all()


async def due_groups(session: WriteSession, at: datetime, limit: int) -> Sequence[GroupRow]:
    query = (
        select(GroupRow)
        .where(or_(GroupRow.due_at <= at, GroupRow.repeat_at <= at))
        .order_by(func.least(GroupRow.due_at, GroupRow.repeat_at), GroupRow.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return (await session.scalars(query)).all()


async def next_timer(session: ReadSession) -> datetime | None:
    query = select(func.min(GroupRow.due_at), func.min(GroupRow.repeat_at))
    return min((time for time in (await session.execute(query)).one() if time is not None), default=None)


async def delete_members(session: WriteSession, webhook_and_incident: Collection[tuple[UUID, UUID]]) -> None:
    await session.execute(delete(MemberRow).where(tuple_(MemberRow.webhook_id, MemberRow.incident_id).in_(webhook_and_incident)))


async def add_all(session: WriteSession, *rows: Iterable[GroupRow | MemberRow | DeliveryRow]) -> None:
    """Write new rows kind by kind, so that rows exist before those that refer to them."""
    for kind in rows:
        session.add_all(kind)
        await session.flush()


async def delete_empty_groups(session: WriteSession, ids: Collection[UUID]) -> None:
    await session.execute(
        delete(GroupRow).where(GroupRow.id.in_(ids), ~select(MemberRow.group_id).where(MemberRow.group_id == GroupRow.id).exists())
    )
