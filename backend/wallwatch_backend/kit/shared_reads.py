"""Answers the same question of many callers with one query: after an event of the stream, every open page asks at the same moment."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

Key = TypeVar("Key")
Found = TypeVar("Found")


class SharedLookup(Generic[Key, Found]):
    """Looks keys up, those of several callers together.

    Whoever asks while a query runs gets the answer of the next one. It begins after everybody whom it serves has asked, so an answer is as
    fresh as if each caller had its own query; and at low load nobody waits for another.

    Parameters
    ----------
    look_up
        Gets different keys, returns what it found of them. What it raises, each of its callers gets.
    when_idle
        Called when nobody waits for an answer any more, also when those who did have left.
    """

    def __init__(
        self, look_up: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Found]]], when_idle: Callable[[], None] = lambda: None
    ) -> None:
        self._look_up, self._when_idle = look_up, when_idle
        self._waiting: dict[Key, list[asyncio.Future[Found | None]]] = {}
        self._rounds: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        return self._rounds is None

    async def get(self, key: Key) -> Found | None:
        """Look up one key; None if it was not found."""
        future: asyncio.Future[Found | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(future)
        if self._rounds is None:  # a task of its own: a caller that is cancelled must not end the query of the others
            self._rounds = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            while self._waiting:
                asked, self._waiting = self._waiting, {}
                await self._answer(asked)
        finally:
            self._rounds = None
            for future in (future for waiting in self._waiting.values() for future in waiting):
                future.cancel()  # the rounds themselves were cancelled, as at the end of the process: no other round will come
            self._waiting = {}
            self._when_idle()

    async def _answer(self, asked: Mapping[Key, Sequence["asyncio.Future[Found | None]"]]) -> None:
        futures = [(key, future) for key, waiting in asked.items() for future in waiting]
        try:
            found = await self._look_up(list(asked))
        except asyncio.CancelledError:
            for _, future in futures:
                future.cancel()
            raise
        except Exception as error:
            for _, future in futures:
                if not future.done():
                    future.set_exception(error)
            return
        for key, future in futures:
            if not future.done():
                future.set_result(found.get(key))


class SharedAnswers:
    """Answers questions that take different times: equal ones share a query as in `SharedLookup`, others do not wait for each other."""

    def __init__(self) -> None:
        self._lookups: dict[Hashable, SharedLookup[Hashable, Any]] = {}

    @property
    def size(self) -> int:
        """Questions that are being answered."""
        return len(self._lookups)

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[Found]]) -> Found:
        """Return what `ask` finds, or what that of another caller with an equal key finds, who asked no earlier."""

        async def one(_keys: Sequence[Hashable]) -> Mapping[Hashable, Found]:
            return {key: await ask()}

        lookup = self._lookups.get(key)
        if lookup is None:
            lookup = self._lookups[key] = SharedLookup(one, lambda: self._forget(key))
        return cast(Found, await lookup.get(key))  # `one` answers each key

    def _forget(self, key: Hashable) -> None:
        del self._lookups[key]
