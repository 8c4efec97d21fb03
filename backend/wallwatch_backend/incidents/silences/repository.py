"""Queries of silences."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select, tuple_, update

from wallwatch.store.tables import rnic
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.silences.models import SilenceRow
from wallwatch_backend.incidents.silences.schemas import SilenceState
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import changed

S = SilenceRow


def _is(state: SilenceState, at: datetime) -> ColumnElement[bool]:
    if state == SilenceState.pending:
        return S.starts_at > at
    return and_(S.starts_at <= at, S.ends_at > at) if state == SilenceState.active else and_(S.starts_at <= at, S.ends_at <= at)


async def page(
    session: ReadSession, states: Sequence[SilenceState] | None, at: datetime, after: tuple[datetime, UUID] | None, limit: int
) -> Sequence[SilenceRow]:
    query = select(S).order_by(S.ends_at.desc(), S.id.desc()).limit(limit)
    if states:
        query = query.where(or_(*(_is(state, at) for state in states)))
    if after is not None:
        query = query.where(tuple_(S.ends_at, S.id) < after)
    return (await session.scalars(query)).all()


async def get(session: ReadSession, silence_id: UUID) -> SilenceRow | None:
    return await session.get(S, silence_id)


async def get_locked(session: WriteSession, silence_id: UUID) -> SilenceRow | None:
    query = select(S).where(S.id == silence_id).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def in_force(session: ReadSession, at: datetime) -> Sequence[SilenceRow]:
    return (await session.scalars(select(S).where(_is(SilenceState.active, at)).order_by(S.created_at, S.id))).all()


async def add(session: WriteSession, row: SilenceRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def remove(session: WriteSession, row: SilenceRow) -> None:
    await session.delete(row)
    await session.flush()


async def not_yet_applied(session: ReadSession, at: datetime) -> bool:
    """Whether a silence started or ended since silences were last applied to incidents."""
    query = select(S.id).where(S.applied != _is(SilenceState.active, at)).limit(1)
    return (await session.execute(query)).scalar_one_or_none() is not None


async def mark_applied(session: WriteSession, at: datetime) -> int:
    query = update(S).where(S.applied != _is(SilenceState.active, at)).values(applied=_is(SilenceState.active, at))
    return changed(await session.execute(query.execution_options(synchronize_session="fetch")))


async def suppressed_counts(session: ReadSession, silence_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Number of incidents that each silence suppresses now."""
    query = (
        select(IncidentRow.suppressed_by, func.count())
        .where(IncidentRow.suppressed_by.in_(silence_ids), IncidentRow.state == IncidentState.suppressed)
        .group_by(IncidentRow.suppressed_by)
    )
    return {row[0]: row[1] for row in (await session.execute(query)).all() if row[0] is not None}


async def rnics(session: ReadSession) -> Sequence[Any]:
    c = rnic.c
    return (await session.execute(select(c.host, c.rack, c.pci, c.model, c.fw_ver))).all()


async def request_reapplication(session: WriteSession, at: datetime) -> None:
    """Let the leader apply the active silences again."""
    query = update(S).where(_is(SilenceState.active, at)).values(applied=False)
    await session.execute(query.execution_options(synchronize_session=False))
