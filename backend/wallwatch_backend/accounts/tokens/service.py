"""API tokens. Each belongs to an account, and may never do more than that account may do now."""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.tokens import repository
from wallwatch_backend.accounts.tokens.errors import AboveOwner, OwnerUnknown
from wallwatch_backend.accounts.tokens.models import TokenRow
from wallwatch_backend.accounts.tokens.schemas import CreatedToken, NewToken, Token
from wallwatch_backend.accounts.users import repository as users
from wallwatch_backend.accounts.users.models import UserRow
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.hashing import digest, new_secret
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.kit.roles import Role, TokenScope

PREFIX = "ww_"  # lets secret scanners find a token that was committed somewhere
_SHOWN = len(PREFIX) + 6


def presented(owned: repository.OwnedToken) -> Token:
    """Return a token as the API shows it."""
    row, owner = owned.row, owned.owner
    usable = owner is not None and not owner.disabled
    return Token(
        id=row.id,
        name=row.name,
        role=Role(row.role),
        owner=owner.username if owner is not None else None,
        state="active" if usable else "no_owner" if owner is None else "owner_disabled",
        effective_role=Role(row.role).at_most(Role(owner.role)) if usable and owner is not None else None,
        scopes=[TokenScope(scope) for scope in row.scopes],
        hosts=row.hosts,
        racks=row.racks,
        prefix=row.prefix,
        created_by=row.created_by,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        last_used_address=row.last_used_address,
    )


async def list_tokens(session: ReadSession, limit: int, cursor: str | None) -> Page[Token]:
    rows = await repository.page(session, clock.now(), time_and_id(cursor), limit + 1)
    items = [presented(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def create_token(session: WriteSession, caller: Caller, body: NewToken) -> CreatedToken:
    """Create a token of the caller, or of the account that is named.

    Raises
    ------
    OwnerUnknown
        When that account does not exist or is disabled.
    AboveOwner
        When the role is above the owner's, or a token would create one with scopes that it lacks itself.
    """
    owner = await _owner(session, caller, body.owner)
    if not Role(owner.role).covers(body.role):
        raise AboveOwner(f"{owner.username} has the role {owner.role}; a token of that account cannot have the role {body.role}.")
    if lacking := sorted(set(body.scopes) - caller.scopes):
        raise AboveOwner(f"This token lacks the scope {lacking[0]}, so it cannot create a token with it.")
    return await _add(session, caller.actor, owner, body, caller.address, {*caller.people, owner.id})


async def create_for(session: WriteSession, actor: str, owner_name: str, body: NewToken) -> CreatedToken:
    """Create a token from the command line, where no account is signed in."""
    owner = await _enabled(session, owner_name)
    if not Role(owner.role).covers(body.role):
        raise AboveOwner(f"{owner.username} has the role {owner.role}; a token of that account cannot have the role {body.role}.")
    return await _add(session, actor, owner, body, None, {owner.id})


async def _enabled(session: ReadSession, username: str) -> UserRow:
    row = await users.by_name(session, username.strip().lower())
    if row is None or row.disabled:
        raise OwnerUnknown(f"There is no enabled account named {username!r}; a token must belong to one.")
    return row


async def _owner(session: WriteSession, caller: Caller, username: str | None) -> UserRow:
    if username is not None:
        return await _enabled(session, username)
    row = await users.by_id_locked(session, caller.owner_id) if caller.owner_id is not None else None
    if row is None or row.disabled:
        raise OwnerUnknown("Your own account is not enabled any more.")
    return row


async def _add(
    session: WriteSession, actor: str, owner: UserRow, body: NewToken, address: str | None, people: Iterable[UUID]
) -> CreatedToken:
    secret = new_secret(PREFIX)
    row = TokenRow(
        name=body.name,
        role=str(body.role),
        owner_id=owner.id,
        creator_ids=sorted(people),
        scopes=[str(scope) for scope in TokenScope if scope in body.scopes],
        hosts=sorted(set(body.hosts)),
        racks=sorted(set(body.racks)),
        prefix=secret[:_SHOWN],
        token_hash=digest(secret),
        created_by=actor,
        expires_at=clock.now() + timedelta(days=body.ttl_days) if body.ttl_days is not None else None,
    )
    await repository.add(session, row)
    audit.record(
        session,
        actor,
        repository.CREATED,
        body.name,
        address=address,
        role=str(body.role),
        token_id=str(row.id),
        owner=owner.username,
        scopes=row.scopes,
        hosts=row.hosts,
        racks=row.racks,
    )
    return CreatedToken(**presented(repository.OwnedToken(row, owner)).model_dump(), token=secret)


async def delete_token(session: WriteSession, caller: Caller, token_id: UUID) -> None:
    await revoke(session, caller.actor, token_id, caller.address)


async def revoke(session: WriteSession, actor: str, token_id: UUID, address: str | None = None) -> str:
    """Delete a token, end what it has open on every replica, and return its name."""
    name = await repository.delete_one(session, token_id)
    if name is None:
        raise NotFound(f"There is no token {token_id}.")
    audit.record(session, actor, "token.delete", name, address=address, token_id=str(token_id))
    await changes.announce(session, "access", token_id, "revoked")
    return name
