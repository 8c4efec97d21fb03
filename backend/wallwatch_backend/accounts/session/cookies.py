"""The session's cookie."""

from fastapi import Request, Response

from wallwatch_backend.kit.access import SESSION_COOKIE
from wallwatch_backend.settings import Settings


def must_be_secure(request: Request, settings: Settings) -> bool:
    """Return whether browsers reach this server by HTTPS, so that its cookies must not travel without."""
    return request.url.scheme == "https" or (settings.public_url is not None and settings.public_url.scheme == "https")


def set_session_cookie(response: Response, request: Request, settings: Settings, secret: str) -> None:
    """Scripts cannot read the cookie, and no other site can send it."""
    set_strict_cookie(response, request, settings, SESSION_COOKIE, secret, "/")


def set_strict_cookie(response: Response, request: Request, settings: Settings, name: str, value: str, path: str) -> None:
    """Set a cookie that lasts as long as a session."""
    response.set_cookie(
        name,
        value,
        max_age=int(settings.session_hours * 3600),
        path=path,
        httponly=True,
        samesite="strict",
        secure=must_be_secure(request, settings),
    )
