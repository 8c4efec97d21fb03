"""Errors as RFC 9457 problem details. An error is a class with a status and a stable code; endpoints declare those they raise."""

from typing import Any, ClassVar

from pydantic import BaseModel, Field


class WallwatchError(Exception):
    """Base of every error of the API."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong on the server"

    def __init__(self, detail: str | None = None, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.headers = headers or {}


class NotSignedIn(WallwatchError):
    status, code, title = 401, "not_signed_in", "Sign in first"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail or "Sign in with POST /api/v1/session or send an API token.", headers={"WWW-Authenticate": "Bearer"})


class Forbidden(WallwatchError):
    status, code, title = 403, "forbidden", "Your role does not allow this"


class CsrfMismatch(WallwatchError):
    status, code, title = 403, "csrf_mismatch", "The X-CSRF-Token header is missing or wrong"


class NotFound(WallwatchError):
    status, code, title = 404, "not_found", "Not found"


class InvalidInput(WallwatchError):
    status, code, title = 422, "invalid_input", "A value of the request is invalid"


class ProblemField(BaseModel):
    """One invalid value of the request."""

    location: list[str | int] = Field(description="Where the value is: body, query or path, then the path to it")
    message: str
    code: str


class Problem(BaseModel):
    """Body of every error."""

    type: str = Field(description="`urn:wallwatch:problem:` followed by the code")
    title: str
    status: int
    code: str = Field(description="Stable: write programs against this")
    detail: str
    instance: str = Field(description="Path of the request")
    errors: list[ProblemField] = Field(default_factory=list, description="Filled for validation errors")


MEDIA_TYPE = "application/problem+json"


def body_of(status: int, code: str, title: str, detail: str, instance: str, errors: list[ProblemField] | None = None) -> dict[str, Any]:
    """Return a problem's body as plain data."""
    problem = Problem(
        type=f"urn:wallwatch:problem:{code}", title=title, status=status, code=code, detail=detail, instance=instance, errors=errors or []
    )
    return problem.model_dump(mode="json")


def responses(*errors: type[WallwatchError]) -> dict[int | str, dict[str, Any]]:
    """OpenAPI responses of an endpoint for the errors that it can raise.

    >>> responses(NotFound)[404]["description"]
    'Not found (`not_found`)'
    """
    by_status: dict[int, list[type[WallwatchError]]] = {}
    for error in errors:
        by_status.setdefault(error.status, []).append(error)
    return {
        status: {
            "model": Problem,
            "content": {MEDIA_TYPE: {}},
            "description": "; ".join(f"{e.title} (`{e.code}`)" for e in classes),
        }
        for status, classes in sorted(by_status.items())
    }


_FRAMEWORK = {
    400: ("bad_request", "The request cannot be read"),
    401: ("not_signed_in", "Sign in first"),
    403: ("forbidden", "This is not allowed"),
    404: ("not_found", "Not found"),
    405: ("method_not_allowed", "This method is not possible here"),
    413: ("content_too_large", "The body is too large"),
}


def of_framework(status: int) -> tuple[str, str]:
    """Return code and title of an error that the framework raised; the standard library's phrases change between versions of Python.

    >>> of_framework(405)[0], of_framework(418)[0]
    ('method_not_allowed', 'http_418')
    """
    return _FRAMEWORK.get(status, (f"http_{status}", "The request cannot be served"))
