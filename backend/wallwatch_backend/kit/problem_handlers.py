"""Turns every error, ours and the framework's, into a problem document."""

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from wallwatch_backend.kit.allowed_methods import allowed_methods
from wallwatch_backend.kit.problems import MEDIA_TYPE, ProblemField, WallwatchError, body_of, of_framework

log = structlog.get_logger(__name__)


def _response(body: dict[str, Any], headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(body, status_code=body["status"], media_type=MEDIA_TYPE, headers=headers)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, WallwatchError)  # noqa: S101 - registered for this class only
    return _response(body_of(error.status, error.code, error.title, error.detail, request.url.path), error.headers)


async def _validation(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class only
    # The rejected input itself is left out: it may be a password.
    fields = [ProblemField(location=list(e["loc"]), message=e["msg"], code=e["type"]) for e in error.errors()]
    detail = "; ".join(f"{'.'.join(str(part) for part in f.location)}: {f.message}" for f in fields[:5])
    return _response(body_of(422, "invalid_input", "The request is invalid", detail, request.url.path, fields))


async def _framework(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    code, title = of_framework(error.status_code)
    headers = dict(error.headers) if error.headers else {}
    if error.status_code == 405 and (methods := allowed_methods(request.app.openapi(), request.url.path)):
        headers["Allow"] = ", ".join(methods)  # the framework knows of the first route with this path only
    return _response(body_of(error.status_code, code, title, str(error.detail), request.url.path), headers)


async def _database_away(request: Request, error: Exception) -> JSONResponse:
    log.error("database_unavailable", path=request.url.path, error=str(error.__cause__ or error).splitlines()[0])
    body = body_of(503, "database_unavailable", "The database does not answer", "Try again in a few seconds.", request.url.path)
    return _response(body, {"Retry-After": "5"})


async def _database_busy(request: Request, error: Exception) -> JSONResponse:
    log.error("database_busy", path=request.url.path, error=str(error).splitlines()[0])
    detail = "Too many requests are waiting; nothing was done. Try again in a few seconds."
    body = body_of(503, "database_unavailable", "The database does not answer in time", detail, request.url.path)
    return _response(body, {"Retry-After": "5"})


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("unexpected_error", path=request.url.path, method=request.method, exc_info=error)
    return _response(body_of(500, "internal", "Something went wrong on the server", "The server's log has the cause.", request.url.path))


def install(app: FastAPI) -> None:
    """Register the handlers on `app`."""
    app.add_exception_handler(WallwatchError, _ours)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(OperationalError, _database_away)
    app.add_exception_handler(PoolTimeout, _database_busy)
    app.add_exception_handler(Exception, _unexpected)
