"""Many callers, one worker."""

import asyncio
from collections.abc import Sequence

import pytest

from wallwatch_backend.kit.together import Together


class Broken(Exception):
    """What a worker raises for one item."""


class Worker:
    """Doubles numbers, raises for odd ones, and remembers its rounds."""

    def __init__(self) -> None:
        self.rounds: list[list[int]] = []
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.began = asyncio.Event()

    async def __call__(self, items: Sequence[int]) -> list[int]:
        self.rounds.append(list(items))
        self.began.set()
        await self.go_on.wait()
        if -1 in items:
            raise ConnectionResetError("the server is gone")
        if any(item % 2 for item in items):
            raise Broken(str(items))
        return [2 * item for item in items]


async def answers_of(worker: Worker, *items: int, most: int = 200) -> list[int | BaseException]:
    """What came of items that were given while the worker was busy with the item 0."""
    together = Together(worker, most=most)
    running = asyncio.create_task(together.run())
    worker.go_on.clear()
    first = asyncio.create_task(together(0))
    await worker.began.wait()
    waiting = [asyncio.create_task(together(item)) for item in items]
    await asyncio.sleep(0)
    worker.go_on.set()
    answers = await asyncio.gather(first, *waiting, return_exceptions=True)
    running.cancel()
    return answers[1:]


async def test_what_comes_while_the_worker_is_busy_is_worked_on_together() -> None:
    worker = Worker()
    assert await answers_of(worker, 2, 4, 6) == [4, 8, 12]
    assert worker.rounds == [[0], [2, 4, 6]]


async def test_a_round_has_no_more_than_it_may() -> None:
    worker = Worker()
    assert await answers_of(worker, 2, 4, 6, most=2) == [4, 8, 12]
    assert worker.rounds == [[0], [2, 4], [6]]


async def test_one_that_fails_fails_alone() -> None:
    worker = Worker()
    good, bad, also_good = await answers_of(worker, 2, 3, 4)
    assert (good, also_good) == (4, 8)
    assert isinstance(bad, Broken)
    assert worker.rounds == [[0], [2, 3, 4], [2], [3], [4]]


async def test_when_the_server_is_away_all_are_told_at_once() -> None:
    worker = Worker()
    answers = await answers_of(worker, 2, -1, 4)
    assert [type(answer) for answer in answers] == [ConnectionResetError] * 3
    assert worker.rounds == [[0], [2, -1, 4]]


async def test_who_has_gone_meanwhile_is_left_out() -> None:
    worker = Worker()
    together = Together(worker)
    waiting = [asyncio.create_task(together(item)) for item in (2, 4)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    running = asyncio.create_task(together.run())
    assert await waiting[1] == 8
    assert worker.rounds == [[4]]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]
