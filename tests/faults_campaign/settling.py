"""Waits until what is under way has arrived, for as long as it goes on arriving."""

import time
from collections.abc import Callable
from contextlib import suppress

ASK_EVERY_S = 1.0


def wait_until(what: Callable[[], bool], timeout_s: float) -> bool:
    """Ask again until it is true; False when time is up. An answer that fails is no answer."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        with suppress(Exception):
            if what():
                return True
        time.sleep(ASK_EVERY_S)
    return False


def follow(
    missing: Callable[[], int],
    stalled_s: float,
    longest_s: float,
    now: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> bool:
    """Wait until nothing is missing; False when it has not become less for `stalled_s`, or after `longest_s` in any case.

    An answer that fails is no answer: a database that is starting again says nothing about what is missing.
    """
    began = since = now()
    least: int | None = None
    while now() - since < stalled_s and now() - began < longest_s:
        with suppress(Exception):
            count = missing()
            if count == 0:
                return True
            if least is None or count < least:
                least, since = count, now()
        pause(ASK_EVERY_S)
    return False
