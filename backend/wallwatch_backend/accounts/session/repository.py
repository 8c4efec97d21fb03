"""Queries of sign-in sessions."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select

from wallwatch_backend.accounts.users.models import SessionRow, UserRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import changed


def add(session: WriteSession, row: SessionRow) -> None:
    session.add(row)


async def user_of(session: ReadSession, secret_hash: bytes, at: datetime) -> UserRow | None:
    """Return the account of a valid session."""
    query = (
        select(UserRow)
        .join(SessionRow, SessionRow.user_id == UserRow.id)
        .where(SessionRow.secret_hash == secret_hash, SessionRow.expires_at > at, UserRow.disabled.is_(False))
    )
    return (await session.scalars(query)).one_or_none()


async def roles_of(session: ReadSession, secret_hashes: Sequence[bytes], at: datetime) -> dict[bytes, str]:
    """Return the role of each of these sessions that is valid."""
    query = (
        select(SessionRow.secret_hash, UserRow.role)
        .join(UserRow, SessionRow.user_id == UserRow.id)
        .where(SessionRow.secret_hash.in_(secret_hashes), SessionRow.expires_at > at, UserRow.disabled.is_(False))
    )
    return {row.secret_hash: row.role for row in await session.execute(query)}


async def delete_one(session: WriteSession, secret_hash: bytes) -> bool:
    return changed(await session.execute(delete(SessionRow).where(SessionRow.secret_hash == secret_hash))) > 0


async def delete_expired(session: WriteSession, at: datetime) -> int:
    return changed(await session.execute(delete(SessionRow).where(SessionRow.expires_at <= at)))
