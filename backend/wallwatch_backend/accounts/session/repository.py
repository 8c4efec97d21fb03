"""Queries of sign-in sessions."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, delete, func, select, update

from wallwatch_backend.accounts.users.models import SessionRow, UserRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import changed

LISTED = 500
"""More sessions of one account are not listed; ending all others ends them too."""


def add(session: WriteSession, row: SessionRow) -> None:
    session.add(row)


_VALID = (  # each request asks it: put together once
    select(UserRow, SessionRow)
    .join(SessionRow, SessionRow.user_id == UserRow.id)
    .where(
        SessionRow.secret_hash.in_(bindparam("hashes", expanding=True)),
        SessionRow.expires_at > bindparam("at"),
        UserRow.disabled.is_(False),
    )
)


async def valid(session: ReadSession, secret_hashes: Sequence[bytes], at: datetime) -> Sequence[tuple[UserRow, SessionRow]]:
    """The sessions with these secrets that have not ended and whose account may sign in, each after its account."""
    return [(user, row) for user, row in await session.execute(_VALID, {"hashes": list(secret_hashes), "at": at})]


async def note_use(session: WriteSession, secret_hash: bytes, at: datetime) -> None:
    await session.execute(update(SessionRow).where(SessionRow.secret_hash == secret_hash).values(last_used_at=at))


async def of_user(session: ReadSession, user_id: UUID, at: datetime) -> Sequence[SessionRow]:
    """Return the valid sessions of an account, those used last first."""
    used = func.coalesce(SessionRow.last_used_at, SessionRow.created_at)
    query = select(SessionRow).where(SessionRow.user_id == user_id, SessionRow.expires_at > at)
    return (await session.scalars(query.order_by(used.desc(), SessionRow.id).limit(LISTED))).all()


async def delete_of_user(session: WriteSession, user_id: UUID, session_id: UUID) -> bool:
    return changed(await session.execute(delete(SessionRow).where(SessionRow.user_id == user_id, SessionRow.id == session_id))) > 0


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
