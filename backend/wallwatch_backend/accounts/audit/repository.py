"""Queries of the audit log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Text, cast, func, select

from wallwatch_backend.accounts.audit.chain import Event, Link
from wallwatch_backend.accounts.audit.models import AuditLinkRow, AuditRow
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


async def actors_of(session: ReadSession, action: str, target: str) -> Sequence[str]:
    """Who has done something to a target, each once."""
    query = select(AuditRow.actor).distinct().where(AuditRow.action == action, AuditRow.target == target, AuditRow.outcome == "ok")
    return (await session.scalars(query)).all()


async def count_refused(session: ReadSession, action: str, since: datetime, *, address: str | None, actor: str | None = None) -> int:
    """Count refusals of an action since a time, from one address, of one actor or of all."""
    query = select(func.count()).where(AuditRow.action == action, AuditRow.outcome == "refused", AuditRow.at >= since)
    query = query.where(AuditRow.address == address if address is not None else AuditRow.address.is_(None))
    if actor is not None:
        query = query.where(AuditRow.actor == actor)
    return (await session.execute(query)).scalar_one()


async def links_after(session: ReadSession, seq: int, limit: int) -> list[Link]:
    """Links of the chain after a number, in order, each with its row."""
    query = (
        select(AuditLinkRow, AuditRow, cast(AuditRow.detail, Text).label("detail_text"))
        .outerjoin(AuditRow, AuditRow.id == AuditLinkRow.event_id)
        .where(AuditLinkRow.seq > seq)
        .order_by(AuditLinkRow.seq)
        .limit(limit)
        .execution_options(populate_existing=True)
    )
    links = []
    for link, row, detail in (await session.execute(query)).all():
        event = None
        if row is not None:
            event = Event(row.id, row.at, row.actor, row.action, row.target, row.outcome, row.address, detail)
        links.append(Link(link.seq, link.event_id, link.previous, link.hash, event))
    session.expunge_all()  # a log of years must not stay in memory
    return links


async def without_link(session: ReadSession) -> tuple[int, int | None]:
    """Rows that are in no chain, which only a disabled trigger leaves: how many, and the first."""
    query = (
        select(func.count(), func.min(AuditRow.id))
        .outerjoin(AuditLinkRow, AuditLinkRow.event_id == AuditRow.id)
        .where(AuditLinkRow.seq.is_(None))
    )
    count, first = (await session.execute(query)).one()
    return count, first


async def head(session: ReadSession) -> AuditLinkRow | None:
    return (await session.scalars(select(AuditLinkRow).order_by(AuditLinkRow.seq.desc()).limit(1))).one_or_none()
