"""Lines to and from one child process, with a time limit for each answer.

One `poll` loop writes stdin and reads stdout and stderr, so that no side waits for the other with a full pipe.
A pipe belongs to one thread at a time.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import IO

from wallwatch.lab.faults import DeviceFault, shown

LONGEST_LINE_BYTES = 8 << 20
"""A description of a hundred parameters is some 50 KB; a process that writes more without a newline is broken."""
STDERR_KEPT_BYTES = 4096
STDERR_LINES_SHOWN = 5
GRACE_S = 10.0
"""From the end of stdin to SIGTERM: an adaptor of a real host undoes its changes in this time."""
TERM_GRACE_S = 2.0
EXIT_CODE_WAIT_S = 1.0
_READ_BYTES = 1 << 16
_SLICE_S = 0.02


class LinePipe:
    """A child process in a session of its own: Ctrl-C in the terminal reaches Wallwatch and not the running test.

    Parameters
    ----------
    arguments
        The program and its arguments; no shell is involved.

    Raises
    ------
    OSError
        The program cannot be started.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(list(arguments), stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True)  # noqa: S603  # the operator's own command, no shell
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (_not_blocking(stream) for stream in streams)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._buffer = bytearray()
        self._lines: list[bytes] = []
        self._stderr = bytearray()
        self._ended = False
        """Stdout has reached its end."""
        self._err_ended = False

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    def waiting_lines(self) -> list[bytes]:
        """Lines that have arrived already, without waiting; they are taken out."""
        self._step(0.0)
        lines, self._lines = self._lines, []
        return lines

    def ask(self, line: bytes, timeout_s: float) -> bytes:
        """Write one line and wait for the next line of the process.

        Raises
        ------
        DeviceFault
            `died`, `hung` or `truncated line`.
        """
        deadline = time.monotonic() + timeout_s
        unsent = self._write(memoryview(line))
        while not self._lines:
            if self._ended:
                raise self._end()
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise self._hang(timeout_s)
            if unsent:
                self._poll.register(self._in, select.POLLOUT)
            self._step(left_s)
            if unsent:
                self._poll.unregister(self._in)
                unsent = self._write(unsent)
        return self._lines.pop(0)

    def close(self, grace_s: float = GRACE_S) -> None:
        """End the process: end of stdin, after `grace_s` SIGTERM to its process group, then SIGKILL.

        What it started and left running in its group is ended with it: SIGTERM, and SIGKILL once it has released stdout and stderr, or
        after `TERM_GRACE_S`. A daemon in a session of its own is not touched.
        """
        with contextlib.suppress(OSError):
            os.close(self._in)
        for wait_s, number in ((grace_s, signal.SIGTERM), (TERM_GRACE_S, signal.SIGKILL)):
            if self._wait(wait_s):
                break
            self._signal(number)
        self._wait(math.inf)
        self._end_group()
        self._process.wait()
        for descriptor in (self._out, self._err):
            os.close(descriptor)

    def terminate(self) -> None:
        """Send SIGTERM to the process and all that it started; may be called from another thread."""
        self._signal(signal.SIGTERM)

    def last_words(self) -> str:
        """The last lines of stderr as the end of a sentence, empty when there are none."""
        lines = self._stderr.decode("utf-8", errors="replace").split("\n")
        kept = [line.strip() for line in lines if line.strip()][-STDERR_LINES_SHOWN:]
        return f"; its stderr ends with: {' | '.join(kept)}" if kept else ""

    def _write(self, line: memoryview) -> memoryview:
        """What could not be written yet."""
        try:
            return line[os.write(self._in, line) :]
        except BlockingIOError:
            return line
        except OSError:  # it has closed its stdin: its stdout says whether it answered before it died
            return line[:0]

    def _step(self, wait_s: float) -> None:
        """Read whatever arrives first within `wait_s`."""
        for descriptor, _ in self._poll.poll(wait_s * 1000):
            if descriptor == self._out:
                self._read_answers()
            elif descriptor == self._err:
                self._read_stderr()

    def _read_answers(self) -> None:
        chunk = _read(self._out)
        if not chunk:
            if chunk is not None:
                self._poll.unregister(self._out)
                self._ended = True
            return
        *lines, rest = chunk.split(b"\n")
        if not lines:
            self._buffer += rest
            if len(self._buffer) > LONGEST_LINE_BYTES:
                raise DeviceFault(
                    "no JSON", f"wrote more than {LONGEST_LINE_BYTES >> 20} MiB without a newline: {shown(bytes(self._buffer[:1000]))}"
                )
            return
        lines[0] = bytes(self._buffer) + lines[0]
        self._buffer = bytearray(rest)
        self._lines += [line for line in lines if line.strip()]

    def _read_stderr(self) -> None:
        chunk = _read(self._err)
        if chunk:
            self._stderr += chunk
            del self._stderr[:-STDERR_KEPT_BYTES]
        elif chunk is not None:
            self._poll.unregister(self._err)
            self._err_ended = True

    def _wait(self, wait_s: float) -> bool:
        """Whether the process ended within `wait_s`; its output is read meanwhile, or a full pipe would keep it alive."""
        deadline = time.monotonic() + wait_s
        while self._runs():
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return False
            self._drain(left_s)
        return True

    def _end_group(self) -> None:
        """End what the process left in its group. It has ended and was not waited for, so nothing else can have its number yet."""
        if self._process.returncode is not None:
            return
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + TERM_GRACE_S
        while not (self._ended and self._err_ended) and (left_s := deadline - time.monotonic()) > 0:
            self._drain(left_s)
        self._signal(signal.SIGKILL)

    def _runs(self) -> bool:
        """Whether the process runs. One that ended stays a zombie: its number must not go to another group before ours is ended."""
        return self._exit_code() is None

    def _exit_code(self) -> int | None:
        """The exit code, or the number of the signal that ended it, negative; None while it runs."""
        if self._process.returncode is not None:
            return self._process.returncode
        ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def _drain(self, left_s: float) -> None:
        """Read and forget what arrives for a moment."""
        with contextlib.suppress(DeviceFault):
            self._step(min(left_s, _SLICE_S))
        self._lines.clear()
        if self._ended:
            time.sleep(min(max(left_s, 0.0), _SLICE_S / 4))

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _end(self) -> DeviceFault:
        self._wait(EXIT_CODE_WAIT_S)
        self._step(0.0)
        code = self._exit_code()
        how = "closed its stdout" if code is None else f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}"
        if self._buffer:
            return DeviceFault("truncated line", f"{how} in the middle of a line: {shown(bytes(self._buffer))}{self.last_words()}")
        return DeviceFault("died", f"{how} without an answer{self.last_words()}")

    def _hang(self, timeout_s: float) -> DeviceFault:
        if self._buffer:
            begun = shown(bytes(self._buffer))
            return DeviceFault("truncated line", f"wrote a line without an end within {timeout_s:g} s: {begun}{self.last_words()}")
        return DeviceFault("hung", f"did not answer within {timeout_s:g} s{self.last_words()}")


def _not_blocking(stream: IO[bytes] | None) -> int:
    """A descriptor of its own, so that Python's file object and this module never close the same number twice."""
    if stream is None:
        raise AssertionError("the process was started with pipes")
    with stream:
        descriptor = os.dup(stream.fileno())
    os.set_blocking(descriptor, False)
    return descriptor


def _read(descriptor: int) -> bytes | None:
    """Bytes that have arrived; empty at the end of the stream, None when there are none now."""
    try:
        return os.read(descriptor, _READ_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""
