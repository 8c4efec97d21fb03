"""The host's image for the other kind of machine: its programs are for it, and run as far as QEMU plays it."""

import json
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from wallwatch_local.image_builds import OTHER_MACHINE, for_all_machines, published
from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.containers import Machine

THIS = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
OTHER = OTHER_MACHINE[THIS]
IMAGE = published()["host"]
VERSION = IMAGE.rpartition(":")[2]
ELF_MACHINE = {"amd64": 62, "arm64": 183}
QEMU = {"amd64": "qemu-x86_64-static", "arm64": "qemu-aarch64-static"}
PLATFORMS = {"amd64": "x86_64-manylinux_2_36", "arm64": "aarch64-manylinux_2_36"}
PROGRAMS = ("wallwatch-telegraf", "wallwatch-agent", "wallwatch-cni")


@pytest.fixture(scope="module")
def root(machine: Machine) -> Iterator[Path]:
    with machine.buildah.mounted(f"{IMAGE}-{OTHER}") as folder:
        yield folder


def test_one_list_has_an_image_for_each_kind_of_machine(machine: Machine) -> None:
    listed = json.loads(machine.buildah.answer("manifest", "inspect", for_all_machines()))["manifests"]
    assert {(one["platform"]["os"], one["platform"]["architecture"]) for one in listed} == {("linux", THIS), ("linux", OTHER)}
    assert len({one["digest"] for one in listed}) == 2
    assert machine.buildah.configuration(f"{IMAGE}-{OTHER}")["architecture"] == OTHER


@pytest.mark.parametrize("program", PROGRAMS)
def test_its_programs_are_for_that_machine(root: Path, program: str) -> None:
    head = (root / "usr" / "local" / "bin" / program).read_bytes()[:20]
    assert head[:4] == b"\x7fELF"
    assert int.from_bytes(head[18:20], "little") == ELF_MACHINE[OTHER]


@pytest.mark.parametrize("program", ["wallwatch-telegraf", "wallwatch-agent"])
def test_its_programs_say_their_version_on_it(root: Path, program: str) -> None:
    if shutil.which(QEMU[OTHER]) is None:
        pytest.skip(f"{QEMU[OTHER]} is not installed: local/setup.sh images")
    command = [QEMU[OTHER], str(root / "usr" / "local" / "bin" / program), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert VERSION in done.stdout


@pytest.mark.parametrize("machine_kind", PLATFORMS)
def test_every_package_of_the_server_has_a_wheel_for_it(machine_kind: str, tmp_path: Path) -> None:
    """For the Python of the published base image, which the stand-in is not."""
    text = (REPOSITORY / "docker" / "central.Dockerfile").read_text()
    version = text.partition("ARG PYTHON_IMAGE=python:")[2].partition("-")[0]
    options = ["--python-version", version, "--python-platform", PLATFORMS[machine_kind], "--only-binary", ":all:", "--require-hashes"]
    lock = str(REPOSITORY / "docker" / "requirements.lock")
    command = ["uv", "pip", "install", "--dry-run", "--target", str(tmp_path), *options, "-r", lock]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Would install" in done.stderr
