"""Batches the items of many callers: one call handles all that wait, and each caller gets its own result."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from sqlalchemy.exc import DBAPIError

Item = TypeVar("Item")
Result = TypeVar("Result")


def is_unreachable(error: Exception) -> bool:
    """Return whether the server was not reached or the connection broke; the next attempt would fail too."""
    return isinstance(error, OSError) or (isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) is None)


class Batcher(Generic[Item, Result]):
    """Calls `work` with all items that wait, at most `max_items`.

    It returns one result per item, in order, or raises and has done nothing.

    One bad item must not fail the others: when `work` raises, each item is tried alone, and only the callers of those
    that fail again get the error. `pause_s` after each round lets the next items gather; at low load no item waits for
    another.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]], *, max_items: int = 200, pause_s: float = 0.0
    ) -> None:
        self._work, self._max_items, self._pause_s = work, max_items, pause_s
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._woken = asyncio.Event()

    async def submit(self, item: Item) -> Result:
        """Add an item to the next batch and wait for its result.

        A caller that is cancelled may find the work done nevertheless.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._woken.set()
        return await future

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._max_items))]
                await self._run_batch([(item, future) for item, future in batch if not future.done()])
                await asyncio.sleep(self._pause_s)

    async def _run_batch(self, batch: Sequence[tuple[Item, "asyncio.Future[Result]"]]) -> None:
        if not batch:
            return
        try:
            results = await self._work([item for item, _ in batch])
        except asyncio.CancelledError:
            for _, future in batch:
                future.cancel()
            raise
        except Exception as error:
            if len(batch) == 1 or is_unreachable(error):
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                return
            for entry in batch:
                await self._run_batch([entry])
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)
