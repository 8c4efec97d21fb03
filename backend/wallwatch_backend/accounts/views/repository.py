"""Queries of saved views."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, or_, select

from wallwatch_backend.accounts.views.models import ViewRow
from wallwatch_backend.kit.database import ReadSession, WriteSession


async def seen_by(session: ReadSession, owner: str) -> Sequence[ViewRow]:
    query = select(ViewRow).where(or_(ViewRow.owner == owner, ViewRow.shared)).order_by(ViewRow.name, ViewRow.id)
    return (await session.scalars(query)).all()


async def of_owner(session: WriteSession, owner: str, view_id: UUID) -> ViewRow | None:
    query = select(ViewRow).where(ViewRow.id == view_id, ViewRow.owner == owner).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def count(session: ReadSession, owner: str) -> int:
    return (await session.execute(select(func.count()).where(ViewRow.owner == owner))).scalar_one()


async def named(session: ReadSession, owner: str, name: str) -> ViewRow | None:
    return (await session.scalars(select(ViewRow).where(ViewRow.owner == owner, ViewRow.name == name))).one_or_none()


async def add(session: WriteSession, row: ViewRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)
