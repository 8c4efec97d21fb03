"""`make images`: what buildah is asked for, by a program in its place that writes down its arguments."""

import os
from pathlib import Path

import pytest

from wallwatch_local import image_bases, image_builds
from wallwatch_local.buildah import Buildah
from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import REPOSITORY

PROXY = "https://user:a-password@proxy.example/"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a `buildah` that knows no image, and whose steps fail where the file `fails` is."""
    program = tmp_path / "buildah"
    program.write_text(
        f"""#!/bin/sh
echo "$@" >>{tmp_path}/asked
case "$*" in
  *"--storage-driver overlay"*) [ ! -e {tmp_path}/no-overlay ] || {{ echo "overlay is not supported" >&2; exit 125; }} ;;
esac
case " $* " in
  *" build "*) [ ! -e {tmp_path}/fails ] ;;
  *" inspect "*) exit 1 ;;
esac
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


def test_every_argument_of_the_dockerfiles_that_names_an_image_has_a_stand_in() -> None:
    files = [(REPOSITORY / "docker" / f"{image}.Dockerfile").read_text() for image in image_builds.published()]
    named = {
        line.split()[1].partition("=")[0] for text in files for line in text.splitlines() if line.startswith("ARG ") and "_IMAGE=" in line
    }
    assert named == set(image_bases.STAGES)
    stages = {line.split(" AS ")[1] for line in image_bases.DOCKERFILE.read_text().splitlines() if line.startswith("FROM ")}
    assert set(image_bases.STAGES.values()) == stages


def test_a_proxy_s_password_is_on_no_command_line(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPROXY", PROXY)
    text = (REPOSITORY / "docker" / "host.Dockerfile").read_text()
    given, from_environment = image_builds.arguments(text, os.environ)
    Buildah(stand_in).build(Path("x.Dockerfile"), stand_in, "x:1", given, from_environment=from_environment)
    assert "--build-arg=GOPROXY " in asked(stand_in)[-1]
    assert "--build-arg=SSL_CERT_FILE=/run/secrets/authorities" in asked(stand_in)[-1]
    assert PROXY not in (stand_in / "asked").read_text()


def test_without_authorities_of_the_machine_no_file_is_named() -> None:
    assert image_builds.arguments("ARG PIP_CERT\nARG PIP_INDEX_URL\n", {"PIP_CERT": "/etc/a.pem"}, has_authorities=False) == ({}, [])


def test_a_step_that_fails_is_told_with_its_file(stand_in: Path) -> None:
    (stand_in / "fails").touch()
    with pytest.raises(LocalStackError, match=r"x\.Dockerfile: a step failed"):
        Buildah(stand_in).build(Path("x.Dockerfile"), stand_in, "x:1", {})


def test_where_overlays_are_not_to_be_had_images_are_copies(stand_in: Path) -> None:
    (stand_in / "no-overlay").touch()
    Buildah(stand_in).build(Path("x.Dockerfile"), stand_in, "x:1", {})
    assert "--storage-driver vfs build" in asked(stand_in)[-1]


def test_an_image_that_is_not_there_is_not_taken_for_one(stand_in: Path) -> None:
    assert Buildah(stand_in).has("x:1") is False
