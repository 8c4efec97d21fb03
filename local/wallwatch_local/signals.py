"""Turns all ways to end a foreground program (Ctrl-C, SIGTERM, closed terminal) into one exception, raised once."""

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
    """Ctrl-C, SIGTERM, or a closed terminal. Not an `Exception`, so that no error handler swallows it."""


@contextmanager
def interruptible(message: str = "") -> Iterator[None]:
    """Raise `Interrupted` in the block on the first such signal; later ones are ignored, so that nothing interrupts the shutdown.

    The message is written to the terminal immediately.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        for one in ENDING:
            signal.signal(one, signal.SIG_IGN)
        if message:
            with suppress(OSError):  # the terminal may be closed
                os.write(1, message.encode())  # print is not reentrant, and this handler may interrupt it
        raise Interrupted

    former = {one: signal.signal(one, interrupt) for one in ENDING}
    try:
        yield
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)


def pause(seconds: float, terminal: int = 0) -> None:
    """Sleep; if the terminal is closed, act as if SIGHUP had arrived (so use this inside `interruptible`).

    A closed terminal signals only its session's leader. If that is `make` (as with ``ssh -t host make demo``), it waits for this process,
    which would never receive the signal.
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
    """Whether the descriptor is a closed terminal: it still has the device's name, but answers no terminal request."""
    try:
        return str(Path(f"/proc/self/fd/{terminal}").readlink()).startswith(("/dev/pts/", "/dev/tty"))
    except OSError:
        return False
