"""A device behind a socket is a device like any other; one that is not there, or goes away, is said so."""

import contextlib
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from wallwatch.lab.adaptors.connect import BadUrl, opened
from wallwatch.lab.faults import BadDevice
from wallwatch.lab.process import DeviceProcess

PLANTED = Path(__file__).parents[1] / "lab" / "planted_device.py"


LISTEN = """
import os, socket, sys
kind, where, device = sys.argv[1:]
server = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET)
server.bind(where if kind == "unix" else ("127.0.0.1", 0))
server.listen()
print(f"unix://{where}" if kind == "unix" else f"tcp://127.0.0.1:{server.getsockname()[1]}", flush=True)
connection, _ = server.accept()
os.dup2(connection.fileno(), 0)
os.dup2(connection.fileno(), 1)
server.close(), connection.close()
os.execv(sys.executable, [sys.executable, "-S", device])
"""
"""The first connection becomes stdin and stdout of the planted device."""


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_a_device_behind_a_socket_is_described_and_tested(kind: str, tmp_path: Path) -> None:
    listen = [sys.executable, "-S", "-c", LISTEN, kind, str(tmp_path / "dut.sock"), str(PLANTED)]
    with subprocess.Popen(listen, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        with contextlib.closing(DeviceProcess(server.stdout.readline().strip())) as process:
            process.describe()
            assert process.device.name == "planted"
            answer = process.test(process.device.default)
        assert server.wait(timeout=120) == 0, "the end of stdin reaches the device"
    assert answer.status == "ok"


def test_where_nobody_listens_there_is_no_device(tmp_path: Path) -> None:
    process = DeviceProcess(f"unix://{tmp_path / 'nobody'}")
    with pytest.raises(BadDevice):
        process.describe()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(BadDevice):
            DeviceProcess(f"tcp://127.0.0.1:{unused.getsockname()[1]}").describe()


@pytest.mark.parametrize("url", ["tcp://host", "tcp://:7001", "unix://relative/path", "tcp://host:70000", "tcp://host:1/path"])
def test_a_url_that_names_no_socket_is_refused(url: str) -> None:
    with pytest.raises(BadUrl, match="tcp://HOST:PORT or unix:///PATH"):
        opened(url)
