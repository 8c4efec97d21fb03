"""Every configuration that we ship for the host's programs is one that they accept."""

import subprocess
from pathlib import Path

import pytest
import yaml

from wallwatch_local import hosts
from wallwatch_local.paths import REPOSITORY, binary

SHIPPED = {
    "docker/host/telegraf.conf": REPOSITORY / "docker" / "host" / "telegraf.conf",
    "telegraf.conf.example": REPOSITORY / "collectors" / "cmd" / "wallwatch-telegraf" / "telegraf.conf.example",
}


def load(configuration: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Gather once without sending: the whole file is checked first."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "WALLWATCH_HOST": "h1",
        "WALLWATCH_RACK": "r1",
        "WALLWATCH_KAFKA_BOOTSTRAP": "127.0.0.1:1",
    }
    command = [str(binary("wallwatch-telegraf")), "--config", str(configuration), "--test"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


def assert_accepted(done: subprocess.CompletedProcess[str]) -> None:
    # A missing switch or sysfs on the machine of the test is no matter of the file.
    for line in done.stderr.splitlines():
        assert "configuration" not in line.lower(), line
        assert "E! [wallwatch-telegraf]" not in line or "input plugins recorded" in line, line


@pytest.mark.parametrize("configuration", SHIPPED.values(), ids=SHIPPED.keys())
def test_the_collector_accepts_every_configuration_that_we_ship(configuration: Path, tmp_path: Path) -> None:
    # The folder of the buffer is one of the host's; a test must not make it there.
    copy = tmp_path / "telegraf.conf"
    copy.write_text(configuration.read_text().replace("/var/lib/wallwatch-telegraf", str(tmp_path / "buffer")))
    assert_accepted(load(copy, tmp_path))


def test_the_collector_accepts_what_the_local_stack_writes_for_a_simulated_host(tmp_path: Path) -> None:
    hosts.write_configuration(tmp_path, hosts.Host("host01", "r1"), "127.0.0.1:1", "https://127.0.0.1:1")
    assert_accepted(load(tmp_path / "telegraf.conf", tmp_path))


def test_a_misspelt_key_would_be_found(tmp_path: Path) -> None:
    wrong = tmp_path / "telegraf.conf"
    wrong.write_text(SHIPPED["docker/host/telegraf.conf"].read_text().replace("sysfs_root", "sysfs_roto"))
    with pytest.raises(AssertionError):
        assert_accepted(load(wrong, tmp_path))


@pytest.mark.parametrize("probes", [{}, {"WALLWATCH_PROBES": "true", "WALLWATCH_PROBES_PORT": "8500"}], ids=["", "with probes"])
def test_the_agent_accepts_what_the_container_writes_for_it(tmp_path: Path, probes: dict[str, str]) -> None:
    script = (REPOSITORY / "docker" / "host" / "start-agent.sh").read_text()
    script = script.replace("/var/lib/wallwatch-agent", str(tmp_path / "state")).replace("/run/wallwatch/", f"{tmp_path}/")
    script = script.replace("/run/wallwatch-enrolment", str(tmp_path / "tokens")).replace(
        "exec wallwatch-agent run", "exec wallwatch-agent journal"
    )
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "journal.jsonl").touch()
    (tmp_path / "tokens").mkdir()
    (tmp_path / "tokens" / "n1").write_text("token-of-n1")
    environment = {
        "PATH": f"{binary('wallwatch-agent').parent}:/usr/bin:/bin",
        "WALLWATCH_HOST": "n1",
        "WALLWATCH_SERVER_URL": "https://w.example.net",
        **probes,
    }
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "state" / "enrolment-token").read_text() == "token-of-n1"
    written = yaml.safe_load((tmp_path / "agent.yaml").read_text())
    assert written.get("probes", {}).get("port") == (8500 if probes else None)
    assert (tmp_path / "agent.yaml").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("missing", ["WALLWATCH_HOST", "WALLWATCH_SERVER_URL"])
def test_without_a_needed_variable_the_container_of_the_agent_says_which(missing: str) -> None:
    environment = {"PATH": "/usr/bin:/bin", "WALLWATCH_HOST": "n1", "WALLWATCH_SERVER_URL": "https://w.example.net"}
    del environment[missing]
    script = REPOSITORY / "docker" / "host" / "start-agent.sh"
    done = subprocess.run(["sh", str(script)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert missing in done.stderr
