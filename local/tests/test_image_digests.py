"""`make image-digests`: a wrong digest is named with the right one, and what nobody could look up is not taken for right."""

import os
from pathlib import Path

import pytest

from wallwatch_local import image_digests
from wallwatch_local.image_digests import Image, check, exit_code, pinned, registry

RIGHT, OTHER = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
STORE, BROKER = Image("example/store:1.0", RIGHT, ("docker-compose.yml",)), Image("example/broker:2", OTHER, ("values.yaml",))


def test_every_pinned_image_is_found_once_with_the_files_that_name_it() -> None:
    found = {image.name.partition(":")[0]: image for image in pinned()}
    assert found["timescale/timescaledb"].files == ("docker-compose.yml", "helm/wallwatch/values.yaml")
    assert found["apache/kafka"].files == ("docker-compose.yml", "helm/wallwatch/values.yaml")
    assert any(file.endswith(".Dockerfile") for image in found.values() for file in image.files)
    assert len(found) == len(pinned()), "one image has two digests"


def test_a_wrong_digest_is_told_with_both_and_where_it_stands() -> None:
    verdicts = check([STORE, BROKER], lambda _: RIGHT)
    assert exit_code(verdicts) == 1
    assert verdicts[0].text() == "example/store:1.0: right (docker-compose.yml)"
    assert verdicts[1].text().splitlines()[:3] == [
        "example/broker:2: WRONG in values.yaml",
        f"  pinned:   {OTHER}",
        f"  registry: {RIGHT}",
    ]


def test_what_could_not_be_looked_up_is_not_right() -> None:
    def away(_: str) -> str:
        raise OSError("no route to host")

    verdicts = check([STORE], away)
    assert exit_code(verdicts) == 3
    assert verdicts[0].text() == "example/store:1.0: NOT CHECKED. no route to host (docker-compose.yml)"
    assert exit_code([]) == 3


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (f"echo {RIGHT}", RIGHT),
        ("echo 'no such manifest: example/store:1.0' >&2; exit 1", "crane says: no such manifest: example/store:1.0"),
        ("echo sign in first", "crane says: sign in first"),
        (None, "None of these programs is installed: docker, crane."),
    ],
)
def test_the_registry_is_asked_by_the_program_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, said: str
) -> None:
    if script is not None:
        program = tmp_path / "crane"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/nowhere")
    [verdict] = check([STORE], registry())
    assert said in (verdict.digest, verdict.problem)
    assert image_digests.exit_code([verdict]) == (0 if said == RIGHT else 3)
