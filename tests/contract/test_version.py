"""One version: pyproject.toml has it, and every other file that must name it agrees. Go programs and images get it when they are built."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from wallwatch_backend import __version__
from wallwatch_local.paths import REPOSITORY

VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]


def text(path: str) -> str:
    return (REPOSITORY / path).read_text()


def test_the_backend_says_the_version_of_the_installed_package() -> None:
    assert __version__ == VERSION


@pytest.mark.parametrize("key", ["version", "appVersion"])
def test_the_chart_names_it(key: str) -> None:
    assert yaml.safe_load(text("helm/wallwatch/Chart.yaml"))[key] == VERSION


def test_the_frontend_s_package_and_its_lock_name_it() -> None:
    lock = json.loads(text("frontend/package-lock.json"))
    assert json.loads(text("frontend/package.json"))["version"] == VERSION
    assert (lock["version"], lock["packages"][""]["version"]) == (VERSION, VERSION)


@pytest.mark.parametrize("path", ["docker-compose.yml", "docs/operating.md"])
def test_images_are_named_by_it(path: str) -> None:
    images, stamps = (re.findall(pattern, text(path)) for pattern in (r"wallwatch/(?:central|host):([0-9.]+)", r"VERSION[=:] ?([0-9.]+)"))
    assert images
    assert stamps, "the host's programs get their version when their image is built"
    assert {*images, *stamps} == {VERSION}


def test_the_changelog_has_a_section_of_it() -> None:
    assert re.search(rf"^## {re.escape(VERSION)}( |$)", text("CHANGELOG.md"), re.MULTILINE)


def test_no_source_of_a_program_has_it_by_hand() -> None:
    sources = [
        *Path(REPOSITORY / "collectors" / "cmd").rglob("*.go"),
        *Path(REPOSITORY / "backend" / "wallwatch_backend").rglob("*.py"),
        *Path(REPOSITORY / "docker").glob("*.Dockerfile"),
    ]
    assert [str(file.relative_to(REPOSITORY)) for file in sources if re.search(rf"[\"'=]{re.escape(VERSION)}\b", file.read_text())] == []
