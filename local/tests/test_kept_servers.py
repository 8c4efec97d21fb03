"""Servers that stay up between test runs: how runs find them, share them, and learn that they are broken."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from wallwatch_local import kept_servers, template_databases
from wallwatch_local.errors import LocalStackError
from wallwatch_local.kept_servers import Servers

NOBODY = 2**22 + 1  # no process has this number: the kernel's largest is 2**22


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept_servers, "folder", lambda: tmp_path)
    return tmp_path


def describe(folder: Path, pid: int, port: int = 1) -> None:
    url = f"postgresql+psycopg://wallwatch:secret@127.0.0.1:{port}/wallwatch"
    (folder / "servers.json").write_text(json.dumps({"pid": pid, "database_url": url, "brokers": ["127.0.0.1:1"]}))


def test_without_a_description_there_are_no_servers_and_nothing_to_stop(folder: Path) -> None:
    assert kept_servers.find() is None
    assert not kept_servers.stop()


def test_servers_whose_process_was_killed_are_no_servers(folder: Path) -> None:
    describe(folder, NOBODY)
    assert kept_servers.find() is None
    assert not kept_servers.stop()


def test_a_process_number_that_was_given_to_another_program_is_no_server(folder: Path) -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        describe(folder, other.pid)
        assert kept_servers.find() is None
        assert not kept_servers.stop()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_servers_that_do_not_answer_are_an_error_that_says_what_to_do(
    folder: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_servers, "_is_alive", lambda pid: True)
    describe(folder, os.getpid(), free_port)
    with pytest.raises(LocalStackError, match="make test-servers-stop"):
        kept_servers.find()


def test_each_test_process_holds_a_broker_of_its_own_until_none_is_left(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emptied: list[str] = []
    monkeypatch.setattr(kept_servers, "_delete_topics", emptied.append)
    servers = Servers(1, "", ["one", "two"])
    with kept_servers.broker(servers) as first, kept_servers.broker(servers) as second, kept_servers.broker(servers) as third:
        assert (first, second, third) == ("one", "two", None)
    with kept_servers.broker(servers) as again:
        assert again == "one"
    assert emptied == ["one", "two", "one"]


@pytest.mark.integration
def test_kept_servers_answer_until_they_are_stopped_and_leave_nothing(folder: Path) -> None:
    run = f"""
from pathlib import Path
from wallwatch_local import kept_servers
kept_servers.folder = lambda: Path({str(folder)!r})
kept_servers.BROKERS = 1
kept_servers.run_in_foreground()
"""
    process = subprocess.Popen([sys.executable, "-c", run])
    try:
        deadline = time.monotonic() + 120
        while (servers := kept_servers.find()) is None:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert (folder / "servers.json").stat().st_mode & 0o077 == 0
        template_databases.prepare(servers.database_url)
        with template_databases.copy(servers.database_url, template_databases.EMPTY) as url:
            assert url.rsplit("/", 1)[0] == servers.database_url.rsplit("/", 1)[0]
        with kept_servers.broker(servers) as bootstrap:
            assert bootstrap == servers.brokers[0]
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert not folder.exists()


@pytest.mark.integration
def test_databases_of_killed_test_processes_are_dropped_and_those_of_living_ones_stay(postgres_server: str, postgres_url: str) -> None:
    with template_databases.administration(postgres_server) as connection:
        connection.execute(f"CREATE DATABASE test_{NOBODY}_1")
        template_databases.prepare(postgres_server)
        names = {name for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall()}
    assert f"test_{NOBODY}_1" not in names
    assert postgres_url.rsplit("/", 1)[1] in names


@pytest.mark.integration
def test_the_migrated_template_is_made_once(postgres_server: str, migrated_template: str, migrated_url: str) -> None:
    assert template_databases.migrated_template(postgres_server) == migrated_template
    with psycopg.connect(migrated_url.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
