"""Many callers, one worker: what waits is worked on together, and each caller gets an answer of its own."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from sqlalchemy.exc import DBAPIError

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def is_away(error: Exception) -> bool:
    """Say whether the server was not reached or the connection broke, which the next attempt will meet as well."""
    return isinstance(error, OSError) or (isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) is None)


class Together(Generic[Item, Answer]):
    """Calls `work` with all items that have come, at most `most`; it returns an answer for each, in order, or raises and has done nothing.

    What cannot be worked on must not take others with it: when `work` raises, each item is tried alone, and only the caller of one that
    fails again gets the error. `pause_s` after each round lets the next ones gather: at low load an item waits for no other.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Awaitable[Sequence[Answer]]], *, most: int = 200, pause_s: float = 0.0) -> None:
        self._work, self._most, self._pause_s = work, most, pause_s
        self._waiting: deque[tuple[Item, asyncio.Future[Answer]]] = deque()
        self._woken = asyncio.Event()

    async def __call__(self, item: Item) -> Answer:
        """Wait for the answer to one item. Whoever is cancelled meanwhile may find the work done all the same."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._woken.set()
        return await future

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._waiting:
                taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most))]
                await self._round([(item, future) for item, future in taken if not future.done()])
                await asyncio.sleep(self._pause_s)

    async def _round(self, taken: Sequence[tuple[Item, "asyncio.Future[Answer]"]]) -> None:
        if not taken:
            return
        try:
            answers = await self._work([item for item, _ in taken])
        except asyncio.CancelledError:
            for _, future in taken:
                future.cancel()
            raise
        except Exception as error:
            if len(taken) == 1 or is_away(error):
                for _, future in taken:
                    if not future.done():
                        future.set_exception(error)
                return
            for one in taken:
                await self._round([one])
            return
        for (_, future), answer in zip(taken, answers, strict=True):
            if not future.done():
                future.set_result(answer)
