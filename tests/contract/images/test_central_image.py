"""The image of the server, started as Compose does: each process as its own user, within its limits, on a root that nobody can write."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from wallwatch_local.image_builds import published
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.ports import free_ports
from wallwatch_testing.containers import Container, Machine, at_ports
from wallwatch_testing.stack import wait_for

IMAGE = published()["central"]
VERSION = IMAGE.rpartition(":")[2]
JOBS = ("ingest", "classify", "isolation", "validate", "forecast", "lab")
NOT_OURS = ("gcc", "cc", "go", "node", "npm", "pip", "pip3", "uv", "git", "pytest", "mypy", "ruff")
"""Programs that a container which runs has no use for."""
COMPILED = """
from wallwatch.jobs import compiled_stage
assert compiled_stage.use()
from wallwatch.domain.isolation import live
from wallwatch.domain.symptoms import host_stage
print(host_stage.__file__, live.__file__)
"""
IMPORT_ALL = """
import importlib, pkgutil, wallwatch, wallwatch_backend
modules = [m for p in (wallwatch, wallwatch_backend) for m in pkgutil.walk_packages(p.__path__, p.__name__ + ".")]
names = [m.name for m in modules if "__main__" not in m.name]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


@pytest.fixture(scope="module", params=JOBS)
def job(request: pytest.FixtureRequest, machine: Machine, migrated: Any) -> Iterator[tuple[Container, int]]:
    """A job of the server, healthy, and the port of its metrics."""
    [port] = free_ports(1)
    with machine.started(request.param, at_ports(migrated.services[request.param], {9108: port})) as container:
        wait_for(f"a healthy {request.param}", container.is_healthy, timeout_s=120)
        yield container, port


def test_every_job_becomes_healthy_within_its_limits(job: tuple[Container, int]) -> None:
    container, port = job
    metrics = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
    assert re.search(r"^process_resident_memory_bytes [\d.e+]+$", metrics, re.MULTILINE)
    assert "Traceback" not in container.text()


def test_every_job_has_its_own_user_no_rights_and_a_root_that_nobody_can_write(job: tuple[Container, int]) -> None:
    container, _ = job
    assert container.execute("id", "-u").stdout.strip() == str(user_of_the_chart())
    status = container.execute("cat", "/proc/1/status").stdout
    assert {line.split()[1] for line in status.splitlines() if line.startswith("Cap")} == {"0" * 16}
    assert "NoNewPrivs:\t1" in status
    for place in ("/app/x", "/usr/local/bin/x"):
        assert "Read-only file system" in container.execute("touch", place, user="0").stderr


def user_of_the_chart() -> int:
    helpers = (REPOSITORY / "helm" / "wallwatch" / "templates" / "_helpers.tpl").read_text()
    match = re.search(r"runAsNonRoot: true\nrunAsUser: (\d+)\n", helpers)
    assert match is not None
    return int(match[1])


def test_the_backend_is_healthy_and_serves_the_pages(backend: Any) -> None:
    assert httpx.get(f"{backend.url}/-/healthy", timeout=60).is_success
    assert httpx.get(f"{backend.url}/-/ready", timeout=60).is_success
    page = httpx.get(backend.url, timeout=60)
    assert page.headers["content-type"].startswith("text/html")
    scripts = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.text)
    assert scripts
    assert {httpx.get(f"{backend.url}{script}", timeout=60).status_code for script in scripts} == {200}
    assert httpx.get(f"{backend.url}/api/v1/rnics", timeout=60).status_code == 401


def test_the_broker_s_certificates_are_made_for_the_broker_s_user(machine: Machine, servers: Any) -> None:
    service = servers.services["kafka-certificates"]
    renamed = [{**one, "source": f"new-{one['source']}"} for one in service["volumes"]]
    code, said = machine.ended("kafka-certificates", {**service, "volumes": renamed})
    assert code == 0, said
    keys = [file for file in machine.volume("new-kafka-broker").iterdir() if "PRIVATE KEY" in file.read_text(errors="replace")]
    assert [(file.stat().st_uid, file.stat().st_mode & 0o077) for file in keys] == [(1000, 0)]
    assert "BEGIN CERTIFICATE" in (machine.volume("new-kafka-ca") / "ca.pem").read_text()


@pytest.mark.parametrize("name", ["ingest", "classify", "isolation", "validate", "forecast"])
def test_a_job_that_does_not_reach_kafka_says_so(machine: Machine, migrated: Any, name: str) -> None:
    away, port = free_ports(2)
    with machine.started(
        name, at_ports(migrated.services[name], {9108: port}), {"WALLWATCH_KAFKA_BOOTSTRAP": f"localhost:{away}"}
    ) as container:
        wait_for("the address that nobody answers", lambda: f"localhost:{away}" in container.text(), timeout_s=60)


@pytest.mark.parametrize("arguments", [["--version"], *(["job", job, "--help"] for job in JOBS), ["db", "upgrade", "--help"]])
def test_the_command_line_answers(machine: Machine, servers: Any, arguments: list[str]) -> None:
    code, said = machine.ended("command", {**servers.services["ingest"], "command": ["wallwatch", *arguments], "volumes": []})
    assert code == 0, said
    assert (VERSION if arguments == ["--version"] else "Usage: wallwatch") in said


def test_every_module_can_be_imported(machine: Machine, servers: Any) -> None:
    """The image has fewer packages than the environment of the tests, and none of their tests."""
    service = {**servers.services["backend"], "command": ["python", "-W", "ignore", "-c", IMPORT_ALL], "volumes": []}
    code, said = machine.ended("imports", service)
    assert code == 0, said[-3000:]
    assert int(said.splitlines()[-1]) > 200


def test_the_stages_of_classify_and_isolation_are_machine_code(machine: Machine, servers: Any) -> None:
    """Compiled from the source that is installed, and loaded on a root that nobody can write."""
    code, said = machine.ended("compiled", {**servers.services["classify"], "command": ["python", "-c", COMPILED], "volumes": []})
    assert code == 0, said[-3000:]
    files = said.splitlines()[-1].split()
    assert [Path(file).name.partition(".cpython")[0] for file in files] == [
        "wallwatch.domain.symptoms.host_stage",
        "wallwatch.domain.isolation.live",
    ]
    assert all("/wallwatch_compiled/" in file and file.endswith(".so") for file in files)


@pytest.fixture(scope="module")
def root(machine: Machine) -> Iterator[Path]:
    with machine.buildah.mounted(IMAGE) as folder:
        yield folder


def test_it_holds_no_compiler_no_installer_and_no_tests(root: Path) -> None:
    folders = ("usr/bin", "usr/local/bin", "usr/sbin", "app/venv/bin")
    assert [f"{folder}/{name}" for folder in folders for name in NOT_OURS if (root / folder / name).exists()] == []
    packages = next((root / "app" / "venv" / "lib").glob("python3*")) / "site-packages"
    assert [str(one.relative_to(root)) for name in ("test", "tests") for one in packages.rglob(name) if one.is_dir()] == []
    assert {one for one in ("pytest", "hypothesis", "mypy", "wallwatch_local") if (packages / one).exists()} == set()
    assert sorted(one.name for one in (root / "app").iterdir()) == ["alembic.ini", "migrations", "ui", "venv"]


def test_it_holds_no_secret_and_nothing_of_the_machine_that_built_it(machine: Machine, root: Path) -> None:
    found = subprocess.run(
        [
            "grep",
            "-rlE",
            "--binary-files=without-match",
            "BEGIN (RSA |EC |OPENSSH )?PRIVATE KEY",
            str(root / "app"),
            str(root / "etc"),
            str(root / "root"),
        ],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    # Code that reads or writes keys names their first line.
    assert [file for file in found if not file.endswith(".py")] == []
    assert [str(one) for name in (".env", ".git", ".npmrc", "pip.conf") for one in (root / "app").rglob(name)] == []
    assert [one.name for one in (root / "root").iterdir() if one.name not in (".bashrc", ".profile")] == []
    described = machine.buildah.answer("inspect", "--type", "image", IMAGE)
    assert not re.search(r"PIP_|NPM_CONFIG_|_proxy=|_PROXY=", described)


def test_it_says_what_it_is(machine: Machine) -> None:
    settings = machine.buildah.configuration(IMAGE)["config"]
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()
    labels = {name.removeprefix("org.opencontainers.image."): value for name, value in settings["Labels"].items()}
    assert labels["version"] == VERSION
    assert re.fullmatch("[0-9a-f]{40}", labels["revision"])
    assert len(revision) == len(labels["revision"])
    assert settings["User"] == f"{user_of_the_chart()}:{user_of_the_chart()}"
    ports = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]["backend"]["ports"]
    assert set(settings["ExposedPorts"]) == {f"{entry.rpartition(':')[2]}/tcp" for entry in ports}
