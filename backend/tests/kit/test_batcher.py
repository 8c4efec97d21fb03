"""Batches of many callers."""

import asyncio
from collections.abc import Sequence

import pytest

from wallwatch_backend.kit.batcher import Batcher


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


async def answers_of(worker: Worker, *items: int, max_items: int = 200) -> list[int | BaseException]:
    """Results of items that are submitted while the worker is busy with item 0."""
    batcher = Batcher(worker, max_items=max_items)
    running = asyncio.create_task(batcher.run())
    worker.go_on.clear()
    first = asyncio.create_task(batcher.submit(0))
    await worker.began.wait()
    waiting = [asyncio.create_task(batcher.submit(item)) for item in items]
    await asyncio.sleep(0)
    worker.go_on.set()
    answers = await asyncio.gather(first, *waiting, return_exceptions=True)
    running.cancel()
    return answers[1:]


async def test_items_submitted_while_the_worker_is_busy_form_one_batch() -> None:
    worker = Worker()
    assert await answers_of(worker, 2, 4, 6) == [4, 8, 12]
    assert worker.rounds == [[0], [2, 4, 6]]


async def test_a_batch_has_at_most_max_items() -> None:
    worker = Worker()
    assert await answers_of(worker, 2, 4, 6, max_items=2) == [4, 8, 12]
    assert worker.rounds == [[0], [2, 4], [6]]


async def test_a_bad_item_fails_alone() -> None:
    worker = Worker()
    good, bad, also_good = await answers_of(worker, 2, 3, 4)
    assert (good, also_good) == (4, 8)
    assert isinstance(bad, Broken)
    assert worker.rounds == [[0], [2, 3, 4], [2], [3], [4]]


async def test_when_the_server_is_unreachable_the_whole_batch_fails_at_once() -> None:
    worker = Worker()
    answers = await answers_of(worker, 2, -1, 4)
    assert [type(answer) for answer in answers] == [ConnectionResetError] * 3
    assert worker.rounds == [[0], [2, -1, 4]]


async def test_a_cancelled_caller_is_left_out() -> None:
    worker = Worker()
    batcher = Batcher(worker)
    waiting = [asyncio.create_task(batcher.submit(item)) for item in (2, 4)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    running = asyncio.create_task(batcher.run())
    assert await waiting[1] == 8
    assert worker.rounds == [[4]]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]
