"""Queries of webhooks."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, exists, func, select, text, tuple_, update

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.notify.models import DeliveryRow, GroupRow, WebhookRow
from wallwatch_backend.notify.states import DeliveryState


async def page(session: ReadSession, after: tuple[datetime, UUID] | None, limit: int) -> Sequence[WebhookRow]:
    query = select(WebhookRow).order_by(WebhookRow.created_at, WebhookRow.id).limit(limit)
    if after is not None:
        query = query.where(tuple_(WebhookRow.created_at, WebhookRow.id) > after)
    return (await session.scalars(query)).all()


async def get(session: ReadSession, webhook_id: UUID) -> WebhookRow | None:
    return await session.get(WebhookRow, webhook_id)


async def get_locked(session: WriteSession, webhook_id: UUID) -> WebhookRow | None:
    return (await session.scalars(select(WebhookRow).where(WebhookRow.id == webhook_id).with_for_update())).one_or_none()


async def add(session: WriteSession, row: WebhookRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def any_enabled(session: ReadSession) -> bool:
    return bool((await session.execute(select(exists().where(WebhookRow.enabled)))).scalar_one())


async def subscribed_to(session: ReadSession, event: str) -> Sequence[WebhookRow]:
    """Enabled webhooks that subscribe to an event."""
    query = select(WebhookRow).where(WebhookRow.enabled, WebhookRow.events.contains([event]))
    return (await session.scalars(query.order_by(WebhookRow.created_at, WebhookRow.id))).all()


async def remove(session: WriteSession, webhook_id: UUID) -> str | None:
    return (await session.execute(delete(WebhookRow).where(WebhookRow.id == webhook_id).returning(WebhookRow.name))).scalar_one_or_none()


async def dead_letter_counts(session: ReadSession, webhook_ids: Collection[UUID]) -> dict[UUID, int]:
    query = (
        select(DeliveryRow.webhook_id, func.count())
        .where(DeliveryRow.state == DeliveryState.failed, DeliveryRow.webhook_id.in_(webhook_ids))
        .group_by(DeliveryRow.webhook_id)
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def reschedule_repeats(session: WriteSession, webhook_id: UUID, repeat_interval_s: int | None) -> None:
    """Apply a new repeat interval to notifications already sent; a repetition that is overdue by it is due at once."""
    statement = update(GroupRow).where(GroupRow.webhook_id == webhook_id, GroupRow.last_sent_at.is_not(None))
    if repeat_interval_s is None:
        await session.execute(statement.values(repeat_at=None))
        return
    seconds = text("make_interval(secs => :seconds)").bindparams(seconds=repeat_interval_s)
    await session.execute(statement.values(repeat_at=GroupRow.last_sent_at + seconds))
