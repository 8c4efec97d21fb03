"""Queries of the audit log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from wallwatch_backend.audit.models import AuditRow
from wallwatch_backend.kit.database import ReadSession, WriteSession


def add(session: WriteSession, **values: Any) -> None:
    session.add(AuditRow(**values))


async def page(
    session: ReadSession,
    *,
    actor: str | None,
    action: str | None,
    since: datetime | None,
    until: datetime | None,
    before_id: int | None,
    limit: int,
) -> Sequence[AuditRow]:
    query = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
    if actor is not None:
        query = query.where(AuditRow.actor == actor)
    if action is not None:
        query = query.where(AuditRow.action.startswith(action, autoescape=True))
    if since is not None:
        query = query.where(AuditRow.at >= since)
    if until is not None:
        query = query.where(AuditRow.at < until)
    if before_id is not None:
        query = query.where(AuditRow.id < before_id)
    return (await session.scalars(query)).all()


async def count_refused(session: ReadSession, action: str, since: datetime, *, address: str | None, actor: str | None = None) -> int:
    """Count refusals of an action since a time, from one address, of one actor or of all."""
    query = select(func.count()).where(AuditRow.action == action, AuditRow.outcome == "refused", AuditRow.at >= since)
    query = query.where(AuditRow.address == address if address is not None else AuditRow.address.is_(None))
    if actor is not None:
        query = query.where(AuditRow.actor == actor)
    return (await session.execute(query)).scalar_one()
