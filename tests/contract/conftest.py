"""Additional programs for the contract tests: built once from pinned Go modules, then reused."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch_local.paths import REPOSITORY, tools_dir

GO_MODULE = REPOSITORY / "tests" / "contract" / "tools"
CHART = REPOSITORY / "helm" / "wallwatch"
# Helm built from source takes an old version of Kubernetes for granted; the chart says which it needs.
KUBE_VERSION = "1.31.0"


def _build(name: str, package: str) -> Path:
    target = tools_dir() / "bin" / name
    sources = list((GO_MODULE / package).glob("*.go")) if package.startswith("./") else []  # ours; others are pinned
    if not target.exists() or any(source.stat().st_mtime > target.stat().st_mtime for source in sources):
        target.parent.mkdir(parents=True, exist_ok=True)
        command = ["nice", "-n", "5", "go", "build", "-mod=readonly", "-trimpath", "-ldflags", "-s -w", "-o", str(target), package]
        subprocess.run(command, cwd=GO_MODULE, check=True)
    return target


@pytest.fixture(scope="session")
def helm() -> Path:
    """The `helm` program. Its first build takes minutes."""
    return _build("helm", "helm.sh/helm/v3/cmd/helm")


@pytest.fixture(scope="session")
def composecheck() -> Path:
    """Loads a Compose file with the reference implementation of the Compose Specification; see tools/composecheck."""
    return _build("composecheck", "./composecheck")


@pytest.fixture(scope="session")
def passwords() -> dict[str, str]:
    """Variable -> random password: what an operator gets from docker/make-env.sh."""
    done = subprocess.run(["sh", str(REPOSITORY / "docker" / "make-env.sh")], capture_output=True, text=True, check=True)
    settings = (line.partition("=") for line in done.stdout.splitlines() if line and not line.startswith("#"))
    return {name: value for name, _, value in settings}


@pytest.fixture(scope="session")
def compose(composecheck: Path, passwords: dict[str, str]) -> dict[str, Any]:
    """The loaded docker-compose.yml, all profiles on."""
    environment = {"PATH": os.environ["PATH"], **passwords}
    command = [str(composecheck), str(REPOSITORY / "docker-compose.yml")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def render(helm: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`helm template` of the chart with more arguments."""
    command = [str(helm), "template", "wallwatch", str(CHART), "--kube-version", KUBE_VERSION, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def manifests(helm: Path) -> list[dict[str, Any]]:
    """The chart rendered with its default values, and what is optional on."""
    done = render(helm, "--set", "lab.enabled=true")
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


@pytest.fixture(scope="session")
def render_chart(helm: Path) -> Any:
    """A function that renders the chart with more arguments and returns the finished process."""
    return lambda *arguments: render(helm, *arguments)
