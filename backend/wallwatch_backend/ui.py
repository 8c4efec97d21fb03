"""Serves the built web UI; paths of the UI's own router get its page.

The build puts compressed forms next to each text below `assets/` (`frontend/scripts/compressed.mjs`), which are sent as they are: nothing
is compressed for each request, and Brotli at its best is a fifth smaller than what could be done in that time.
"""

import mimetypes
from collections.abc import Mapping
from pathlib import Path

import structlog
from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger(__name__)

ASSETS = "/assets/"
"""The build puts a hash of its content into the name of each file there."""
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
"""The page names the assets of its build, so that a browser must not keep it past an upgrade; unchanged, it is not sent again."""

NEVER_ASKED = ("Last-Modified", "Accept-Ranges")
"""What browsers make of nothing that they keep for ever; those that ask again all the same use the ETag."""

FORMS = {"br": ".br", "gzip": ".gz"}
"""Content codings, the smallest first, and how their files end."""


def compressed_forms(folder: Path) -> dict[str, dict[str, str]]:
    """Return, by the path of each asset that has them, its compressed forms: content coding → path."""
    forms: dict[str, dict[str, str]] = {}
    for coding, ending in FORMS.items():
        for file in sorted((folder / "assets").glob(f"*{ending}")):
            forms.setdefault(ASSETS + file.name.removesuffix(ending), {})[coding] = ASSETS + file.name
    return forms


def accepted(header: str) -> set[str]:
    """Return the content codings that an Accept-Encoding header names and does not refuse.

    >>> sorted(accepted("gzip, deflate, br;q=1.0, zstd;q=0"))
    ['br', 'deflate', 'gzip']
    """
    codings = (part.strip().lower().partition(";") for part in header.split(","))
    return {name.strip() for name, _, weight in codings if weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")}


class CompressedAssets:
    """Sends the compressed form of an asset to browsers that take it; plain ASGI, in front of what sends files."""

    def __init__(self, app: ASGIApp, forms: Mapping[str, Mapping[str, str]]) -> None:
        self._app = app
        self._forms = forms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        forms = self._forms.get(scope["path"]) if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else None
        if forms is None:
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        takes = accepted(Headers(scope=scope).get("accept-encoding", ""))
        coding = next((coding for coding in forms if coding in takes), None)

        async def send_as_what_it_is(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.add_vary_header("Accept-Encoding")
                if coding is not None and message["status"] in (200, 206):
                    headers["Content-Encoding"] = coding
                    headers["Content-Type"] = f"{mimetypes.guess_type(path)[0] or 'application/octet-stream'}; charset=utf-8"
            await send(message)

        if coding is not None:
            plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]  # or it is compressed again
            scope = {**scope, "path": forms[coding], "raw_path": forms[coding].encode(), "headers": plain}
        await self._app(scope, receive, send_as_what_it_is)


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
                    for name in NEVER_ASKED:
                        del headers[name]
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
    app.add_middleware(CompressedAssets, forms=compressed_forms(folder))
    app.add_middleware(UiCaching)
