"""Serves the built web UI; paths of the UI's own router get its page."""

from pathlib import Path

import structlog
from fastapi import FastAPI

log = structlog.get_logger(__name__)


def serve_ui(app: FastAPI, folder: Path | None) -> None:
    """Serve `folder` below all other routes; without a build only the API is served."""
    if folder is None:
        return
    if not (folder / "index.html").is_file():
        log.warning("ui_missing", folder=str(folder), help="build it with `npm run build` in frontend/, then restart")
        return
    app.frontend("/", directory=folder, fallback="index.html")
