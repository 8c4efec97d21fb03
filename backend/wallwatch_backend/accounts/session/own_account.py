"""A person's own account and sessions. API tokens have neither."""

from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.session import repository
from wallwatch_backend.accounts.session.account_schemas import Account, OwnSession, OwnSessions
from wallwatch_backend.accounts.users import repository as users
from wallwatch_backend.accounts.users.models import UserRow
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import Database, ReadSession, WriteSession
from wallwatch_backend.kit.hashing import digest
from wallwatch_backend.kit.problems import Forbidden, NotFound, NotSignedIn
from wallwatch_backend.kit.roles import Role

END = "session.end"


def must_be_person(caller: Caller) -> None:
    if caller.kind != "user":
        raise Forbidden("An API token has no account of its own; sign in as a person.")


async def own_account(database: Database, caller: Caller) -> UserRow:
    must_be_person(caller)
    async with database.read() as reading:
        account = await users.by_id(reading, caller.id)
    if account is None:  # deleted since the request was let in
        raise NotSignedIn
    return account


async def own_account_locked(writing: WriteSession, caller: Caller) -> UserRow:
    must_be_person(caller)
    account = await users.by_id_locked(writing, caller.id)
    if account is None or account.disabled:  # since the request was let in
        raise NotSignedIn
    return account


async def present(reading: ReadSession, caller: Caller) -> Account:
    must_be_person(caller)
    row = await users.by_id(reading, caller.id)
    if row is None:
        raise NotSignedIn
    return Account(
        username=row.username,
        role=Role(row.role),
        single_sign_on=row.oidc_subject is not None,
        created_at=row.created_at,
        second_factor_since=row.totp_since,
        recovery_codes_left=await users.recovery_codes_left(reading, row.id),
    )


async def list_sessions(reading: ReadSession, caller: Caller, cookie: str | None) -> OwnSessions:
    must_be_person(caller)
    this = digest(cookie) if cookie is not None else None
    rows = await repository.of_user(reading, caller.id, clock.now())
    return OwnSessions(
        items=[
            OwnSession(
                id=row.id,
                created_at=row.created_at,
                last_used_at=row.last_used_at or row.created_at,
                expires_at=row.expires_at,
                address=row.address,
                current=row.secret_hash == this,
            )
            for row in rows
        ]
    )


async def end_session(writing: WriteSession, caller: Caller, session_id: UUID) -> None:
    must_be_person(caller)
    if not await repository.delete_of_user(writing, caller.id, session_id):
        raise NotFound("This session has ended already.")
    await _note_end(writing, caller, "one")


async def end_other_sessions(writing: WriteSession, caller: Caller, cookie: str | None) -> None:
    must_be_person(caller)
    await users.end_sessions(writing, caller.id, besides=digest(cookie) if cookie is not None else None)
    await _note_end(writing, caller, "all others")


async def _note_end(writing: WriteSession, caller: Caller, which: str) -> None:
    await changes.announce(writing, "access", caller.id, "sessions_ended")
    audit.record(writing, caller.actor, END, caller.name, address=caller.address, which=which)
