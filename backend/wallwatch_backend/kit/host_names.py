"""The names under which this server answers. A page of another name that resolves to this server gets nothing (DNS rebinding)."""

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from wallwatch_backend.kit.problems import MEDIA_TYPE, body_of
from wallwatch_backend.settings import Settings


def allowed_names(settings: Settings) -> frozenset[str] | None:
    """Return the lower-case names; None, so that every name is accepted, if no setting names one."""
    urls = (settings.public_url, settings.agent_url)
    if not settings.allowed_hosts and settings.public_url is None:
        return None
    return frozenset(name.lower() for name in [*settings.allowed_hosts, *(url.host for url in urls if url is not None and url.host)])


@lru_cache(maxsize=256)
def is_allowed(host: str, names: frozenset[str] | None) -> bool:
    """Whether a Host header is one of this server.

    >>> is_allowed("WALLWATCH.example:8080", frozenset({"wallwatch.example"})), is_allowed("evil.example", frozenset())
    (True, False)
    >>> is_allowed("10.1.2.3:8080", frozenset()), is_allowed("[::1]", frozenset())
    (True, True)
    """
    if names is None:
        return True
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if name == "localhost" or name in names:
        return True
    try:
        ipaddress.ip_address(name)  # no name, so no foreign page: probes and scrapers use addresses
    except ValueError:
        return False
    return True


def relative(location: str, host: str) -> str:
    """The path of a redirect to this server itself, so that it never names a host; other redirects as they are.

    >>> relative("http://evil.example/api/v1/users?x=1", "evil.example")
    '/api/v1/users?x=1'
    >>> relative("http://a.example//evil.example/x", "a.example")
    '/evil.example/x'
    >>> relative("https://idp.example/authorize", "a.example")
    'https://idp.example/authorize'
    """
    parts = urlsplit(location)
    if not parts.netloc or parts.netloc.lower() != host.lower():
        return location
    path = "/" + parts.path.lstrip("/\\")
    return f"{path}?{parts.query}" if parts.query else path


class HostNames:
    """Answers 421 to requests for other names; plain ASGI."""

    def __init__(self, app: ASGIApp, names: frozenset[str] | None) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._names is None or scope["type"] != "http" or is_allowed(Headers(scope=scope).get("host", "localhost"), self._names):
            await self._app(scope, receive, send)
            return
        detail = "Use the address in WALLWATCH_PUBLIC_URL, or add this name to WALLWATCH_ALLOWED_HOSTS."
        body = body_of(421, "unknown_host", "This server does not answer under this name", detail, scope["path"])
        await JSONResponse(body, status_code=421, media_type=MEDIA_TYPE)(scope, receive, send)
