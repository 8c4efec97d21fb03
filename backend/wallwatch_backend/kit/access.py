"""Authentication and authorisation: session cookie with CSRF header, or API token; the role that each endpoint requires."""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from wallwatch_backend.kit import reach
from wallwatch_backend.kit.problems import CsrfMismatch, Forbidden, NotSignedIn
from wallwatch_backend.kit.roles import Role as Role
from wallwatch_backend.kit.roles import TokenScope, scope_needed

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
    people: frozenset[UUID] = field(default=frozenset())  # accounts of the persons behind it: the user, or a token's owner and creators
    owner_id: UUID | None = None  # the account whose rights it uses: the user's own, or that of a token's owner
    scopes: frozenset[TokenScope] = frozenset(TokenScope)
    hosts: frozenset[str] | None = None  # the only hosts that a token may read and change; None: all

    @property
    def actor(self) -> str:
        """How timelines and the audit log name the caller."""
        return self.name if self.kind == "user" else f"token:{self.name}"


def address_of(request: Request) -> str | None:
    """Return the client's address, as `kit.proxies` has determined it."""
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


def credentials_of(request: Request) -> tuple[str | None, str | None]:
    """Return the session's secret and the bearer token of a request; where there is a token, the session is ignored."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return request.cookies.get(SESSION_COOKIE), token.strip() if scheme.lower() == "bearer" else None


def _needs(role: Role) -> Callable[[Request, Caller], Awaitable[Caller]]:
    async def check(request: Request, caller: Annotated[Caller, Depends(_caller)]) -> Caller:
        if not caller.role.covers(role):
            raise Forbidden(f"This requires the role {role}; you have {caller.role}.")
        if caller.kind == "token":
            route = request.scope["route"]
            scope = scope_needed(role, request.method not in _SAFE_METHODS, route.tags)
            if scope is not None and scope not in caller.scopes:
                raise Forbidden(f"This requires a token with the scope {scope}; {caller.name} has {', '.join(sorted(caller.scopes))}.")
            if caller.hosts is not None:
                await reach.check(request, caller.hosts)
        return caller

    return check


AsViewer = Annotated[Caller, Depends(_needs(Role.viewer))]
AsOperator = Annotated[Caller, Depends(_needs(Role.operator))]
AsAdmin = Annotated[Caller, Depends(_needs(Role.admin))]

READ_ERRORS = (NotSignedIn, Forbidden)
WRITE_ERRORS = (NotSignedIn, Forbidden, CsrfMismatch)
