"""Serves the built web UI; paths of the UI's own router get its page."""

from pathlib import Path

import structlog
from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger(__name__)

ASSETS = "/assets/"
"""The build puts a hash of its content into the name of each file there."""
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
"""The page names the assets of its build, so that a browser must not keep it past an upgrade; unchanged, it is not sent again."""


class UiCaching:
    """Tells browsers how long they may keep the files of the UI; plain ASGI, so that streams are not buffered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_caching(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 304):
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):  # also in place of an asset of another build
                    headers.setdefault("Cache-Control", ASK_AGAIN)
                elif scope["path"].startswith(ASSETS):
                    headers.setdefault("Cache-Control", FOR_EVER)
            await send(message)

        of_ui = scope["type"] == "http" and not scope["path"].startswith("/api/")
        await self._app(scope, receive, send_with_caching if of_ui else send)


def serve_ui(app: FastAPI, folder: Path | None) -> None:
    """Serve `folder` below all other routes; without a build only the API is served."""
    if folder is None:
        return
    if not (folder / "index.html").is_file():
        log.warning("ui_missing", folder=str(folder), help="build it with `npm run build` in frontend/, then restart")
        return
    app.frontend("/", directory=folder, fallback="index.html")
    app.add_middleware(UiCaching)
