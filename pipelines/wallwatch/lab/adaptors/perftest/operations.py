"""What the lab may run on a host: commands as lists of words and writes into sysfs; and how, really or dry."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from wallwatch.lab.adaptors.children import die_with_parent
from wallwatch.lab.adaptors.serve import DeviceFailed

_POLL_S = 0.05


@dataclass(frozen=True)
class Command:
    """A program with its arguments; no shell."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class Write:
    """Text into a file of sysfs."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"echo {self.text} > {self.path}"


Operation = Command | Write


class Executor(Protocol):
    """Does operations."""

    dry: bool

    def do(self, operation: Operation, timeout_s: float, check: Callable[[], None]) -> str:
        """What the operation prints. `check` is called again and again meanwhile; what it raises ends the operation.

        Raises
        ------
        DeviceFailed
            If it fails or takes longer than `timeout_s`.
        """

    def running(self, command: Command) -> AbstractContextManager[None]:
        """Run a command for the length of a block."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class Host:
    """This host, really."""

    dry = False

    def do(self, operation: Operation, timeout_s: float, check: Callable[[], None]) -> str:
        if isinstance(operation, Write):
            try:
                Path(operation.path).write_text(operation.text, encoding="ascii")
            except OSError as error:
                raise DeviceFailed(f"{operation}: {error.strerror}") from error
            return ""
        with _process(operation.words) as process:
            deadline = time.monotonic() + timeout_s
            while True:
                try:
                    printed, complained = process.communicate(timeout=_POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    check()
                    if time.monotonic() > deadline:
                        raise DeviceFailed(f"{operation}: not done within {timeout_s:.0f} s") from None
        if process.returncode != 0:
            raise DeviceFailed(f"{operation}: status {process.returncode}: {(complained or printed).strip()[-300:]}")
        return str(printed)

    @contextmanager
    def running(self, command: Command) -> Iterator[None]:
        with _process(command.words):
            yield

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@contextmanager
def _process(words: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        process = subprocess.Popen(  # noqa: S603  # words that this package builds or the setup file names; no shell
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            preexec_fn=die_with_parent,
        )  # fmt: skip
    except OSError as error:
        raise DeviceFailed(f"{words[0]}: {error.strerror}") from error
    with process:
        try:
            yield process
        finally:
            # Its end is decided here: nothing of the lab runs on.
            if process.poll() is None:
                process.terminate()
                try:
                    process.communicate(timeout=5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()


class Dry:
    """Prints what would be done, and answers for perftest's tools with 1 Gbit/s, whatever is asked."""

    dry = True

    def __init__(self, out: TextIO = sys.stderr) -> None:
        self._out = out

    def do(self, operation: Operation, timeout_s: float, check: Callable[[], None]) -> str:
        self._say(str(operation))
        check()
        return _DRY_TABLE if isinstance(operation, Command) and any(word.startswith("ib_") for word in operation.words) else ""

    @contextmanager
    def running(self, command: Command) -> Iterator[None]:
        self._say(f"{command} &")
        yield

    def sleep(self, seconds: float) -> None:
        """Not needed without changes."""

    def _say(self, text: str) -> None:
        self._out.write(f"dry run: {text}\n")
        self._out.flush()


_DRY_TABLE = """                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      1000             1.00               1.00               0.001907
"""
"""One constant: a dry run measures nothing."""
