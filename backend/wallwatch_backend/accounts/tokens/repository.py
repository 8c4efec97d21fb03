"""Queries of API tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Text, bindparam, delete, or_, select, text, tuple_, update

from wallwatch_backend.accounts.audit import repository as audit_log
from wallwatch_backend.accounts.tokens.models import TokenRow
from wallwatch_backend.accounts.users.models import UserRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.roles import Role

CREATED = "token.create"
"""The action of the audit log with which a token begins."""


@dataclass(frozen=True)
class OwnedToken:
    """A token and the account that it belongs to, which may be gone."""

    row: TokenRow
    owner: UserRow | None


_OWNED = select(TokenRow, UserRow).outerjoin(UserRow, UserRow.id == TokenRow.owner_id)


async def page(session: ReadSession, at: datetime, before: tuple[datetime, UUID] | None, limit: int) -> Sequence[OwnedToken]:
    """Tokens that have not expired, newest first; also those whose owner may not use them."""
    query = _OWNED.where(or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > at))
    if before is not None:
        query = query.where(tuple_(TokenRow.created_at, TokenRow.id) < before)
    rows = await session.execute(query.order_by(TokenRow.created_at.desc(), TokenRow.id.desc()).limit(limit))
    return [OwnedToken(row, owner) for row, owner in rows]


_VALID = (  # each request asks it: put together once
    select(TokenRow, UserRow.role)
    .join(UserRow, UserRow.id == TokenRow.owner_id)
    .where(
        TokenRow.token_hash.in_(bindparam("hashes", expanding=True)),
        or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > bindparam("at")),
        UserRow.disabled.is_(False),
    )
)


async def valid(session: ReadSession, hashes: Sequence[bytes], at: datetime) -> Sequence[tuple[TokenRow, str]]:
    """The tokens among these hashes that have not expired and whose owner may sign in, each with the owner's role."""
    return [(row, role) for row, role in await session.execute(_VALID, {"hashes": list(hashes), "at": at})]


async def roles_of(session: ReadSession, hashes: Sequence[bytes], at: datetime) -> dict[bytes, str]:
    """Return what role each valid token among these hashes has now: at most its owner's."""
    return {row.token_hash: str(Role(row.role).at_most(Role(role))) for row, role in await valid(session, hashes, at)}


async def hosts_in(session: ReadSession, racks: Sequence[str]) -> set[str]:
    """Hosts whose RNICs report one of these racks."""
    return set(await session.scalars(text("SELECT DISTINCT host FROM rnic_state WHERE rack = ANY(:racks)"), {"racks": list(racks)}))


async def note_use(session: WriteSession, token_id: UUID, at: datetime, address: str | None) -> None:
    await session.execute(update(TokenRow).where(TokenRow.id == token_id).values(last_used_at=at, last_used_address=address))


async def add(session: WriteSession, row: TokenRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def delete_one(session: WriteSession, token_id: UUID) -> str | None:
    """Delete a token and return its name; None when there is none."""
    return (await session.execute(delete(TokenRow).where(TokenRow.id == token_id).returning(TokenRow.name))).scalar_one_or_none()


async def named(session: ReadSession, name: str) -> Sequence[TokenRow]:
    """Tokens of a name, or whose id or prefix it is."""
    query = select(TokenRow).where(or_(TokenRow.name == name, TokenRow.prefix == name, TokenRow.id.cast(Text) == name))
    return (await session.scalars(query.order_by(TokenRow.created_at))).all()


async def creators(session: ReadSession, name: str) -> set[str]:
    """Who created or owns tokens of that name, those that have been deleted included: the audit log still knows their creators."""
    known = await session.execute(
        select(TokenRow.created_by, UserRow.username).outerjoin(UserRow, UserRow.id == TokenRow.owner_id).where(TokenRow.name == name)
    )
    live = {actor for row in known for actor in row if actor is not None}
    return {*live, *await audit_log.actors_of(session, CREATED, name)}
