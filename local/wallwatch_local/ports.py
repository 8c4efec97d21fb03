"""TCP ports of the local stack: from the environment, or free ones."""

import os
import socket
from contextlib import ExitStack

from wallwatch_local.errors import LocalStackError

LOOPBACK = "127.0.0.1"


def is_free(port: int, address: str = LOOPBACK) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Distinct ports that are free now (all stay open until the last one is chosen)."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def from_environment(variable: str, preferred: int | None = None) -> int:
    """The port that ``variable`` names; without it the preferred one if free, else any free one.

    Raises
    ------
    LocalStackError
        When the variable is not a port number, or its port is in use.
    """
    text = os.environ.get(variable, "").strip()
    if not text:
        if preferred is not None and is_free(preferred):
            return preferred
        return free_ports(1)[0]
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise LocalStackError(f"{variable}={text!r} is not a port: give a number from 1 to 65535, or unset it for a free port")
    port = int(text)
    if not is_free(port):
        raise LocalStackError(
            f"port {port} is in use: set {variable} to another port, or unset it for a free one (owner: ss -ltnp 'sport = :{port}')"
        )
    return port
