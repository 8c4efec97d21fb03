"""Turns the cookie or the bearer token of a request into a caller."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from fastapi import Request

from wallwatch_backend.accounts.session import repository
from wallwatch_backend.accounts.session.service import csrf_token_of
from wallwatch_backend.accounts.tokens import repository as tokens
from wallwatch_backend.accounts.tokens.models import TokenRow
from wallwatch_backend.accounts.users.models import SessionRow, UserRow
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller, address_of
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.hashing import digest
from wallwatch_backend.kit.roles import Role, TokenScope
from wallwatch_backend.kit.shared_reads import SharedLookup

_NOTE_USE_EVERY = timedelta(minutes=1)  # a write per request would cost more than the request


def _people_of(row: TokenRow) -> frozenset[UUID]:
    """Return the accounts of everybody who has had the token in hand."""
    return frozenset({*row.creator_ids, *([row.owner_id] if row.owner_id is not None else ())})


class Authenticator:
    """Asks the database about each request, so that rights end at once; requests that come at the same moment are asked about together."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tokens: SharedLookup[bytes, tuple[TokenRow, str]] = SharedLookup(self._valid_tokens)
        self._sessions: SharedLookup[bytes, tuple[UserRow, SessionRow]] = SharedLookup(self._valid_sessions)

    async def __call__(self, request: Request, cookie: str | None, bearer: str | None) -> Caller | None:
        """Return the caller, or None. If there is a bearer token, the cookie is ignored."""
        address = address_of(request)
        if bearer is not None:
            return await self._by_token(bearer, address)
        if cookie is None:
            return None
        return await self._by_session(cookie, address)

    async def _valid_tokens(self, hashes: Sequence[bytes]) -> Mapping[bytes, tuple[TokenRow, str]]:
        async with self._database.read() as session:
            return {row.token_hash: (row, role) for row, role in await tokens.valid(session, hashes, clock.now())}

    async def _valid_sessions(self, hashes: Sequence[bytes]) -> Mapping[bytes, tuple[UserRow, SessionRow]]:
        async with self._database.read() as session:
            return {row.secret_hash: (user, row) for user, row in await repository.valid(session, hashes, clock.now())}

    async def _by_token(self, token: str, address: str | None) -> Caller | None:
        found = await self._tokens.get(digest(token))
        if found is None:
            return None
        row, owner_role = found
        at = clock.now()
        hosts: frozenset[str] | None = None
        if row.racks:
            async with self._database.read() as session:
                hosts = frozenset({*row.hosts, *await tokens.hosts_in(session, row.racks)})
        elif row.hosts:
            hosts = frozenset(row.hosts)
        if row.last_used_at is None or at - row.last_used_at > _NOTE_USE_EVERY:
            async with self._database.write() as writing:
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

    async def _by_session(self, cookie: str, address: str | None) -> Caller | None:
        secret_hash = digest(cookie)
        found = await self._sessions.get(secret_hash)
        if found is None:
            return None
        user, row = found
        at = clock.now()
        if at - (row.last_used_at or row.created_at) > _NOTE_USE_EVERY:
            async with self._database.write() as writing:
                await repository.note_use(writing, secret_hash, at)
        people = frozenset({user.id})
        return Caller("user", user.id, user.username, Role(user.role), address, csrf_token_of(cookie), people=people, owner_id=user.id)
