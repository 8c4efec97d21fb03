"""Turns the ways in which a person ends a foreground program into one exception, raised once."""

import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """Ctrl-C, a request to end, or a closed terminal. Not an `Exception`, so that no handler of errors swallows it."""


@contextmanager
def interruptible(message: str = "") -> Iterator[None]:
    """Raise `Interrupted` in the block at the first such signal; further ones are ignored, so that stopping is never cut short.

    The message is written to the terminal at that moment.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        for one in ENDING:
            signal.signal(one, signal.SIG_IGN)
        if message:
            with suppress(OSError):  # the terminal may be what is gone
                os.write(1, message.encode())  # print is not allowed to be entered twice, and this may interrupt one
        raise Interrupted

    former = {one: signal.signal(one, interrupt) for one in ENDING}
    try:
        yield
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)


def pause(seconds: float, terminal: int = 0) -> None:
    """Sleep; when the terminal is gone, act as if its signal had come (so use it in `interruptible`).

    A closed terminal signals its session's leader only. When that is `make` (as with ``ssh -t host make demo``) it waits for us,
    and we would never hear of it.
    """
    if not os.isatty(terminal):
        if _was_terminal(terminal):
            signal.raise_signal(signal.SIGHUP)
        time.sleep(seconds)
        return
    poll = select.poll()
    poll.register(terminal, 0)
    if any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(seconds * 1000)):
        signal.raise_signal(signal.SIGHUP)


def _was_terminal(terminal: int) -> bool:
    """Whether the descriptor is a terminal that was hung up: it still has the device's name, but answers no terminal request."""
    try:
        return str(Path(f"/proc/self/fd/{terminal}").readlink()).startswith(("/dev/pts/", "/dev/tty"))
    except OSError:
        return False
