"""Refuses bodies that are too large: by their announced length before reading, else while reading."""

from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wallwatch_backend.kit.problems import MEDIA_TYPE, body_of, of_framework


class BodyLimit:
    """Plain ASGI; the framework's own limit answers in plain text, outside our error handlers."""

    def __init__(self, app: ASGIApp, max_bytes: int, uploads: Mapping[str, int] | None = None) -> None:
        self._app, self._max_bytes = app, max_bytes
        self._uploads = dict(uploads or {})
        """Most bytes of a POST to these paths, whose endpoints read bodies as they arrive."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
        max_bytes = self._uploads.get(scope["path"], self._max_bytes) if scope["method"] == "POST" else self._max_bytes
        detail = f"At most {max_bytes} bytes are accepted."
        if announced.isdigit() and int(announced) > max_bytes:
            body = body_of(413, *of_framework(413), detail, scope["path"])
            await JSONResponse(body, status_code=413, media_type=MEDIA_TYPE)(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > max_bytes:
                raise HTTPException(413, detail)
            return message

        await self._app(scope, counted, send)
