"""Queries of webhooks, deliveries and attempts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, delete, func, select, tuple_

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import changed
from wallwatch_backend.webhooks.models import AttemptRow, DeliveryRow, WebhookRow


async def page(session: ReadSession, after: tuple[datetime, UUID] | None, limit: int) -> Sequence[WebhookRow]:
    query = select(WebhookRow).order_by(WebhookRow.created_at, WebhookRow.id).limit(limit)
    if after is not None:
        query = query.where(tuple_(WebhookRow.created_at, WebhookRow.id) > after)
    return (await session.scalars(query)).all()


async def one(session: ReadSession, webhook_id: UUID) -> WebhookRow | None:
    return await session.get(WebhookRow, webhook_id)


async def one_locked(session: WriteSession, webhook_id: UUID) -> WebhookRow | None:
    return (await session.scalars(select(WebhookRow).where(WebhookRow.id == webhook_id).with_for_update())).one_or_none()


async def add(session: WriteSession, row: WebhookRow | DeliveryRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def subscribed(session: WriteSession, event: str) -> Sequence[UUID]:
    query = select(WebhookRow.id).where(WebhookRow.enabled, WebhookRow.events.contains([event]))
    return (await session.scalars(query)).all()


async def delete_one(session: WriteSession, webhook_id: UUID) -> str | None:
    return (await session.execute(delete(WebhookRow).where(WebhookRow.id == webhook_id).returning(WebhookRow.name))).scalar_one_or_none()


async def delivery_page(
    session: ReadSession, webhook_id: UUID, state: str | None, before: tuple[datetime, UUID] | None, limit: int
) -> Sequence[DeliveryRow]:
    query = select(DeliveryRow).where(DeliveryRow.webhook_id == webhook_id)
    if state is not None:
        query = query.where(DeliveryRow.state == state)
    if before is not None:
        query = query.where(tuple_(DeliveryRow.created_at, DeliveryRow.id) < before)
    return (await session.scalars(query.order_by(DeliveryRow.created_at.desc(), DeliveryRow.id.desc()).limit(limit))).all()


async def delivery_locked(session: WriteSession, webhook_id: UUID, delivery_id: UUID) -> DeliveryRow | None:
    query = select(DeliveryRow).where(DeliveryRow.id == delivery_id, DeliveryRow.webhook_id == webhook_id).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def attempts(session: ReadSession, delivery_ids: Sequence[UUID]) -> Sequence[AttemptRow]:
    query = select(AttemptRow).where(AttemptRow.delivery_id.in_(delivery_ids)).order_by(AttemptRow.id)
    return (await session.scalars(query)).all()


async def claim_due(session: WriteSession, at: datetime, lease: timedelta, limit: int) -> Sequence[Row[DeliveryRow, WebhookRow]]:
    """Take deliveries that are due and push each one's time back: if this process dies, it falls due again after the lease."""
    query = (
        select(DeliveryRow, WebhookRow)
        .join(WebhookRow, WebhookRow.id == DeliveryRow.webhook_id)
        .where(DeliveryRow.state == "pending", DeliveryRow.next_attempt_at <= at)
        .order_by(DeliveryRow.next_attempt_at)
        .limit(limit)
        .with_for_update(of=DeliveryRow, skip_locked=True)
    )
    rows = (await session.execute(query)).all()
    for delivery, _ in rows:
        delivery.next_attempt_at = at + lease
    return rows


async def next_due(session: ReadSession) -> datetime | None:
    return (await session.execute(select(func.min(DeliveryRow.next_attempt_at)).where(DeliveryRow.state == "pending"))).scalar_one()


def add_attempt(session: WriteSession, **values: Any) -> None:
    session.add(AttemptRow(**values))


async def delete_finished_before(session: WriteSession, at: datetime) -> int:
    query = delete(DeliveryRow).where(DeliveryRow.state != "pending", DeliveryRow.created_at < at)
    return changed(await session.execute(query))
