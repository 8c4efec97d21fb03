"""Adds security headers and the request's id to every answer, and measures its duration."""

import os
import re
import time
from functools import lru_cache

import structlog
from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wallwatch_backend.kit.host_names import relative

REQUESTS = Counter("wallwatch_http_requests", "Requests", ["method", "route", "status"])
SECONDS = Histogram("wallwatch_http_request_seconds", "Time to the first byte of the answer", ["route"])

REQUEST_ID = "X-Request-Id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TRACE = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
"""https://www.w3.org/TR/trace-context/#traceparent-header"""


def request_id(headers: Headers) -> str:
    """The client's id of the request, or that of its trace, or a new one.

    >>> request_id(Headers({"X-Request-Id": "ticket-7"}))
    'ticket-7'
    >>> request_id(Headers({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}))
    '0af7651916cd43dd8448eb211c80319c'
    """
    given = headers.get(REQUEST_ID, "")
    if _REQUEST_ID.fullmatch(given):
        return given
    trace = _TRACE.fullmatch(headers.get("traceparent", ""))
    return trace[1] if trace else os.urandom(16).hex()


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

SECURITY_HEADERS = {
    # Styles: Mantine sets them inline. Everything else comes from this server only.
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
        "connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SECURITY = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
_NOSNIFF = [header for header in _SECURITY if header[0] == b"x-content-type-options"]
_PARTS = re.compile(r"(text|application)/(javascript|css)\b|font/")
"""Parts of a page. The other headers are about documents, which these cannot become: `nosniff` holds them to their type.
A page has some fifty of them, and the headers would be 20 kB of it."""


@lru_cache(maxsize=4_096)
def _metrics(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    """The series of these labels: looking them up costs more than counting."""
    return REQUESTS.labels(method, route, str(status)), SECONDS.labels(route)


class AnswerHeaders:
    """Adds the headers and metrics; plain ASGI, so that streams are not buffered."""

    def __init__(self, app: ASGIApp, hsts_s: int = 0, *, always_https: bool = False) -> None:
        self._app, self._hsts_s, self._always_https = app, hsts_s, always_https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        identity = request_id(Headers(scope=scope))
        # Each request is a task of its own, so that its log lines only carry the id.
        structlog.contextvars.bind_contextvars(request_id=identity)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                present = {name for name, _ in headers.raw}
                needed = _NOSNIFF if _PARTS.match(headers.get("content-type", "")) else _SECURITY
                headers.raw.extend(header for header in needed if header[0] not in present)
                headers[REQUEST_ID] = identity
                if self._hsts_s and (self._always_https or scope["scheme"] == "https"):
                    headers.setdefault("Strict-Transport-Security", f"max-age={self._hsts_s}")
                if "location" in headers:
                    headers["location"] = relative(headers["location"], Headers(scope=scope).get("host", ""))
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
                # The route's pattern, never the path: a label per host and id would grow without bound.
                route = getattr(scope.get("route"), "path", "other")
                method = scope["method"] if scope["method"] in _METHODS else "other"
                requests, seconds = _metrics(method, route, message["status"])
                requests.inc()
                seconds.observe(time.perf_counter() - started)
            await send(message)

        await self._app(scope, receive, send_with_headers)
