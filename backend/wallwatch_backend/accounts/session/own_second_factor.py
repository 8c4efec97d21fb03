"""How callers turn their second factor on and off. Both require the password again; off also requires a code."""

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.second_factor import codes
from wallwatch_backend.accounts.second_factor import service as second_factor
from wallwatch_backend.accounts.second_factor.service import Judgement
from wallwatch_backend.accounts.session import limits
from wallwatch_backend.accounts.session.account_schemas import Enrolment, RecoveryCodes
from wallwatch_backend.accounts.session.own_account import own_account, own_account_locked
from wallwatch_backend.accounts.session.own_password import WrongPassword
from wallwatch_backend.accounts.users import repository as users
from wallwatch_backend.accounts.users.passwords import verify_password
from wallwatch_backend.accounts.users.service import ExternalAccount
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.hashing import digest
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.settings import Settings

START, TURN_ON, TURN_OFF = "session.second_factor_start", "session.second_factor_on", "session.second_factor_off"


class WrongCode(WallwatchError):
    status, code, title = 403, "wrong_code", "The code is wrong"


_CLOCK = "Enter the code that your app shows now. If it is refused again, check the clock of your phone."


async def start(database: Database, settings: Settings, cipher: SecretCipher, caller: Caller, password: str) -> Enrolment:
    """Return a new secret for the app. It counts from its confirmation on."""
    await _check_password(database, settings, caller, password, START)
    async with database.write() as writing:
        account = await own_account_locked(writing, caller)
        secret = second_factor.start(cipher, account)
        audit.record(writing, caller.actor, START, caller.name, address=caller.address)
    return Enrolment(secret=codes.secret_text(secret), uri=codes.enrolment_uri(secret, caller.name, second_factor.ISSUER))


async def confirm(database: Database, cipher: SecretCipher, caller: Caller, cookie: str | None, code: str) -> RecoveryCodes:
    """Turn it on. Sessions that were opened without it end, but for this one."""
    async with database.write() as writing:
        account = await own_account_locked(writing, caller)
        recovery_codes = await second_factor.confirm(writing, cipher, account, code)
        if recovery_codes is None:
            raise WrongCode(_CLOCK)
        await users.end_sessions(writing, account.id, besides=digest(cookie) if cookie is not None else None)
        audit.record(writing, caller.actor, TURN_ON, caller.name, address=caller.address)
    return RecoveryCodes(recovery_codes=recovery_codes)


async def turn_off(database: Database, settings: Settings, cipher: SecretCipher, caller: Caller, password: str, code: str) -> None:
    await _check_password(database, settings, caller, password, TURN_OFF)
    async with limits.attempt(database, settings, caller.name, caller.address) as attempt:
        judgement = await second_factor.judge(database, cipher, caller.id, code)
        attempt.good = judgement not in (Judgement.wrong, Judgement.missing)
    if judgement is Judgement.not_needed:
        raise second_factor.SecondFactorOff("It is off already.")
    if not attempt.good:
        await _refused(database, caller, TURN_OFF, "wrong_code")
        raise WrongCode(f"{_CLOCK} A recovery code works, too.")
    async with database.write() as writing:
        await second_factor.turn_off(writing, await own_account_locked(writing, caller))
        audit.record(writing, caller.actor, TURN_OFF, caller.name, address=caller.address, by=str(judgement))


async def _check_password(database: Database, settings: Settings, caller: Caller, password: str, action: str) -> None:
    account = await own_account(database, caller)
    if account.oidc_subject is not None:
        raise ExternalAccount("Set up a second factor at the provider.")
    async with limits.attempt(database, settings, caller.name, caller.address) as attempt:
        attempt.good = await verify_password(account.password_hash, password)
    if not attempt.good:
        await _refused(database, caller, action, "wrong_password")
        raise WrongPassword("Enter the password with which you signed in.")


async def _refused(database: Database, caller: Caller, action: str, reason: str) -> None:
    await audit.record_apart(database, caller.actor, action, caller.name, outcome="refused", address=caller.address, reason=reason)
