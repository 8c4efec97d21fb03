"""`/session`: sign in, current session, sign out."""

from fastapi import APIRouter, Request, Response

from wallwatch_backend.accounts.second_factor.service import SecondFactorRequired
from wallwatch_backend.accounts.session import own_password, service
from wallwatch_backend.accounts.session.cookies import set_session_cookie
from wallwatch_backend.accounts.session.schemas import PasswordChange, Session, SessionUser, SignIn
from wallwatch_backend.accounts.users.service import ExternalAccount
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, SESSION_COOKIE, WRITE_ERRORS, AsViewer, address_of
from wallwatch_backend.kit.cipher_dependency import TheCipher
from wallwatch_backend.kit.database import TheDatabase, Writing
from wallwatch_backend.kit.settings_dependency import TheSettings

router = APIRouter(prefix="/session", tags=["session"])


@router.post(
    "",
    operation_id="signIn",
    status_code=201,
    responses=problems.responses(
        service.BadCredentials, service.WrongCode, SecondFactorRequired, service.LocalSignInOff, service.TooManyAttempts
    ),
)
async def sign_in(
    body: SignIn, request: Request, response: Response, database: TheDatabase, settings: TheSettings, cipher: TheCipher
) -> Session:
    """Sign in with a local account. Sets the session cookie; keep the CSRF token for unsafe requests."""
    opened = await service.sign_in(database, settings, cipher, body, address_of(request))
    set_session_cookie(response, request, settings, opened.secret)
    response.headers["Cache-Control"] = "no-store"
    return Session(user=SessionUser(username=opened.username, role=opened.role), csrf_token=opened.csrf_token)


@router.get("", operation_id="getSession", responses=problems.responses(*READ_ERRORS))
async def who_am_i(caller: AsViewer, response: Response) -> Session:
    """Return the caller, and the session's CSRF token."""
    response.headers["Cache-Control"] = "no-store"
    return Session(user=SessionUser(username=caller.actor, role=caller.role), csrf_token=caller.csrf_token)


@router.delete("", operation_id="signOut", status_code=204, responses=problems.responses(*WRITE_ERRORS))
async def sign_out(caller: AsViewer, request: Request, response: Response, session: Writing) -> None:
    """End the session. For an API token, which has none, this does nothing."""
    await service.sign_out(session, caller, request.cookies.get(SESSION_COOKIE))
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="strict")


@router.post(
    "/password",
    operation_id="changeOwnPassword",
    status_code=204,
    responses=problems.responses(*WRITE_ERRORS, own_password.WrongPassword, ExternalAccount, service.TooManyAttempts),
)
async def change_own_password(
    caller: AsViewer, body: PasswordChange, request: Request, database: TheDatabase, settings: TheSettings
) -> None:
    """Change your own password. Your other sessions end."""
    await own_password.change(database, settings, caller, request.cookies.get(SESSION_COOKIE), body)
