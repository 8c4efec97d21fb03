"""The second factor of local accounts: an authenticator app, and recovery codes for the day when it is lost."""

import time
from enum import StrEnum
from uuid import UUID

import structlog
from cryptography.fernet import InvalidToken

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.second_factor import codes
from wallwatch_backend.accounts.users import repository as users
from wallwatch_backend.accounts.users.models import UserRow
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.problems import NotFound, WallwatchError

log = structlog.get_logger(__name__)

ISSUER = "Wallwatch"


class SecondFactorRequired(WallwatchError):
    status, code, title = 401, "second_factor_required", "Enter the code of your authenticator app"


class SecondFactorOn(WallwatchError):
    status, code, title = 409, "second_factor_on", "This account has a second factor"


class SecondFactorOff(WallwatchError):
    status, code, title = 409, "second_factor_off", "This account has no second factor to do this with"


class Judgement(StrEnum):
    """What became of the second factor of one attempt."""

    not_needed = "not_needed"
    missing = "missing"
    wrong = "wrong"
    app = "app"
    recovery_code = "recovery_code"


async def judge(database: Database, cipher: SecretCipher, user_id: UUID, code: str | None) -> Judgement:
    """Check a code and use it up: neither it nor an earlier one is accepted again, by no replica."""
    async with database.write() as writing:
        account = await users.by_id_locked(writing, user_id)
        if account is None or account.totp_since is None:
            return Judgement.not_needed
        if not code:
            return Judgement.missing
        step = _step_of(cipher, account, code)
        if step is not None and step > (account.totp_step or 0):
            account.totp_step = step
            return Judgement.app
        if await users.use_recovery_code(writing, account.id, codes.recovery_hash(code)):
            return Judgement.recovery_code
    return Judgement.wrong


def start(cipher: SecretCipher, account: UserRow) -> bytes:
    """Give a locked account a new secret, which counts from its confirmation on; return it."""
    if account.totp_since is not None:
        raise SecondFactorOn("Turn it off first.")
    secret = codes.new_secret()
    account.totp_secret, account.totp_step = cipher.encrypt(secret.hex()), None
    return secret


async def confirm(writing: WriteSession, cipher: SecretCipher, account: UserRow, code: str) -> list[str] | None:
    """Turn the second factor of a locked account on if the code is right; return its recovery codes."""
    if account.totp_since is not None:
        raise SecondFactorOn("It was confirmed already.")
    if account.totp_secret is None:
        raise SecondFactorOff("Start with POST /api/v1/session/second-factor.")
    step = _step_of(cipher, account, code)
    if step is None:
        return None
    account.totp_since, account.totp_step = clock.now(), step
    new = codes.new_recovery_codes()
    await users.replace_recovery_codes(writing, account.id, [codes.recovery_hash(each) for each in new])
    return new


async def turn_off(writing: WriteSession, account: UserRow) -> bool:
    """Forget secret and recovery codes of a locked account; return whether it had a second factor."""
    had = account.totp_since is not None
    account.totp_secret, account.totp_since, account.totp_step = None, None, None
    await users.replace_recovery_codes(writing, account.id, [])
    return had


async def reset(writing: WriteSession, actor: str, address: str | None, user_id: UUID) -> bool:
    """Let an account sign in with its password alone; return whether it had a second factor."""
    account = await users.by_id_locked(writing, user_id)
    if account is None:
        raise NotFound(f"There is no user {user_id}.")
    had = await turn_off(writing, account)
    audit.record(writing, actor, "user.reset_second_factor", account.username, address=address, had=had)
    return had


def _step_of(cipher: SecretCipher, account: UserRow, code: str) -> int | None:
    if account.totp_secret is None:
        return None
    try:
        secret = bytes.fromhex(cipher.decrypt(account.totp_secret))
    except InvalidToken:
        log.error("second_factor_unreadable", username=account.username, help="the key in the secrets directory was replaced")
        return None
    return codes.matching_step(secret, code, time.time())
