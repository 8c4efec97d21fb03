import os
import subprocess
import time
from pathlib import Path

import pytest

from wallwatch_local import demo, hosts, postgres
from wallwatch_local.demo_programs import Layout, centre, fleet, on_hosts, stores
from wallwatch_local.errors import LocalStackError
from wallwatch_local.reset import reset


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(folder=tmp_path, http_port=8001, kafka_port=8002, postgres_port=8003, agent_port=8004)


def test_a_second_demo_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    with demo.only_one(tmp_path), pytest.raises(LocalStackError, match="already running"), demo.only_one(tmp_path):
        pass


def test_reset_removes_the_state_and_says_when_there_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "postgres").mkdir(parents=True)
    assert reset(folder)
    assert not folder.exists()
    assert not reset(folder)


def test_reset_leaves_a_running_demo_alone(tmp_path: Path) -> None:
    with demo.only_one(tmp_path), pytest.raises(LocalStackError, match="already running"):
        reset(tmp_path)
    assert tmp_path.exists()


def test_who_is_not_root_is_told_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert demo.run("demo") == 1
    assert "must be run as root" in capsys.readouterr().out


def test_an_unknown_scenario_ends_the_demo_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.run("no-such-scenario") == 1
    assert "no scenario 'no-such-scenario'" in capsys.readouterr().out


def test_a_taken_port_ends_the_demo_with_the_variable_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "demo_dir", lambda: tmp_path)
    monkeypatch.setenv("WALLWATCH_HTTP_PORT", "0")
    assert demo.run("healthy") == 1
    assert "WALLWATCH_HTTP_PORT" in capsys.readouterr().out


def test_the_admin_password_is_random_kept_and_private(layout: Layout) -> None:
    layout.secrets.mkdir()
    starting = demo.Demo(layout, None, "")  # type: ignore[arg-type]  # nothing is supervised here
    first = starting.admin_password()
    assert len(first) >= 16
    assert starting.admin_password() == first
    assert (layout.secrets / "admin-password").stat().st_mode & 0o077 == 0


def test_collectors_stop_before_kafka_and_jobs_before_the_stores(layout: Layout) -> None:
    scenario = hosts.scenario_file("demo")
    simulated = hosts.hosts_of(scenario)
    programs = [*stores(layout), *centre(layout, "url"), *fleet(layout, scenario), *on_hosts(layout, simulated)]
    assert list(dict.fromkeys(program.group for program in programs)) == ["stores", "jobs", "backend", "fleet", "collectors", "agents"]
    assert len([program for program in programs if program.group == "collectors"]) == len(simulated)


def test_host_processes_run_in_their_host_s_folder_without_the_database_s_address(layout: Layout) -> None:
    for program in on_hosts(layout, [hosts.Host("host01", "r1")]):
        assert program.directory == layout.hosts / "host01"
        assert program.environment == {}


@pytest.mark.integration
def test_postgres_in_the_foreground_is_stopped_by_the_supervisor_s_signal(tmp_path: Path, free_port: int) -> None:
    program = stores(Layout(folder=tmp_path, http_port=1, kafka_port=2, postgres_port=free_port, agent_port=3))[0]
    process = subprocess.Popen(program.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not postgres.is_ready(tmp_path / "postgres", free_port):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        subprocess.run(["kill", f"-{program.stop_signal}", str(process.pid)], check=True)
        assert process.wait(30) == 0
