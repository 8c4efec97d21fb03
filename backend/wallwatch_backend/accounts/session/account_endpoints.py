"""`/session/account`, `/session/sessions`, `/session/second-factor`: the caller's account."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response

from wallwatch_backend.accounts.second_factor.service import SecondFactorOff, SecondFactorOn
from wallwatch_backend.accounts.session import own_account, own_second_factor
from wallwatch_backend.accounts.session.account_schemas import (
    Account,
    ConfirmSecondFactor,
    Enrolment,
    OwnSessions,
    RecoveryCodes,
    StartSecondFactor,
    TurnOffSecondFactor,
)
from wallwatch_backend.accounts.session.limits import TooManyAttempts
from wallwatch_backend.accounts.session.own_password import WrongPassword
from wallwatch_backend.accounts.session.own_second_factor import WrongCode
from wallwatch_backend.accounts.users.service import ExternalAccount
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, SESSION_COOKIE, WRITE_ERRORS, AsViewer
from wallwatch_backend.kit.cipher_dependency import TheCipher
from wallwatch_backend.kit.database import Reading, TheDatabase, Writing
from wallwatch_backend.kit.settings_dependency import TheSettings

router = APIRouter(prefix="/session", tags=["session"])


@router.get("/account", operation_id="getOwnAccount", responses=problems.responses(*READ_ERRORS))
async def get_account(caller: AsViewer, session: Reading) -> Account:
    """Return your own account."""
    return await own_account.present(session, caller)


@router.get("/sessions", operation_id="listOwnSessions", responses=problems.responses(*READ_ERRORS))
async def list_sessions(caller: AsViewer, request: Request, session: Reading) -> OwnSessions:
    """List your own sessions, those used last first."""
    return await own_account.list_sessions(session, caller, request.cookies.get(SESSION_COOKIE))


@router.delete("/sessions", operation_id="endOtherSessions", status_code=204, responses=problems.responses(*WRITE_ERRORS))
async def end_other_sessions(caller: AsViewer, request: Request, session: Writing) -> None:
    """End all of your own sessions but this one."""
    await own_account.end_other_sessions(session, caller, request.cookies.get(SESSION_COOKIE))


@router.delete(
    "/sessions/{session_id}",
    operation_id="endOwnSession",
    status_code=204,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound),
)
async def end_session(caller: AsViewer, session_id: Annotated[UUID, Path()], session: Writing) -> None:
    """End one of your own sessions."""
    await own_account.end_session(session, caller, session_id)


@router.post(
    "/second-factor",
    operation_id="startSecondFactor",
    responses=problems.responses(*WRITE_ERRORS, WrongPassword, ExternalAccount, SecondFactorOn, TooManyAttempts),
)
async def start_second_factor(
    caller: AsViewer, body: StartSecondFactor, response: Response, database: TheDatabase, settings: TheSettings, cipher: TheCipher
) -> Enrolment:
    """Get a secret for an authenticator app (TOTP). It counts once you confirm it with a code."""
    response.headers["Cache-Control"] = "no-store"
    return await own_second_factor.start(database, settings, cipher, caller, body.current_password)


@router.post(
    "/second-factor/confirm",
    operation_id="confirmSecondFactor",
    responses=problems.responses(*WRITE_ERRORS, WrongCode, SecondFactorOff, SecondFactorOn),
)
async def confirm_second_factor(
    caller: AsViewer, body: ConfirmSecondFactor, request: Request, response: Response, database: TheDatabase, cipher: TheCipher
) -> RecoveryCodes:
    """Turn the second factor on, and get recovery codes. Your other sessions end."""
    response.headers["Cache-Control"] = "no-store"
    return await own_second_factor.confirm(database, cipher, caller, request.cookies.get(SESSION_COOKIE), body.code)


@router.post(
    "/second-factor/disable",
    operation_id="disableSecondFactor",
    status_code=204,
    responses=problems.responses(*WRITE_ERRORS, WrongPassword, WrongCode, ExternalAccount, SecondFactorOff, TooManyAttempts),
)
async def disable_second_factor(
    caller: AsViewer, body: TurnOffSecondFactor, database: TheDatabase, settings: TheSettings, cipher: TheCipher
) -> None:
    """Turn the second factor off."""
    await own_second_factor.turn_off(database, settings, cipher, caller, body.current_password, body.code)
