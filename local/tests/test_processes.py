"""When a server counts as ready."""

import socket
from pathlib import Path

import pytest

from wallwatch_local.processes import listens


def test_a_socket_listens_once_connections_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("long" * 30)  # longer than the address of a socket may be
    assert not listens(folder / "d.ctl")
    folder.mkdir()
    assert not listens(folder / "d.ctl")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("d.ctl")
        assert (folder / "d.ctl").exists()
        assert not listens(folder / "d.ctl")
        server.listen()
        assert listens(folder / "d.ctl")
    assert not listens(folder / "d.ctl")
