"""Queries of devices, campaigns and journals."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select, tuple_
from sqlalchemy.orm import undefer

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.lab.models import CampaignRow, DeviceRow, TestRow
from wallwatch_backend.lab.states import OPEN, CampaignState

C, D, T = CampaignRow, DeviceRow, TestRow
_BLOCK = 500


async def devices(session: ReadSession) -> Sequence[DeviceRow]:
    return (await session.scalars(select(D).order_by(D.name))).all()


async def device(session: ReadSession, name: str) -> DeviceRow | None:
    return (await session.scalars(select(D).where(D.name == name))).one_or_none()


async def add(session: WriteSession, row: CampaignRow) -> None:
    session.add(row)
    await session.flush()


async def one(session: ReadSession, campaign_id: UUID) -> CampaignRow | None:
    """A campaign with its report."""
    query = select(C).where(C.id == campaign_id).options(undefer(C.report)).execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def one_locked(session: WriteSession, campaign_id: UUID) -> CampaignRow | None:
    query = select(C).where(C.id == campaign_id).options(undefer(C.report)).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def page(
    session: ReadSession,
    *,
    device: str | None,
    state: str | None,
    incident_id: UUID | None,
    before: tuple[datetime, UUID] | None,
    limit: int,
) -> Sequence[CampaignRow]:
    """Campaigns with their reports, newest first."""
    query = select(C).options(undefer(C.report))
    if device is not None:
        query = query.where(C.device == device)
    if state is not None:
        query = query.where(C.state == state)
    if incident_id is not None:
        query = query.where(C.incident_id == incident_id)
    if before is not None:
        query = query.where(tuple_(C.created_at, C.id) < before)
    return (await session.scalars(query.order_by(C.created_at.desc(), C.id.desc()).limit(limit))).all()


async def open_locked(session: WriteSession) -> Sequence[CampaignRow]:
    """Every campaign that is not over, locked in the order of ids."""
    return (await session.scalars(select(C).where(C.state.in_(OPEN)).order_by(C.id).with_for_update())).all()


async def pending_since(session: WriteSession, at: datetime, limit: int) -> Sequence[CampaignRow]:
    """Campaigns that have waited for approval since before `at`, locked."""
    query = select(C).where(C.state == CampaignState.pending, C.created_at < at).order_by(C.id).limit(limit)
    return (await session.scalars(query.with_for_update(skip_locked=True))).all()


async def tests(session: ReadSession, campaign_id: UUID, *, after: int, limit: int, bad: bool) -> Sequence[TestRow]:
    """Tests and resets after a line of the journal; with `bad` only those that had a symptom."""
    query = select(T).where(T.campaign_id == campaign_id, T.line > after, T.entry["kind"].astext.in_(("test", "reset")))
    if bad:
        query = query.where(T.entry["symptoms"].astext.not_in(("[]", "null")))
    return (await session.scalars(query.order_by(T.line).limit(limit))).all()


async def journal(session: ReadSession, campaign_id: UUID) -> AsyncIterator[Sequence[dict[str, Any]]]:
    """The journal in blocks of lines."""
    after = -1
    while True:
        query = select(T.line, T.entry).where(T.campaign_id == campaign_id, T.line > after).order_by(T.line).limit(_BLOCK)
        rows = (await session.execute(query)).all()
        if not rows:
            return
        yield [row.entry for row in rows]
        after = rows[-1].line


async def unannounced(session: WriteSession, limit: int) -> Sequence[CampaignRow]:
    """Campaigns that ended and that nobody was notified of, locked."""
    query = select(C).where(C.ended_at.is_not(None), C.announced_at.is_(None)).order_by(C.ended_at).limit(limit)
    return (await session.scalars(query.options(undefer(C.report)).with_for_update(skip_locked=True))).all()
