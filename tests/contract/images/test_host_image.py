"""The image of observed hosts, started as Compose does: collector and agent, with the rights and the system calls that it names."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from wallwatch_local.image_builds import published
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.ports import free_ports
from wallwatch_testing.containers import Container, Machine, at_ports
from wallwatch_testing.stack import wait_for
from wallwatch_testing.sysfs import write_rnic

IMAGE = published()["host"]
VERSION = IMAGE.rpartition(":")[2]
PCI = "0000:3b:00.0"
PROGRAMS = ["wallwatch-agent", "wallwatch-cni", "wallwatch-telegraf"]


@pytest.fixture(scope="module")
def root(machine: Machine) -> Iterator[Path]:
    with machine.buildah.mounted(IMAGE) as folder:
        yield folder


def test_it_adds_its_programs_and_their_files_to_debian_and_nothing_else(root: Path) -> None:
    assert sorted(one.name for one in (root / "usr" / "local" / "bin").iterdir()) == PROGRAMS
    assert sorted(one.name for one in (root / "etc" / "wallwatch").iterdir()) == sorted(
        one.name for one in (REPOSITORY / "docker" / "host").iterdir()
    )
    for folder in ("wallwatch-telegraf", "wallwatch-agent"):
        found = root / "var" / "lib" / folder
        assert found.stat().st_mode & 0o777 == 0o700
        assert list(found.iterdir()) == []
    assert "BEGIN CERTIFICATE" in (root / "etc" / "ssl" / "certs" / "ca-certificates.crt").read_text()
    assert [name for name in ("gcc", "cc", "go", "git", "make") if (root / "usr" / "bin" / name).exists()] == []
    assert not (root / "src").exists()


@pytest.mark.parametrize("program", ["wallwatch-agent", "wallwatch-telegraf"])
def test_the_programs_say_their_version(machine: Machine, servers: Any, program: str) -> None:
    arguments = ["version"] if program == "wallwatch-agent" else ["--version"]
    code, said = machine.ended(program, {**servers.services["agent"], "command": [program, *arguments], "volumes": []})
    assert code == 0, said
    assert VERSION in said


@pytest.fixture
def telegraf(machine: Machine, migrated: Any) -> Iterator[Container]:
    [port] = free_ports(1)
    with machine.started("telegraf", at_ports(migrated.services["telegraf"], {9110: port})) as container:
        wait_for("a healthy collector", container.is_healthy, timeout_s=60)
        yield container


def test_the_collector_starts_with_the_profile_of_compose_and_is_healthy(telegraf: Container) -> None:
    status = telegraf.execute("cat", "/proc/1/status").stdout
    assert "Seccomp:\t2" in status
    assert "NoNewPrivs:\t1" in status
    # CAP_SYSLOG, to read the kernel log, and nothing else.
    assert {line.split()[1] for line in status.splitlines() if line.startswith("CapEff")} == {f"{1 << 34:016x}"}
    assert "Read-only file system" in telegraf.execute("touch", "/etc/wallwatch/x").stderr
    assert "E! [outputs.kafka]" not in telegraf.text()


def test_its_configuration_can_be_used(machine: Machine, migrated: Any) -> None:
    service = migrated.services["telegraf"]
    code, said = machine.ended("check", {**service, "command": [*service["command"], "-check"]})
    assert code == 0, said


def test_the_agent_says_what_it_is_not_told(machine: Machine, migrated: Any) -> None:
    code, said = machine.ended("agent", migrated.services["agent"], {"WALLWATCH_HOST": ""})
    assert code != 0
    assert "WALLWATCH_HOST" in said


def test_from_the_images_to_the_first_rnic_in_the_api(machine: Machine, migrated: Any, backend: Any) -> None:
    """The steps of docs/operating.md: an agent enrols with a token, its collector gets the telemetry key, `ingest` believes it."""
    made = backend.container.execute("wallwatch", "agent", "enrol", "--host", "a-host")
    assert made.returncode == 0, made.stderr
    state = machine.host / "var" / "lib" / "wallwatch-agent"
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(0o700)
    token = state / "enrolment-token"
    token.touch(mode=0o600)
    token.write_text(made.stdout)
    with contextlib.chdir(machine.host):
        write_rnic(Path("sys"), PCI, "mlx5_0", "ens1f0np0", [])
    health, metrics = free_ports(2)
    with (
        machine.started("ingest", at_ports(migrated.services["ingest"], {9108: metrics})),
        machine.started("agent", migrated.services["agent"], {"WALLWATCH_SERVER_URL": backend.agent_url}) as agent,
        machine.started("telegraf", at_ports(migrated.services["telegraf"], {9110: health})) as telegraf,
    ):
        wait_for("an enrolled agent", agent.is_healthy, timeout_s=120)
        assert not token.exists()
        status = agent.execute("cat", "/proc/1/status").stdout
        assert {line.split()[1] for line in status.splitlines() if line.startswith("Cap")} == {"0" * 16}
        assert "Seccomp:\t2" in status
        headers = {"authorization": f"Bearer {api_token(backend.container)}"}
        with httpx.Client(base_url=f"{backend.url}/api/v1", headers=headers, timeout=60) as client:
            wait_for("the RNIC", lambda: client.get(f"/rnics/a-host/{PCI}").is_success, timeout_s=180)
            found = client.get(f"/rnics/a-host/{PCI}").json()
        assert (found["host"], found["pci"]) == ("a-host", PCI)
        assert telegraf.is_healthy()


def api_token(backend: Container) -> str:
    """Of the first administrator, both made in the container of the backend."""
    created = backend.execute(
        "wallwatch", "user", "create", "admin", "--role", "admin", "--password-file", "-", given="a-long-password-of-a-test\n"
    )
    assert created.returncode == 0, created.stderr
    token = backend.execute("wallwatch", "token", "create", "--name", "first", "--owner", "admin", "--scope", "read")
    assert token.returncode == 0, token.stderr
    return token.stdout.split()[-1]
