"""Turns the ways in which a person ends a foreground program into one exception, raised once."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
