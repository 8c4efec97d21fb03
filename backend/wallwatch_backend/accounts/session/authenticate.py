"""Turns the cookie or the bearer token of a request into a caller."""

from datetime import timedelta
from uuid import UUID

from fastapi import Request

from wallwatch_backend.accounts.session import repository
from wallwatch_backend.accounts.session.service import csrf_token_of
from wallwatch_backend.accounts.tokens import repository as tokens
from wallwatch_backend.accounts.tokens.models import TokenRow
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller, address_of
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.hashing import digest
from wallwatch_backend.kit.roles import Role, TokenScope

_NOTE_USE_EVERY = timedelta(minutes=1)  # a write per request would cost more than the request


async def _by_token(database: Database, token: str, address: str | None) -> Caller | None:
    at = clock.now()
    hosts: frozenset[str] | None = None
    async with database.read() as session:
        found = await tokens.by_hash(session, digest(token), at)
        if found is None:
            return None
        row, owner_role = found
        if row.hosts or row.racks:
            hosts = frozenset({*row.hosts, *(await tokens.hosts_in(session, row.racks) if row.racks else ())})
    if row.last_used_at is None or at - row.last_used_at > _NOTE_USE_EVERY:
        async with database.write() as writing:
            await tokens.note_use(writing, row.id, at, address)
    return Caller(
        "token",
        row.id,
        row.name,
        Role(row.role).at_most(Role(owner_role)),
        address,
        people=_people_of(row),
        owner_id=row.owner_id,
        scopes=frozenset(TokenScope(scope) for scope in row.scopes),
        hosts=hosts,
    )


def _people_of(row: TokenRow) -> frozenset[UUID]:
    """Return the accounts of everybody who has had the token in hand."""
    return frozenset({*row.creator_ids, *([row.owner_id] if row.owner_id is not None else ())})


async def authenticate(request: Request, cookie: str | None, bearer: str | None) -> Caller | None:
    """Return the caller, or None. If there is a bearer token, the cookie is ignored."""
    database: Database = request.app.state.database
    address = address_of(request)
    if bearer is not None:
        return await _by_token(database, bearer, address)
    if cookie is None:
        return None
    return await _by_session(database, cookie, address)


async def _by_session(database: Database, cookie: str, address: str | None) -> Caller | None:
    secret_hash, at = digest(cookie), clock.now()
    async with database.read() as session:
        found = await repository.user_of(session, secret_hash, at)
    if found is None:
        return None
    user, row = found
    if at - (row.last_used_at or row.created_at) > _NOTE_USE_EVERY:
        async with database.write() as writing:
            await repository.note_use(writing, secret_hash, at)
    return Caller(
        "user", user.id, user.username, Role(user.role), address, csrf_token_of(cookie), people=frozenset({user.id}), owner_id=user.id
    )
