"""Chromium for the benchmarks that look at the page: the environment of scripts that import browser.mjs."""

import os
import shutil
from pathlib import Path

import httpx

from wallwatch_local.paths import REPOSITORY


def _chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    raise SystemExit("Chromium is not installed: run 'make setup'")


def _sign_in(url: str, username: str, password: str) -> str:
    with httpx.Client(base_url=url) as client:
        client.post("/api/v1/session", json={"username": username, "password": password}).raise_for_status()
        return str(client.cookies["wallwatch_session"])


def environment(home: Path, url: str, username: str, password: str) -> dict[str, str]:
    """What a script needs to open pages as this user; `home` keeps the browser's files."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "BASE_URL": url,
        "COOKIE": _sign_in(url, username, password),
        "PLAYWRIGHT": str(REPOSITORY / "frontend" / "package.json"),
        "CHROMIUM": _chromium(),
    }
