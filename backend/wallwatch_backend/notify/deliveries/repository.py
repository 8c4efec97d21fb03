"""Queries of deliveries and their attempts."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, and_, delete, exists, func, or_, select, tuple_, update
from sqlalchemy.orm import aliased

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import changed
from wallwatch_backend.notify.models import AttemptRow, DeliveryRow, WebhookRow
from wallwatch_backend.notify.states import DeliveryState

_Earlier = aliased(DeliveryRow)
_D = DeliveryRow


async def add(session: WriteSession, row: DeliveryRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def page(
    session: ReadSession,
    webhook_id: UUID,
    *,
    state: str | None,
    event: str | None,
    text: str | None,
    before: tuple[datetime, UUID] | None,
    limit: int,
) -> Sequence[DeliveryRow]:
    query = select(_D).where(_D.webhook_id == webhook_id)
    for column, value in ((_D.state, state), (_D.event, event)):
        if value is not None:
            query = query.where(column == value)
    if text is not None:
        query = query.where(_D.about.icontains(text, autoescape=True))
    if before is not None:
        query = query.where(tuple_(_D.created_at, _D.id) < before)
    return (await session.scalars(query.order_by(_D.created_at.desc(), _D.id.desc()).limit(limit))).all()


async def dead_letter_page(session: ReadSession, before: tuple[datetime, UUID] | None, limit: int) -> Sequence[Row[DeliveryRow, str]]:
    query = select(_D, WebhookRow.name).join(WebhookRow, WebhookRow.id == _D.webhook_id).where(_D.state == DeliveryState.failed)
    if before is not None:
        query = query.where(tuple_(_D.created_at, _D.id) < before)
    return (await session.execute(query.order_by(_D.created_at.desc(), _D.id.desc()).limit(limit))).all()


async def replay_failed(session: WriteSession, webhook_id: UUID | None, at: datetime) -> int:
    statement = update(_D).where(_D.state == DeliveryState.failed).values(state=DeliveryState.pending, next_attempt_at=at, attempt_count=0)
    if webhook_id is not None:
        statement = statement.where(_D.webhook_id == webhook_id)
    return changed(await session.execute(statement))


async def get(session: ReadSession, webhook_id: UUID, delivery_id: UUID) -> DeliveryRow | None:
    return (await session.scalars(select(_D).where(_D.id == delivery_id, _D.webhook_id == webhook_id))).one_or_none()


async def get_locked(session: WriteSession, webhook_id: UUID, delivery_id: UUID) -> DeliveryRow | None:
    query = select(_D).where(_D.id == delivery_id, _D.webhook_id == webhook_id).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def get_many_locked(session: WriteSession, webhook_id: UUID, delivery_ids: Sequence[UUID]) -> dict[UUID, DeliveryRow]:
    query = select(_D).where(_D.id.in_(delivery_ids), _D.webhook_id == webhook_id).order_by(_D.id).with_for_update()
    return {row.id: row for row in await session.scalars(query)}


async def attempts(session: ReadSession, delivery_ids: Sequence[UUID]) -> Sequence[AttemptRow]:
    query = select(AttemptRow).where(AttemptRow.delivery_id.in_(delivery_ids)).order_by(AttemptRow.id)
    return (await session.scalars(query)).all()


def _is_next() -> ColumnElement[bool]:
    """No earlier delivery of the same subject is pending: a resolution must not overtake the opening."""
    earlier = (
        _Earlier.webhook_id == _D.webhook_id,
        _Earlier.subject == _D.subject,
        _Earlier.seq < _D.seq,
        _Earlier.state == DeliveryState.pending,
    )
    return ~exists().where(*earlier)


def _due(at: datetime, longest: timedelta) -> ColumnElement[bool]:
    """Pending deliveries whose time has come. A time that no wait leads to was set by a clock that was ahead: those are due too."""
    return and_(_D.state == DeliveryState.pending, or_(_D.next_attempt_at <= at, _D.next_attempt_at > at + longest), _is_next())


async def webhooks_with_due(session: ReadSession, at: datetime, longest: timedelta, busy: Collection[UUID]) -> Sequence[UUID]:
    """Webhooks with due deliveries, without the busy ones. `longest` is the longest wait between two attempts."""
    query = select(_D.webhook_id).where(_due(at, longest), _D.webhook_id.not_in(busy))
    return (await session.scalars(query.distinct())).all()


async def claim_due(
    session: WriteSession, webhook_id: UUID, at: datetime, lease: timedelta, longest: timedelta, limit: int
) -> Sequence[Row[DeliveryRow, WebhookRow]]:
    """Lock a webhook's due deliveries and postpone them by the lease: if this process dies, they fall due again after it."""
    query = (
        select(DeliveryRow, WebhookRow)
        .join(WebhookRow, WebhookRow.id == DeliveryRow.webhook_id)
        .where(_D.webhook_id == webhook_id, _due(at, longest))
        .order_by(_D.next_attempt_at, _D.seq)
        .limit(limit)
        .with_for_update(of=DeliveryRow, skip_locked=True)
    )
    rows = (await session.execute(query)).all()
    for row, _ in rows:
        row.next_attempt_at = at + lease
    return rows


async def next_due(session: ReadSession, busy: Collection[UUID]) -> datetime | None:
    query = select(func.min(_D.next_attempt_at)).where(_D.state == DeliveryState.pending, _D.webhook_id.not_in(busy), _is_next())
    return (await session.execute(query)).scalar_one()


def add_attempt(session: WriteSession, **values: Any) -> None:
    session.add(AttemptRow(**values))


async def delete_finished_before(session: WriteSession, at: datetime) -> int:
    query = delete(DeliveryRow).where(DeliveryRow.state != DeliveryState.pending, DeliveryRow.created_at < at)
    return changed(await session.execute(query))
