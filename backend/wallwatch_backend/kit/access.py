"""Authentication and authorisation: session cookie with CSRF header, or API token; the role that each endpoint requires."""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from wallwatch_backend.kit.problems import CsrfMismatch, Forbidden, NotSignedIn
from wallwatch_backend.kit.roles import Role as Role

SESSION_COOKIE = "wallwatch_session"
CSRF_HEADER = "X-CSRF-Token"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_cookie = APIKeyCookie(name=SESSION_COOKIE, auto_error=False, scheme_name="session", description="Set by POST /session")
_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="API token, ww_...")


@dataclass(frozen=True)
class Caller:
    """The user or token behind a request."""

    kind: str  # user or token
    id: UUID
    name: str
    role: Role
    address: str | None
    csrf_token: str | None = None  # what the CSRF header must hold; None for tokens, which browsers do not send by themselves

    @property
    def actor(self) -> str:
        """How timelines and the audit log name the caller."""
        return self.name if self.kind == "user" else f"token:{self.name}"


def address_of(request: Request) -> str | None:
    return request.client.host if request.client else None


Authenticate = Callable[[Request, str | None, str | None], Awaitable[Caller | None]]


async def _caller(
    request: Request,
    session: Annotated[str | None, Security(_cookie)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> Caller:
    # The app installs the function: `kit` does not know `accounts`.
    authenticate: Authenticate = request.app.state.authenticate
    caller = await authenticate(request, session, bearer.credentials if bearer else None)
    if caller is None:
        raise NotSignedIn
    if caller.csrf_token is not None and request.method not in _SAFE_METHODS:
        given = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), caller.csrf_token.encode()):
            raise CsrfMismatch
    return caller


async def is_signed_in(request: Request) -> bool:
    """Return whether the caller of a long request may still be served: the session may have ended, the token may be revoked."""
    authenticate: Authenticate = request.app.state.authenticate
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else None
    return await authenticate(request, request.cookies.get(SESSION_COOKIE), bearer) is not None


def _needs(role: Role) -> Callable[[Caller], Awaitable[Caller]]:
    async def check(caller: Annotated[Caller, Depends(_caller)]) -> Caller:
        if not caller.role.covers(role):
            raise Forbidden(f"This requires the role {role}; you have {caller.role}.")
        return caller

    return check


AsViewer = Annotated[Caller, Depends(_needs(Role.viewer))]
AsOperator = Annotated[Caller, Depends(_needs(Role.operator))]
AsAdmin = Annotated[Caller, Depends(_needs(Role.admin))]

READ_ERRORS = (NotSignedIn, Forbidden)
WRITE_ERRORS = (NotSignedIn, Forbidden, CsrfMismatch)
