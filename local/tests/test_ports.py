import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wallwatch_local import ports
from wallwatch_local.errors import LocalStackError

VARIABLE = "WALLWATCH_HTTP_PORT"


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((ports.LOOPBACK, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_port_from_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    monkeypatch.setenv(VARIABLE, str(free_port))
    assert ports.from_environment(VARIABLE) == free_port


def test_a_taken_port_is_refused_with_the_variable_to_change(monkeypatch: pytest.MonkeyPatch, taken_port: int) -> None:
    monkeypatch.setenv(VARIABLE, str(taken_port))
    with pytest.raises(LocalStackError, match=f"port {taken_port} is in use: set {VARIABLE}"):
        ports.from_environment(VARIABLE)


@pytest.mark.parametrize("text", ["http", "0", "65536", "-1", "80.5"])
def test_what_is_no_port_is_refused_with_the_variable_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(LocalStackError, match=VARIABLE):
        ports.from_environment(VARIABLE)


def test_without_the_variable_the_preferred_port_is_taken_when_it_is_free(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert ports.from_environment(VARIABLE, preferred=free_port) == free_port


def test_without_the_variable_another_port_replaces_a_taken_preferred_one(monkeypatch: pytest.MonkeyPatch, taken_port: int) -> None:
    monkeypatch.setenv(VARIABLE, " ")
    assert ports.from_environment(VARIABLE, preferred=taken_port) != taken_port


def test_free_ports_are_all_different() -> None:
    assert len(set(ports.free_ports(20))) == 20


def test_a_port_is_given_once() -> None:
    given = [port for _ in range(300) for port in ports.free_ports(1)]
    assert len(set(given)) == 300


def test_two_processes_are_never_given_the_same_port() -> None:
    """Each keeps its share until it ends, so that a port that neither has bound yet is not chosen twice."""
    program = "import sys; from wallwatch_local import ports; print(*ports.free_ports(400), flush=True); sys.stdin.read()"
    processes = [
        subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    try:
        given = [port for one in processes for port in (one.stdout.readline() if one.stdout else "").split()]
    finally:
        for one in processes:
            one.communicate(timeout=60)
    assert (len(given), len(set(given))) == (1200, 1200)


def test_without_a_share_every_port_may_be_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setattr(ports, "_shares", ports._Shares(tmp_path / "a file"))
    assert len(set(ports.free_ports(20))) == 20


def test_no_outgoing_connection_can_take_a_free_port() -> None:
    lowest_of_clients = int(ports.CLIENT_RANGE.read_text().split()[0])
    assert all(port < lowest_of_clients for port in ports.free_ports(20))


@pytest.mark.parametrize("text", ["1024\t65535\n", "what\n", ""])
def test_where_clients_use_nearly_all_ports_the_kernel_chooses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    (tmp_path / "range").write_text(text)
    monkeypatch.setattr(ports, "CLIENT_RANGE", tmp_path / "range")
    assert len(set(ports.free_ports(20))) == 20
