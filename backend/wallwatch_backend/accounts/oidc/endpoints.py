"""`/session/oidc`: sign in at an OpenID Connect provider (authorization code with PKCE)."""

import hmac
import time
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.oidc import attempt as attempts
from wallwatch_backend.accounts.oidc import pages, service
from wallwatch_backend.accounts.oidc.attempt import Attempt
from wallwatch_backend.accounts.oidc.errors import OidcRefused
from wallwatch_backend.accounts.oidc.provider import Provider
from wallwatch_backend.accounts.oidc.schemas import SignInMethods
from wallwatch_backend.accounts.session.cookies import must_be_secure, set_session_cookie, set_strict_cookie
from wallwatch_backend.accounts.session.service import OpenedSession
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import address_of
from wallwatch_backend.kit.cipher_dependency import TheCipher
from wallwatch_backend.kit.database import TheDatabase
from wallwatch_backend.kit.query_parameters import FURTHER_PARAMETERS
from wallwatch_backend.kit.settings_dependency import TheSettings

router = APIRouter(prefix="/session", tags=["session"])
log = structlog.get_logger(__name__)

_PATH = "/api/v1/session/oidc"
_SIGN_OUT_PATH = f"{_PATH}/sign-out"
_ID_TOKEN = "wallwatch_id_token"  # noqa: S105 - the name of a cookie
_LONGEST_COOKIE = 3800  # browsers drop longer ones
_TOO_LONG = "too-long"  # in place of such a token: says only that the provider opened the session
Parameter = Annotated[str | None, Query(max_length=2000)]
Answer = Annotated[str | None, Query(max_length=4000, pattern=r"^[ -~]*$")]
"""Visible ASCII, as RFC 6749 (appendix A) allows."""


async def _provider_of(request: Request, settings: TheSettings) -> Provider:
    if settings.oidc_issuer is None:
        raise problems.NotFound("Single sign-on is not set up: WALLWATCH_OIDC_ISSUER is unset.")
    state = request.app.state
    if not hasattr(state, "oidc_provider"):
        state.oidc_provider = Provider(settings, settings.oidc_issuer)
    provider: Provider = state.oidc_provider
    return provider


TheProvider = Annotated[Provider, Depends(_provider_of)]


def _pages(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the pages that an endpoint shows and, for 302, its redirect."""
    described: dict[int | str, dict[str, Any]] = dict(problems.responses(problems.NotFound))
    for status in statuses:
        described[status] = {"content": {"text/html": {}}, "description": _MEANINGS[status]}
    return described


_MEANINGS = {
    200: "Signed in; the page continues at `next`",
    302: "Continue at the address in `Location`",
    400: "The answer belongs to no sign-in of this browser",
    403: "Refused; the page says why",
    409: "The account's name is taken, or it was created at the same time",
    502: "The provider does not answer as it must",
}


@router.get("/methods", operation_id="getSignInMethods")
async def sign_in_methods(settings: TheSettings) -> SignInMethods:
    """Say how people can sign in."""
    return SignInMethods(local=settings.local_sign_in, single_sign_on=settings.oidc_label if settings.oidc_issuer is not None else None)


@router.get("/oidc", operation_id="beginOidcSignIn", status_code=302, response_class=HTMLResponse, responses=_pages(302, 403, 502))
async def begin(request: Request, provider: TheProvider, settings: TheSettings, cipher: TheCipher, next: Parameter = None) -> Response:
    """Send the browser to the provider. `next` is the path to show afterwards; anything but a path of this server becomes `/`."""
    attempt = attempts.begin(str(settings.oidc_issuer), next, time.time())
    try:
        answer: Response = RedirectResponse(await provider.authorization_url(attempt), 302)
    except OidcRefused as error:
        return pages.refused_page(error.text, error.reason, error.status)
    # Lax: the provider's redirect back is a navigation from another site, which must carry it.
    answer.set_cookie(
        attempts.COOKIE,
        attempts.sealed(cipher, attempt),
        max_age=attempts.LIFE_S,
        path=_PATH,
        httponly=True,
        samesite="lax",
        secure=must_be_secure(request, settings),
    )
    answer.headers["Cache-Control"] = "no-store"
    return answer


# Providers add parameters of their own, which a client must ignore (RFC 6749, section 4.1.2).
@router.get(
    "/oidc/callback",
    operation_id="endOidcSignIn",
    response_class=HTMLResponse,
    responses=_pages(200, 400, 403, 409, 502),
    openapi_extra={FURTHER_PARAMETERS: True},
)
async def callback(
    request: Request,
    provider: TheProvider,
    settings: TheSettings,
    cipher: TheCipher,
    database: TheDatabase,
    code: Answer = None,
    state: Answer = None,
    error: Answer = None,
    iss: Answer = None,
) -> Response:
    """Take the provider's answer. Each attempt that this browser began, good or bad, is in the audit log."""
    attempt = attempts.opened(cipher, request.cookies.get(attempts.COOKIE), time.time())
    answer: Response
    if attempt is None:
        return pages.refused_page("This sign-in did not begin in this browser, or it took too long. Sign in again.", "no_attempt", 400)
    try:
        opened, id_token = await _opened(provider, settings, database, attempt, code, state, error, iss, address_of(request))
    except OidcRefused as refusal:
        log.warning("oidc_sign_in_refused", reason=refusal.reason, address=address_of(request))
        await audit.record_apart(
            database, "oidc", service.SIGN_IN, attempt.issuer, outcome="refused", address=address_of(request), reason=refusal.reason
        )
        answer = pages.refused_page(refusal.text, refusal.reason, refusal.status)
    else:
        answer = pages.continue_page(attempt.next)
        set_session_cookie(answer, request, settings, opened.secret)
        kept = id_token if len(id_token) <= _LONGEST_COOKIE else _TOO_LONG
        set_strict_cookie(answer, request, settings, _ID_TOKEN, kept, _SIGN_OUT_PATH)
    answer.delete_cookie(attempts.COOKIE, path=_PATH, httponly=True, samesite="lax", secure=must_be_secure(request, settings))
    return answer


async def _opened(
    provider: Provider,
    settings: TheSettings,
    database: TheDatabase,
    attempt: Attempt,
    code: str | None,
    state: str | None,
    error: str | None,
    issuer: str | None,
    address: str | None,
) -> tuple[OpenedSession, str]:
    if state is None or not hmac.compare_digest(state.encode("utf-8", "replace"), attempt.state.encode()):
        raise OidcRefused("wrong_state", "This answer belongs to another sign-in. Sign in again.", status=400)
    await provider.check_answer_issuer(issuer)
    if attempt.issuer != settings.oidc_issuer:
        raise OidcRefused("wrong_answer_issuer", "The provider was changed meanwhile. Sign in again.", status=400)
    if error is not None or code is None:
        known = error if error in ("access_denied", "login_required", "consent_required", "temporarily_unavailable") else "other"
        raise OidcRefused(f"provider_refused:{known}", "The provider did not sign you in.")
    claims, id_token = await provider.exchange(code, attempt)
    return await service.sign_in(database, settings, claims, address), id_token


@router.get(
    "/oidc/sign-out", operation_id="signOutAtProvider", status_code=302, response_class=HTMLResponse, responses=_pages(302, 403, 502)
)
async def sign_out(request: Request, provider: TheProvider, settings: TheSettings) -> Response:
    """Send the browser to the provider's sign-out page; end the session here first, with DELETE /session.

    Who did not sign in there is sent to `/`.
    """
    id_token = request.cookies.get(_ID_TOKEN)
    answer: Response
    try:
        address = await provider.sign_out_url(id_token if id_token != _TOO_LONG else None) if id_token else None
        answer = RedirectResponse(address or "/", 302, headers={"Cache-Control": "no-store"})
    except OidcRefused as error:
        answer = pages.not_signed_out_page(error.text, error.reason, error.status)
    answer.delete_cookie(_ID_TOKEN, path=_SIGN_OUT_PATH, httponly=True, samesite="strict", secure=must_be_secure(request, settings))
    return answer
