import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from signal import SIGTERM
from urllib.request import urlopen

import pytest
from sqlalchemy import make_url

from wallwatch_local import demo, hosts, postgres
from wallwatch_local.demo_programs import Layout, fleet, on_hosts, server, stores
from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.processes import die_with_parent, running
from wallwatch_local.programs import Program
from wallwatch_local.reset import reset
from wallwatch_local.template_databases import as_role


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(folder=tmp_path, http_port=8001, kafka_port=8002, postgres_port=8003, agent_port=8004)


def test_a_second_demo_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    with demo.exclusive(tmp_path), pytest.raises(LocalStackError, match="already running"), demo.exclusive(tmp_path):
        pass


def test_reset_removes_the_state_and_says_when_there_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "postgres").mkdir(parents=True)
    assert reset(folder)
    assert not folder.exists()
    assert not reset(folder)


def test_reset_leaves_a_running_demo_alone(tmp_path: Path) -> None:
    with demo.exclusive(tmp_path), pytest.raises(LocalStackError, match="already running"):
        reset(tmp_path)
    assert tmp_path.exists()


def test_the_demo_requires_root(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert demo.run("demo") == 1
    assert "must run as root" in capsys.readouterr().out


def test_an_unknown_scenario_ends_the_demo_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.run("no-such-scenario") == 1
    assert "unknown scenario 'no-such-scenario'" in capsys.readouterr().out


def test_a_taken_port_ends_the_demo_with_the_variable_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "demo_dir", lambda: tmp_path)
    monkeypatch.setenv("WALLWATCH_HTTP_PORT", "0")
    assert demo.run("healthy") == 1
    assert "WALLWATCH_HTTP_PORT" in capsys.readouterr().out


def test_the_admin_password_is_random_kept_and_private(layout: Layout) -> None:
    layout.secrets.mkdir()
    starting = demo.Demo(layout, None)  # type: ignore[arg-type]  # nothing is supervised here
    first = starting.admin_password()
    assert len(first) >= 16
    assert starting.admin_password() == first
    assert (layout.secrets / "admin-password").stat().st_mode & 0o077 == 0


def test_collectors_stop_before_kafka_and_jobs_before_the_stores(layout: Layout) -> None:
    scenario = hosts.scenario_file("demo")
    simulated = hosts.hosts_of(scenario)
    programs = [*stores(layout), *server(layout), *fleet(layout, scenario), *on_hosts(layout, simulated)]
    assert list(dict.fromkeys(program.group for program in programs)) == ["stores", "jobs", "backend", "fleet", "collectors", "agents"]
    assert len([program for program in programs if program.group == "collectors"]) == len(simulated)


def test_each_process_signs_in_to_the_database_with_its_own_role(layout: Layout) -> None:
    urls = {program.name: make_url(program.environment["WALLWATCH_DATABASE_URL"]) for program in server(layout)}
    assert {name: url.username for name, url in urls.items() if name in ("ingest", "backend", "lab", "classify")} == {
        "ingest": "wallwatch_ingest",
        "backend": "wallwatch_backend",
        "lab": "wallwatch_jobs",
        "classify": "wallwatch_jobs",
    }
    assert len({url.password for url in urls.values()}) == 3
    assert {file.stat().st_mode & 0o777 for file in (layout.postgres / "roles").iterdir()} == {0o600}


def test_hot_reload_adds_the_ui_and_changes_nothing_but_the_backend_s_start(layout: Layout) -> None:
    plain = {program.name: program for program in server(layout)}
    following = {program.name: program for program in server(replace(layout, ui_port=8005))}
    assert following.keys() - plain.keys() == {"ui"}
    assert following["ui"].environment == {"WALLWATCH_API_URL": layout.api_url}
    assert "--reload" in following["backend"].command
    assert "--reload" not in plain["backend"].command
    built_pages = {"WALLWATCH_UI_DIR": plain["backend"].environment["WALLWATCH_UI_DIR"]}
    assert {**following["backend"].environment, **built_pages} == plain["backend"].environment
    for name in following.keys() - {"backend", "ui"}:
        assert following[name].command == plain[name].command


def test_a_person_is_sent_to_the_ui_that_follows_its_sources(layout: Layout) -> None:
    assert layout.address == layout.api_url
    assert replace(layout, ui_port=8005).address == "http://127.0.0.1:8005"


def test_complete_new_lines_of_a_log_are_returned_once(tmp_path: Path) -> None:
    log = tmp_path / "backend.log"
    log.write_text("old\n")
    followed = demo.LogFollower({"backend": log, "ui": tmp_path / "none.log"})
    assert list(followed.new_lines()) == []
    with log.open("a") as file:
        file.write("one\ntw")
        file.flush()
        assert list(followed.new_lines()) == ["backend | one"]
        file.write("o\n")
    assert list(followed.new_lines()) == ["backend | two"]
    log.write_text("new\n")  # rotated
    assert list(followed.new_lines()) == ["backend | new"]


@contextmanager
def started(program: Program, log: Path, is_ready: Callable[[], bool]) -> Iterator[None]:
    """A program as the supervisor starts it."""
    command = ["env", *(f"{name}={value}" for name, value in program.environment.items()), *program.command]
    with running(program.name, die_with_parent(command, SIGTERM), log, is_ready, SIGTERM):
        yield


def answer_of(address: str) -> str:
    try:
        with urlopen(address, timeout=5) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


@pytest.mark.integration
def test_the_backend_follows_its_sources(layout: Layout, migrated_url: str, kafka_bootstrap: str, free_port: int) -> None:
    kafka_port = int(kafka_bootstrap.rsplit(":", 1)[1])
    layout = replace(layout, http_port=free_port, kafka_port=kafka_port, ui_port=8005, agent_port=0, kafka_secured=False)
    program = next(program for program in server(layout, partial(as_role, migrated_url)) if program.name == "backend")
    log = layout.folder / "backend.log"
    healthy = f"{layout.api_url}/-/healthy"
    with started(program, log, lambda: bool(answer_of(healthy))):
        assert "Reloading" not in log.read_text()
        os.utime(REPOSITORY / "backend" / "wallwatch_backend" / "openapi.py")
        deadline = time.monotonic() + 400
        while "Reloading" not in log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        while log.read_text().count("Application startup complete") < 2 or not answer_of(healthy):
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)


@pytest.mark.integration
def test_the_ui_is_served_from_its_sources_and_asks_the_backend(layout: Layout, free_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Api(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"the API was asked for {self.path}".encode())

        def log_message(self, format: str, *args: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Api) as api:
        threading.Thread(target=api.serve_forever, daemon=True).start()
        layout = replace(layout, http_port=api.server_port, ui_port=free_port)
        program = next(program for program in server(layout) if program.name == "ui")
        monkeypatch.chdir(program.directory)
        with started(program, layout.folder / "ui.log", lambda: bool(answer_of(layout.address))):
            assert "/@vite/client" in answer_of(layout.address)
            assert answer_of(f"{layout.address}/api/v1/session") == "the API was asked for /api/v1/session"
        api.shutdown()


def test_host_processes_run_in_their_host_s_folder_without_the_database_s_address(layout: Layout) -> None:
    for program in on_hosts(layout, [hosts.Host("host01", "r1")]):
        assert program.directory == layout.hosts / "host01"
        assert program.environment == {}


@pytest.mark.integration
def test_postgres_in_the_foreground_is_stopped_by_the_supervisor_s_signal(tmp_path: Path, free_port: int) -> None:
    program = stores(Layout(folder=tmp_path, http_port=1, kafka_port=2, postgres_port=free_port, agent_port=3))[0]
    process = subprocess.Popen(program.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not postgres.is_ready(tmp_path / "postgres", free_port):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        subprocess.run(["kill", f"-{program.stop_signal}", str(process.pid)], check=True)
        assert process.wait(120) == 0
