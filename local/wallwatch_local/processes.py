"""Run one server temporarily: wait until it answers, show its log if it does not, and leave nothing running."""

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL, Signals

from wallwatch_local.errors import LocalStackError

READY_PAUSE_S = 0.1
STOP_TIMEOUT_S = 60.0


def last_lines(log: Path, count: int = 20) -> str:
    """The end of a log, for an error message."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return "(no log was written)"
    return "\n".join(lines[-count:]) or "(the log is empty)"


def die_with_parent(command: Sequence[str], signal: Signals) -> list[str]:
    """Wrap a command so that the kernel sends it ``signal`` when its parent dies for any reason."""
    return ["setpriv", "--pdeathsig", signal.name.removeprefix("SIG"), "--", *command]


def listens(path: Path) -> bool:
    """Whether a server takes connections on a Unix socket. A socket has its file a moment before that.

    The path may be longer than the 107 bytes that a socket's address has room for.
    """
    try:
        folder = os.open(path.parent, os.O_PATH)
    except FileNotFoundError:
        return False
    try:
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(f"/proc/self/fd/{folder}/{path.name}") == 0
    finally:
        os.close(folder)


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    log: Path,
    is_ready: Callable[[], bool],
    stop_signal: Signals,
    timeout_s: float = 180.0,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends; the block starts when ``is_ready`` returns True.

    ``environment`` is added to this process's own.

    Raises
    ------
    LocalStackError
        When the server exits or does not answer; the message has the last lines of its log.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + timeout_s
        while not is_ready():
            code = process.poll()
            if code is not None:
                raise LocalStackError(f"{name} ended with code {code} while starting; the end of {log}:\n{last_lines(log)}")
            if time.monotonic() > deadline:
                raise LocalStackError(f"{name} was not ready after {timeout_s:.0f} s; the end of {log}:\n{last_lines(log)}")
            time.sleep(READY_PAUSE_S)
        yield process
    finally:
        stop(process, stop_signal)


def stop(process: subprocess.Popen[bytes], signal: Signals, timeout_s: float = STOP_TIMEOUT_S) -> None:
    """Ask a process to end; kill it if it does not."""
    if process.poll() is None:
        process.send_signal(signal)
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.send_signal(SIGKILL)
            process.wait()
