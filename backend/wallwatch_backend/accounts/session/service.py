"""Signing in and out with local accounts."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import timedelta

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.second_factor import service as second_factor
from wallwatch_backend.accounts.second_factor.service import Judgement, SecondFactorRequired
from wallwatch_backend.accounts.session import limits, repository
from wallwatch_backend.accounts.session.limits import TooManyAttempts as TooManyAttempts
from wallwatch_backend.accounts.session.schemas import SignIn
from wallwatch_backend.accounts.users import repository as users
from wallwatch_backend.accounts.users.models import SessionRow, UserRow
from wallwatch_backend.accounts.users.passwords import verify_password
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.hashing import digest, new_secret
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.kit.roles import Role
from wallwatch_backend.settings import Settings

SIGN_IN = "session.sign_in"


class BadCredentials(WallwatchError):
    status, code, title = 401, "bad_credentials", "User name or password is wrong"


class WrongCode(WallwatchError):
    status, code, title = 401, "wrong_code", "The code is wrong"


class LocalSignInOff(WallwatchError):
    status, code, title = 403, "local_sign_in_off", "Sign in with single sign-on"


@dataclass(frozen=True)
class OpenedSession:
    secret: str
    csrf_token: str
    username: str
    role: Role


def csrf_token_of(secret: str) -> str:
    """Derive the CSRF token from the session's secret: it needs no storage and survives a reload of the page."""
    return hmac.new(secret.encode("utf-8", "surrogatepass"), b"wallwatch csrf", hashlib.sha256).hexdigest()


async def sign_in(database: Database, settings: Settings, cipher: SecretCipher, body: SignIn, address: str | None) -> OpenedSession:
    """Open a session. Each attempt, good or bad, is in the audit log."""
    username, factor = body.username.strip().lower(), Judgement.not_needed
    async with limits.attempt(database, settings, username, address) as attempt:
        async with database.read() as reading:
            user = await users.by_name(reading, username)
        good = await verify_password(user.password_hash if user else None, body.password)
        if good and user is not None and not user.disabled:
            factor = await second_factor.judge(database, cipher, user.id, body.code)
            attempt.good = factor is not Judgement.wrong  # a missing code is no guess: the client asks for it next
    if user is None or not good or user.disabled:
        reason = "disabled" if user is not None and user.disabled and good else "bad_credentials"
        await audit.record_apart(database, username, SIGN_IN, username, outcome="refused", address=address, reason=reason)
        raise BadCredentials
    if factor is Judgement.missing:
        raise SecondFactorRequired
    if factor is Judgement.wrong:
        await audit.record_apart(database, username, SIGN_IN, username, outcome="refused", address=address, reason="wrong_code")
        raise WrongCode("Enter the code that your app shows now, which counts once, or a recovery code.")
    if settings.local_sign_in == "admins" and user.role != Role.admin:
        await audit.record_apart(database, username, SIGN_IN, username, outcome="refused", address=address, reason="local_sign_in_off")
        raise LocalSignInOff("Use the button for single sign-on; only administrators may sign in with a password here.")
    async with database.write() as writing:
        account = await users.by_id_locked(writing, user.id)
        if account is None or account.disabled:  # since it was read
            raise BadCredentials
        opened = open_session(writing, settings, account, address)
        audit.record(writing, username, SIGN_IN, username, address=address, second_factor=str(factor))
    return opened


def open_session(writing: WriteSession, settings: Settings, account: UserRow, address: str | None) -> OpenedSession:
    """Open a session of an account that was authenticated and locked in this transaction."""
    secret, at = new_secret(), clock.now()
    expires_at = at + timedelta(hours=settings.session_hours)
    repository.add(writing, SessionRow(secret_hash=digest(secret), user_id=account.id, expires_at=expires_at, address=address))
    account.last_sign_in_at = at
    return OpenedSession(secret, csrf_token_of(secret), account.username, Role(account.role))


async def sign_out(session: WriteSession, caller: Caller, secret: str | None) -> None:
    if secret is not None and await repository.delete_one(session, digest(secret)):
        await changes.announce(session, "access", caller.id, "signed_out")
        audit.record(session, caller.actor, "session.sign_out", caller.name, address=caller.address)
