"""Refuses bodies that are too large: by their announced length before reading, else while reading."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wallwatch_backend.kit.problems import MEDIA_TYPE, body_of, of_framework


class BodyLimit:
    """Plain ASGI; the framework's own limit answers in plain text, outside our error handlers."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app, self._max = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        detail = f"At most {self._max} bytes are accepted."
        if announced.isdigit() and int(announced) > self._max:
            body = body_of(413, *of_framework(413), detail, scope["path"])
            await JSONResponse(body, status_code=413, media_type=MEDIA_TYPE)(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max:
                raise HTTPException(413, detail)
            return message

        await self._app(scope, counted, send)
