"""How callers change their password."""

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.session import limits
from wallwatch_backend.accounts.session.schemas import PasswordChange
from wallwatch_backend.accounts.users import repository as users
from wallwatch_backend.accounts.users.passwords import hash_password, verify_password
from wallwatch_backend.accounts.users.service import ExternalAccount
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.hashing import digest
from wallwatch_backend.kit.problems import Forbidden, NotSignedIn, WallwatchError
from wallwatch_backend.settings import Settings

CHANGE = "session.change_password"


class WrongPassword(WallwatchError):
    status, code, title = 403, "wrong_password", "The current password is wrong"


async def change(database: Database, settings: Settings, caller: Caller, secret: str | None, body: PasswordChange) -> None:
    """Set a new password and end the account's other sessions. Wrong guesses count as failed sign-ins do."""
    if caller.kind != "user":
        raise Forbidden("An API token has no password; sign in as a person.")
    async with database.read() as reading:
        account = await users.by_name(reading, caller.name)
    if account is None:
        raise NotSignedIn
    if account.oidc_subject is not None:
        raise ExternalAccount("It has no password here; change the password at the provider.")
    async with limits.attempt(database, settings, caller.name, caller.address) as attempt:
        attempt.good = await verify_password(account.password_hash, body.current_password)
    if not attempt.good:
        await audit.record_apart(
            database, caller.actor, CHANGE, caller.name, outcome="refused", address=caller.address, reason="wrong_password"
        )
        raise WrongPassword("Enter the password with which you signed in.")
    new_hash = await hash_password(body.new_password)
    async with database.write() as writing:
        locked = await users.by_id_locked(writing, account.id)
        if locked is None or locked.disabled or locked.password_hash != account.password_hash:  # changed since it was compared
            raise NotSignedIn
        locked.password_hash = new_hash
        await users.end_sessions(writing, account.id, besides=digest(secret) if secret is not None else None)
        audit.record(writing, caller.actor, CHANGE, caller.name, address=caller.address)
