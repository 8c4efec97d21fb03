"""Queries of captures."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select, tuple_, update
from sqlalchemy.orm import undefer

from wallwatch_backend.captures.models import CaptureRow, SeriesRow
from wallwatch_backend.captures.states import OPEN, CaptureState
from wallwatch_backend.kit.database import ReadSession, WriteSession

C, S = CaptureRow, SeriesRow


async def add(session: WriteSession, row: CaptureRow) -> None:
    session.add(row)
    await session.flush()


async def one(session: ReadSession, capture_id: UUID, *, whole: bool = False) -> CaptureRow | None:
    query = select(C).where(C.id == capture_id)
    if whole:
        query = query.options(undefer(C.result))
    return (await session.scalars(query)).one_or_none()


async def page(session: ReadSession, *, before: tuple[datetime, UUID] | None, limit: int) -> Sequence[CaptureRow]:
    """Newest first."""
    query = select(C)
    if before is not None:
        query = query.where(tuple_(C.created_at, C.id) < before)
    return (await session.scalars(query.order_by(C.created_at.desc(), C.id.desc()).limit(limit))).all()


async def labels(session: ReadSession, capture_id: UUID) -> Sequence[SeriesRow]:
    return (await session.scalars(select(S).where(S.capture_id == capture_id).order_by(S.place))).all()


async def series(session: ReadSession, capture_id: UUID, place: int) -> SeriesRow | None:
    query = select(S).where(S.capture_id == capture_id, S.place == place).options(undefer(S.body))
    return (await session.scalars(query)).one_or_none()


async def add_series(session: WriteSession, capture_id: UUID, rows: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    session.add_all(SeriesRow(capture_id=capture_id, place=place, label=label, body=body) for place, (label, body) in enumerate(rows))
    await session.flush()


async def change(session: WriteSession, capture_id: UUID, **values: Any) -> bool:
    """Write these columns; False when the capture was deleted."""
    found = await session.execute(update(C).where(C.id == capture_id).values(**values).returning(C.id))
    return found.first() is not None


async def beat(session: WriteSession, ids: Collection[UUID], at: datetime) -> None:
    """The replica that holds these files is alive."""
    if ids:
        await session.execute(update(C).where(C.id.in_(ids), C.state.in_(OPEN)).values(heartbeat_at=at))


async def fail_orphans(session: WriteSession, silent_since: datetime, at: datetime, problem: str) -> None:
    """Captures whose replica died with their file."""
    query = (
        update(C).where(C.state.in_(OPEN), C.heartbeat_at < silent_since).values(state=CaptureState.failed, problem=problem, ended_at=at)
    )
    await session.execute(query)


async def remove(session: WriteSession, capture_id: UUID) -> None:
    await session.execute(delete(C).where(C.id == capture_id))


async def remove_older(session: WriteSession, than: datetime) -> None:
    await session.execute(delete(C).where(C.created_at < than, C.state.not_in(OPEN)))
