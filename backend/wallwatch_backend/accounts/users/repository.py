"""Queries of local accounts."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, func, select

from wallwatch_backend.accounts.users.models import RecoveryCodeRow, SessionRow, UserRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import changed


async def page(session: ReadSession, after_name: str | None, limit: int) -> Sequence[UserRow]:
    query = select(UserRow).order_by(UserRow.username).limit(limit)
    if after_name is not None:
        query = query.where(UserRow.username > after_name)
    return (await session.scalars(query)).all()


async def by_name(session: ReadSession, username: str) -> UserRow | None:
    return (await session.scalars(select(UserRow).where(UserRow.username == username))).one_or_none()


async def assignable_names(session: ReadSession, containing: str, limit: int) -> Sequence[str]:
    """Names of accounts that can sign in, the name itself before those that contain it."""
    query = select(UserRow.username).where(UserRow.disabled.is_(False))
    if containing:
        query = query.where(UserRow.username.icontains(containing, autoescape=True))
    return (await session.scalars(query.order_by(UserRow.username != containing, UserRow.username).limit(limit))).all()


async def can_sign_in(session: ReadSession, username: str) -> bool:
    return await session.scalar(select(UserRow.id).where(UserRow.username == username, UserRow.disabled.is_(False))) is not None


async def by_identity_locked(session: WriteSession, issuer: str, subject: str) -> UserRow | None:
    """Return the account of a person at an OpenID Connect provider."""
    query = select(UserRow).where(UserRow.oidc_issuer == issuer, UserRow.oidc_subject == subject).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def by_id(session: ReadSession, user_id: UUID) -> UserRow | None:
    return await session.get(UserRow, user_id)


async def by_id_locked(session: WriteSession, user_id: UUID) -> UserRow | None:
    return (await session.scalars(select(UserRow).where(UserRow.id == user_id).with_for_update())).one_or_none()


async def other_admins_locked(session: WriteSession, user_id: UUID) -> int:
    """Count administrators other than this one who can sign in, and lock them until the commit."""
    query = select(UserRow.id).where(UserRow.role == "admin", UserRow.disabled.is_(False), UserRow.id != user_id).with_for_update()
    return len((await session.scalars(query)).all())


async def add(session: WriteSession, row: UserRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def replace_recovery_codes(session: WriteSession, user_id: UUID, code_hashes: Sequence[bytes]) -> None:
    await session.execute(delete(RecoveryCodeRow).where(RecoveryCodeRow.user_id == user_id))
    session.add_all(RecoveryCodeRow(user_id=user_id, code_hash=code_hash) for code_hash in code_hashes)


async def use_recovery_code(session: WriteSession, user_id: UUID, code_hash: bytes) -> bool:
    """Delete a recovery code; return whether the account had it."""
    query = delete(RecoveryCodeRow).where(RecoveryCodeRow.user_id == user_id, RecoveryCodeRow.code_hash == code_hash)
    return changed(await session.execute(query)) > 0


async def recovery_codes_left(session: ReadSession, user_id: UUID) -> int:
    return await session.scalar(select(func.count()).where(RecoveryCodeRow.user_id == user_id)) or 0


async def end_sessions(session: WriteSession, user_id: UUID, besides: bytes | None = None) -> None:
    """End the sessions of an account, but for the one whose secret has this hash."""
    query = delete(SessionRow).where(SessionRow.user_id == user_id)
    await session.execute(query if besides is None else query.where(SessionRow.secret_hash != besides))
