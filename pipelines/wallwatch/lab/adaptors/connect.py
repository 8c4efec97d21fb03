"""`wallwatch lab device connect URL`: a device on another machine, or in a process that runs already, behind a socket that speaks dut/1.

What `--dut tcp://HOST:PORT` and `--dut unix:///PATH` start. The lines are passed on as they are, in both directions.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import sys
import threading
from collections.abc import Sequence
from urllib.parse import urlsplit

CONNECT_TIMEOUT_S = 10.0
CHUNK_BYTES = 65_536
UNREACHABLE = 2
"""Exit status where no connection is made."""


class BadUrl(ValueError):
    """A URL that names no socket; the message says which forms there are."""


def is_url(command: str) -> bool:
    """Whether a device is named by a URL and not by a command.

    >>> is_url("tcp://lab7:7001"), is_url("fleetsim dut --model CX-6")
    (True, False)
    """
    return command.startswith(("tcp://", "unix://"))


def opened(url: str) -> socket.socket:
    """A connection to the device.

    Raises
    ------
    BadUrl
    OSError
        nobody listens there
    """
    parts = urlsplit(url)
    if parts.scheme == "unix" and parts.path and not parts.netloc:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(CONNECT_TIMEOUT_S)
            connection.connect(parts.path)
        except OSError:
            connection.close()
            raise
    elif parts.scheme == "tcp" and parts.hostname and _port(url) and parts.path in ("", "/"):
        connection = socket.create_connection((parts.hostname, _port(url)), CONNECT_TIMEOUT_S)
    else:
        raise BadUrl(f"{url}: a device is at tcp://HOST:PORT or unix:///PATH")
    connection.settimeout(None)  # a test takes as long as it takes; the campaign has the limit
    return connection


def _port(url: str) -> int:
    """The port of a URL, 0 for none."""
    try:
        return urlsplit(url).port or 0
    except ValueError:
        return 0


def main(arguments: Sequence[str]) -> int:
    """Connect stdin and stdout with the device until one of the two ends."""
    parser = argparse.ArgumentParser("wallwatch lab device connect", description="A device that speaks dut/1 behind a socket.")
    parser.add_argument("url", help="tcp://HOST:PORT or unix:///PATH; the connection is neither encrypted nor authenticated")
    url = parser.parse_args(arguments).url
    try:
        connection = opened(url)
    except (BadUrl, OSError) as error:
        sys.stderr.write(f"no connection to the device at {url}: {error}\n")
        return UNREACHABLE
    with connection:
        threading.Thread(target=_send, args=(connection,), daemon=True).start()
        while chunk := _received(connection):
            _write(chunk)
    sys.stdout.flush()
    os._exit(0)  # the thread may wait for stdin, which nobody ends any more


def _received(connection: socket.socket) -> bytes:
    with contextlib.suppress(ConnectionError):
        return connection.recv(CHUNK_BYTES)
    return b""


def _write(chunk: bytes) -> None:
    while chunk:
        chunk = chunk[os.write(sys.stdout.fileno(), chunk) :]


def _send(connection: socket.socket) -> None:
    """Pass stdin on; its end is the end of what the device gets."""
    with contextlib.suppress(OSError):
        while chunk := os.read(sys.stdin.fileno(), CHUNK_BYTES):
            connection.sendall(chunk)
        connection.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
