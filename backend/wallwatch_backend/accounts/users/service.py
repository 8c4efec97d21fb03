"""Local accounts."""

from uuid import UUID

from sqlalchemy.exc import IntegrityError

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.users import repository
from wallwatch_backend.accounts.users.models import UserRow
from wallwatch_backend.accounts.users.passwords import hash_password
from wallwatch_backend.accounts.users.schemas import NewUser, User, UserChange
from wallwatch_backend.kit import changes
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, decode_cursor, encode_cursor
from wallwatch_backend.kit.problems import NotFound, WallwatchError
from wallwatch_backend.kit.roles import Role


class NameTaken(WallwatchError):
    status, code, title = 409, "name_taken", "An account with this name exists"


class ExternalAccount(WallwatchError):
    status, code, title = 409, "external_account", "This account signs in at the OpenID Connect provider"


class LastAdmin(WallwatchError):
    status, code, title = 409, "last_admin", "This is the last administrator who can sign in"


def _presented(row: UserRow) -> User:
    return User.model_validate(row, from_attributes=True)


async def list_users(session: ReadSession, limit: int, cursor: str | None) -> Page[User]:
    after = str(decode_cursor(cursor, str)[0]) if cursor is not None else None
    rows = await repository.page(session, after, limit + 1)
    items = [_presented(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].username) if len(rows) > limit else None)


async def add_user(session: WriteSession, actor: str, username: str, password_hash: str, role: Role, address: str | None = None) -> UserRow:
    """Add an account, or raise `NameTaken`."""
    if await repository.by_name(session, username) is not None:
        raise NameTaken(f"An account named {username} exists; choose another name.")
    row = UserRow(username=username, password_hash=password_hash, role=str(role), disabled=False)
    try:
        await repository.add(session, row)
    except IntegrityError as error:  # a concurrent request
        raise NameTaken(f"An account named {username} exists; choose another name.") from error
    audit.record(session, actor, "user.create", username, address=address, role=str(role))
    return row


async def create_user(session: WriteSession, caller: Caller, body: NewUser) -> User:
    return _presented(await add_user(session, caller.actor, body.username, await hash_password(body.password), body.role, caller.address))


async def update_user(session: WriteSession, caller: Caller, user_id: UUID, change: UserChange) -> User:
    return await change_account(session, caller.actor, caller.address, user_id, change)


async def change_account(session: WriteSession, actor: str, address: str | None, user_id: UUID, change: UserChange) -> User:
    """Change role, password or whether the account is disabled; the last administrator stays one."""
    row = await repository.by_id_locked(session, user_id)
    if row is None:
        raise NotFound(f"There is no user {user_id}.")
    if change.password is not None and row.oidc_subject is not None:
        raise ExternalAccount("It has no password here; change the password at the provider.")
    loses_admin = row.role == "admin" and not row.disabled and (change.role not in (None, Role.admin) or change.disabled is True)
    if loses_admin and await repository.other_admins_locked(session, user_id) == 0:
        raise LastAdmin("Make another account an administrator first.")
    if change.role is not None:
        row.role = str(change.role)
    if change.disabled is not None:
        row.disabled = change.disabled
    if change.password is not None:
        row.password_hash = await hash_password(change.password)
    if change.disabled is True or change.password is not None:
        await repository.end_sessions(session, user_id)
    audit.record(
        session,
        actor,
        "user.update",
        row.username,
        address=address,
        role=change.role and str(change.role),
        disabled=change.disabled,
        new_password=change.password is not None,
    )
    await changes.announce(session, "access", user_id, "changed")
    await session.flush()
    return _presented(row)
