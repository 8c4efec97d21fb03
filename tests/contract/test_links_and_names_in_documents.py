"""Names in documents exist: linked files and headings, tasks of `make`, environment variables."""

import re
from functools import cache
from pathlib import Path

import pytest

from wallwatch_local.paths import REPOSITORY

PARTS = ("backend", "collectors", "docker", "docs", "frontend/src", "helm", "local", "pipelines", "tests")
PAGES = sorted({*REPOSITORY.glob("*.md"), *(page for part in PARTS for page in (REPOSITORY / part).rglob("*.md"))})
SOURCES = {".py", ".sh", ".go", ".ts", ".mjs", ".yaml", ".yml", ".conf", ".env", ".tpl", ".toml", ".Dockerfile", ""}
VARIABLE = re.compile(r"WALLWATCH_[A-Z0-9_]*[A-Z0-9](?![A-Z0-9_])")
"""A complete name, unlike a prefix such as `WALLWATCH_REMEDY_`."""


def broken_links(page: Path, text: str) -> list[str]:
    """Links to files that are not there, and to headings that their page does not have."""
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (heading and target.suffix == ".md" and heading not in headings(target)):
            found.append(link)
    return found


@cache
def headings(page: Path) -> set[str]:
    """The anchors that a reader of Markdown makes of a page's headings."""
    written = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", one) for one in written]
    return {re.sub(r"[^\w\- ]", "", one.strip().lower()).replace(" ", "-") for one in plain}


@cache
def tasks() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


@cache
def variables() -> set[str]:
    """The variables that anything but a document names, and those of the settings, which are fields in lower case."""
    named: set[str] = set()
    for part in (*PARTS, ".ci", "migrations"):
        for file in (REPOSITORY / part).rglob("*"):
            if file.suffix in SOURCES and file.is_file() and "node_modules" not in file.parts:
                named |= set(VARIABLE.findall(file.read_text(errors="replace")))
    named |= set(VARIABLE.findall((REPOSITORY / "docker-compose.yml").read_text()))
    for settings in ("backend/wallwatch_backend/settings.py", "pipelines/wallwatch/settings.py", "pipelines/wallwatch/kafka_settings.py"):
        fields = re.findall(r"^    ([a-z0-9_]+):", (REPOSITORY / settings).read_text(), re.MULTILINE)
        named |= {f"WALLWATCH_{field.upper()}" for field in fields}
    return named


def unknown_tasks(text: str) -> list[str]:
    """Tasks in code, which is what people copy; in prose, `make` is a word."""
    code = re.findall(r"`([^`\n]+)`", text) + re.findall(r"^(make .+)$", text, re.MULTILINE)
    return [task for one in code for task in re.findall(r"^make ([a-z][a-z-]*)", one) if task not in tasks()]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(REPOSITORY)) for page in PAGES])
def test_what_a_page_links_to_and_names_is_there(page: Path) -> None:
    text = page.read_text()
    assert broken_links(page, text) == []
    assert unknown_tasks(text) == []
    assert set(VARIABLE.findall(text)) - variables() == set()


def test_what_is_not_there_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](gone.md) [b](page.md#one) [c](#two) [d](https://example.net/x)")
    assert broken_links(page, page.read_text()) == ["gone.md", "#two"]
    assert unknown_tasks("Run `make test`, then `make tests`; they make it.\n\n```\nmake bensch\n```") == ["tests", "bensch"]
    misspelt = "WALLWATCH_HTTP_" + "PORTS"  # in two parts, since this file is among those that are read
    assert VARIABLE.findall(f"`{misspelt}` and `WALLWATCH_REMEDY_`") == [misspelt]
    assert misspelt not in variables()
