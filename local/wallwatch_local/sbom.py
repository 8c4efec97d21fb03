"""A software bill of materials (CycloneDX) for each image: the packages that Wallwatch adds to the image it is built from.

The image that it is built from is listed with its digest, but not what that brings (Debian's packages, Python itself); an image
scanner reads those from the built image.
"""

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from wallwatch_local.errors import LocalStackError
from wallwatch_local.image_builds import last_base
from wallwatch_local.paths import REPOSITORY, binary, tools_dir

DOCKER = REPOSITORY / "docker"
HOST_PROGRAMS = ("wallwatch-telegraf", "wallwatch-agent", "wallwatch-cni")


def write(folder: Path) -> dict[Path, int]:
    """Write one file for each image and return how many components it lists.

    Raises
    ------
    LocalStackError
        When a tool fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    images = {
        "central": [base((DOCKER / "central.Dockerfile").read_text()), python(), npm()],
        "host": [base((DOCKER / "host.Dockerfile").read_text()), *(go(program) for program in HOST_PROGRAMS)],
    }
    counts = {}
    for image, parts in images.items():
        bill = merged(image, version, parts)
        file = folder / f"{image}.cdx.json"
        file.write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n")
        counts[file] = len(bill["components"])
    return counts


def base(dockerfile: str) -> dict[str, Any]:
    """The image that the last stage of a Dockerfile begins with, unless the build names another.

    >>> base("ARG A=debian:12@sha256:0f\\nFROM ${A} AS build\\nFROM ${A}\\n")["components"][0]["purl"]
    'pkg:oci/debian@sha256%3A0f?tag=12'
    """
    name, _, digest = last_base(dockerfile)[1].partition("@")
    repository, _, tag = name.rpartition(":")
    purl = f"pkg:oci/{repository.rpartition('/')[2]}@{digest.replace(':', '%3A')}?tag={tag}"
    return {"components": [{"type": "container", "name": repository, "version": f"{tag}@{digest}", "purl": purl}]}


def python() -> dict[str, Any]:
    """The packages that the image installs."""
    return _bill([str(tools_dir() / "audit" / "bin" / "cyclonedx-py"), "requirements", "requirements.lock", "--of", "JSON"], DOCKER)


def npm() -> dict[str, Any]:
    """The packages that the built pages contain."""
    return _bill(["npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--omit", "dev"], REPOSITORY / "frontend")


def go(program: str) -> dict[str, Any]:
    """The modules that are linked into a program, as the program itself says."""
    return _bill([str(tools_dir() / "bin" / "cyclonedx-gomod"), "bin", "-json", str(binary(program))], REPOSITORY)


def merged(image: str, version: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One bill of several; components of the same package count once. The same parts give the same bytes.

    >>> one = {"components": [{"name": "a", "version": "1", "purl": "pkg:pypi/a@1", "type": "library"}]}
    >>> [c["name"] for c in merged("central", "0.1.0", [one, one])["components"]]
    ['a']
    """
    components: dict[str, dict[str, Any]] = {}
    for part in parts:
        for one in part.get("components", []):
            purl = one.get("purl") or f"pkg:generic/{one['name']}@{one.get('version', '')}"
            kept = {key: one[key] for key in ("type", "name", "version", "group", "scope", "hashes", "licenses") if key in one}
            components.setdefault(purl, {**kept, "purl": purl, "bom-ref": purl})
    listed = [components[purl] for purl in sorted(components)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps([image, version, sorted(components)]))}",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": f"wallwatch/{image}", "version": version, "bom-ref": f"wallwatch/{image}"}},
        "components": listed,
    }


def _bill(command: list[str], folder: Path) -> dict[str, Any]:
    name = Path(command[0]).name
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})
        if done.returncode != 0:
            raise LocalStackError(f"{name} failed:\n{done.stderr[-1000:]}")
        bill: dict[str, Any] = json.loads(done.stdout)
    except FileNotFoundError:
        raise LocalStackError(f"{name} is not installed: run 'make sbom'") from None
    except ValueError as error:
        raise LocalStackError(f"{name} wrote no JSON: {error}") from None
    return bill
