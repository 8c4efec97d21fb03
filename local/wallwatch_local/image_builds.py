"""`make images`: both images from their Dockerfiles, without a container engine and without a registry."""

import os
import re
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from wallwatch_local import image_bases
from wallwatch_local.buildah import Buildah
from wallwatch_local.paths import REPOSITORY

AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
"""Of this machine: with those of a proxy, where one stands before the package indexes."""
MOUNTED = Path("/run/secrets/authorities")
"""Where a step of a build sees them."""
CERTIFICATE_ARGUMENTS = frozenset({"PIP_CERT", "NPM_CONFIG_CAFILE", "SSL_CERT_FILE"})
"""Arguments of the Dockerfiles that name a file of authorities."""


@dataclass(frozen=True)
class Built:
    """An image that was built, with the sizes of it and of what it begins with."""

    name: str
    size: int
    base: str
    base_size: int

    def text(self) -> str:
        own = (self.size - self.base_size) / 1e6
        return f"{self.name}: {self.size / 1e6:.0f} MB, {own:.0f} MB of them Wallwatch and what it needs, the rest {self.base}"


def published(repository: Path = REPOSITORY) -> dict[str, str]:
    """Image -> the name under which it is published: the chart's repository and Wallwatch's version."""
    values = yaml.safe_load((repository / "helm" / "wallwatch" / "values.yaml").read_text())["image"]
    return {image: f"{values[image]['repository']}:{_version(repository)}" for image in ("central", "host")}


OTHER_MACHINE = {"amd64": "arm64", "arm64": "amd64"}
"""Kind of machine -> the other one that Wallwatch runs on."""


def build(buildah: Buildah) -> list[Built]:
    """Build both images on the stand-ins, and the host's for the other kind of machine, too.

    Raises
    ------
    LocalStackError
        When a step fails.
    """
    stand_ins = image_bases.build(buildah)
    built = [_build(buildah, image, name, stand_ins) for image, name in published().items()]
    machine = OTHER_MACHINE[buildah.configuration(published()["host"])["architecture"]]
    bases = {**stand_ins, "DEBIAN_IMAGE": image_bases.build_other(buildah, machine)}
    # buildah 1.28 of Debian 12 takes `--platform` for every stage, also for the one that compiles; so the target is given by its arguments.
    target = {"TARGETOS": "linux", "TARGETARCH": machine}
    other = _build(buildah, "host", f"{published()['host']}-{machine}", bases, target)
    buildah.list_together(for_all_machines(), [published()["host"], other.name])
    return [*built, other]


def for_all_machines() -> str:
    """The list of the host's images, from which each machine takes its own."""
    return f"{published()['host']}-all"


def _build(buildah: Buildah, image: str, name: str, bases: Mapping[str, str], target: Mapping[str, str] | None = None) -> Built:
    dockerfile = REPOSITORY / "docker" / f"{image}.Dockerfile"
    text = dockerfile.read_text()
    has_authorities = AUTHORITIES.exists()
    secret = (f"--secret=id=authorities,src={AUTHORITIES}",) if has_authorities else ()
    sources, from_environment = arguments(text, os.environ, has_authorities)
    used = {argument: base for argument, base in bases.items() if f"ARG {argument}=" in text}
    given = {**used, "VERSION": _version(), "REVISION": _revision(), **sources, **(target or {})}
    buildah.build(dockerfile, REPOSITORY, name, given, from_environment=from_environment, options=("--layers", "--pull-never", *secret))
    argument, default = last_base(text)
    return Built(name, buildah.size(name), f"{used[argument]} in the place of {default}", buildah.size(used[argument]))


def arguments(dockerfile: str, environment: Mapping[str, str], has_authorities: bool = True) -> tuple[dict[str, str], list[str]]:
    """Where packages come from: arguments with a value, and those whose value buildah reads from the environment.

    >>> arguments("ARG VERSION=1\\nARG PIP_CERT\\nARG PIP_INDEX_URL\\nARG GOPROXY\\n", {"GOPROXY": "https://user:word@proxy.example"})
    ({'PIP_CERT': '/run/secrets/authorities'}, ['GOPROXY'])
    """
    declared = re.findall(r"^ARG (\w+)$", dockerfile, re.MULTILINE)
    files = {name: str(MOUNTED) for name in declared if name in CERTIFICATE_ARGUMENTS and has_authorities}
    return files, [name for name in declared if name in environment and name not in CERTIFICATE_ARGUMENTS]


def last_base(dockerfile: str) -> tuple[str, str]:
    """The argument that names the image with which the last stage begins, and its default.

    >>> last_base("ARG A=debian:12@sha256:0f\\nARG B=go:1\\nFROM ${B} AS build\\nFROM ${A}\\n")
    ('A', 'debian:12@sha256:0f')
    """
    argument = re.findall(r"^FROM (?:--platform=\S+ )?\$\{(\w+)\}", dockerfile, re.MULTILINE)[-1]
    return argument, dict(re.findall(r"^ARG (\w+)=(\S+)$", dockerfile, re.MULTILINE))[argument]


def _version(repository: Path = REPOSITORY) -> str:
    version: str = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["version"]
    return version


def _revision() -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
