"""Lets requests wait until something changes, on whichever replica: for clients that poll."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from wallwatch_backend.kit.problems import WallwatchError

Answer = TypeVar("Answer")

LOOK_AGAIN_S = 10.0
"""A notification may be lost while the database restarts: those who wait look by themselves this often."""


class TooManyWaiting(WallwatchError):
    status, code, title = 503, "too_many_waiting", "Too many requests are waiting for changes"


class Wakeups:
    """One kind of change. At most `most` requests wait for it at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting = 0
        self._closed = False
        self._change = asyncio.Event()

    def notify(self) -> None:
        """Wake all that wait now."""
        self._change.set()
        self._change = asyncio.Event()

    def close(self) -> None:
        """Wake all, and let nobody wait from now on: the server stops."""
        self._closed = True
        self.notify()

    async def until(self, read: Callable[[], Awaitable[Answer]], is_news: Callable[[Answer], bool], wait_s: float) -> Answer:
        """Read until there is news or the time is over, and return what was read last.

        Raises
        ------
        TooManyWaiting
            When this process serves its maximum of waiting requests.
        """
        loop = asyncio.get_running_loop()
        end_s = loop.time() + wait_s
        while True:
            change = self._change  # taken before reading: a change in between is not missed
            answer = await read()
            left_s = end_s - loop.time()
            if is_news(answer) or left_s <= 0 or self._closed:
                return answer
            if self._waiting >= self._most:
                raise TooManyWaiting(f"This server has {self._waiting} requests waiting.", headers={"Retry-After": "10"})
            self._waiting += 1
            try:
                async with asyncio.timeout(min(left_s, LOOK_AGAIN_S)):
                    await change.wait()
            except TimeoutError:
                pass
            finally:
                self._waiting -= 1


async def _wakeups_of(request: Request) -> Wakeups:
    wakeups: Wakeups = request.app.state.incident_wakeups
    return wakeups


TheIncidentWakeups = Annotated[Wakeups, Depends(_wakeups_of)]
