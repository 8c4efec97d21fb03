"""TCP ports of the local stack: from the environment, or free ones."""

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from wallwatch_local.errors import LocalStackError

LOOPBACK = "127.0.0.1"
LOWEST = 11_000  # browsers refuse a few below, such as 10080
FEWEST = 1_000  # a smaller choice would make two callers meet
SHARES = 16  # more processes than choose ports at the same time on one machine
CLIENT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


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
    """Distinct ports that are free now, from below the range in which the kernel gives ports to outgoing connections.

    From within that range, any connection of another process could take a port between this choice and the server's start. No other process
    that chooses here is given the same one meanwhile, and this one is not given it again.
    """
    chosen: list[int] = []
    with ExitStack() as held:
        for port in _candidates():
            if port in _given:
                continue
            probe = held.enter_context(socket.socket())
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            chosen.append(int(probe.getsockname()[1]))
            if len(chosen) == count:
                _given.update(chosen)
                return chosen
    raise LocalStackError(f"fewer than {count} TCP ports of {LOOPBACK} are free: stop what holds them (ss -ltn lists it)")


def _candidates() -> Iterator[int]:
    """Ports to try, in random order; zeros, with which the kernel chooses, if it leaves too few of them to servers."""
    try:
        lowest_of_clients = int(CLIENT_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        lowest_of_clients = 0
    below = range(LOWEST, lowest_of_clients)
    if len(below) < FEWEST:
        yield from [0] * FEWEST
        return
    share = _shares.own()
    for ports in ([] if share is None else [below[share::SHARES]]) + [below]:
        yield from random.SystemRandom().sample(ports, len(ports))


class _Shares:
    """The ports are dealt out to processes: this one's share is its own until it ends, by a lock on a file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._share: int | None = None

    def own(self) -> int | None:
        """The number of this process's share; None while other processes have all of them, or files cannot be locked."""
        if self._share is None:
            with suppress(OSError):
                self._folder.mkdir(mode=0o700, exist_ok=True)
                self._share = next(filter(self._lock, range(SHARES)), None)
        return self._share

    def _lock(self, share: int) -> bool:
        """Lock a share; what is locked stays open until the process ends."""
        file = os.open(self._folder / f"{share}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        return True


_shares = _Shares(Path(tempfile.gettempdir()) / f"wallwatch-ports-{os.getuid()}")
_given: set[int] = set()


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
