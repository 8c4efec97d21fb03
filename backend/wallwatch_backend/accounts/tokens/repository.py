"""Queries of API tokens."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, delete, or_, select, tuple_, update

from wallwatch_backend.accounts.audit import repository as audit_log
from wallwatch_backend.accounts.tokens.models import TokenRow
from wallwatch_backend.kit.database import ReadSession, WriteSession

CREATED = "token.create"
"""The action of the audit log with which a token begins."""


async def page(session: ReadSession, at: datetime, before: tuple[datetime, UUID] | None, limit: int) -> Sequence[TokenRow]:
    """Valid tokens, newest first."""
    query = select(TokenRow).where(or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > at))
    if before is not None:
        query = query.where(tuple_(TokenRow.created_at, TokenRow.id) < before)
    return (await session.scalars(query.order_by(TokenRow.created_at.desc(), TokenRow.id.desc()).limit(limit))).all()


_BY_HASH = select(TokenRow).where(  # each request asks it: put together once
    TokenRow.token_hash == bindparam("hash"), or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > bindparam("at"))
)


async def by_hash(session: ReadSession, token_hash: bytes, at: datetime) -> TokenRow | None:
    return (await session.scalars(_BY_HASH, {"hash": token_hash, "at": at})).one_or_none()


async def note_use(session: WriteSession, token_id: UUID, at: datetime) -> None:
    await session.execute(update(TokenRow).where(TokenRow.id == token_id).values(last_used_at=at))


async def add(session: WriteSession, row: TokenRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def delete_one(session: WriteSession, token_id: UUID) -> str | None:
    """Delete a token and return its name; None when there is none."""
    return (await session.execute(delete(TokenRow).where(TokenRow.id == token_id).returning(TokenRow.name))).scalar_one_or_none()


async def creators(session: ReadSession, name: str) -> set[str]:
    """Who created tokens of that name, those that have been deleted included: the audit log still knows them."""
    valid = (await session.scalars(select(TokenRow.created_by).where(TokenRow.name == name))).all()
    return {*valid, *await audit_log.actors_of(session, CREATED, name)}
