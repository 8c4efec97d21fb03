"""Waiting for a change: woken by it, ended by time, never by luck."""

import asyncio

import pytest

from wallwatch_backend.kit.wakeups import TooManyWaiting, Wakeups

LONG_S = 300.0
"""No test waits for so long: it is woken, or it hangs and fails."""


class Feed:
    """A feed that is read again and again."""

    def __init__(self) -> None:
        self.items: list[int] = []
        self.read_count = 0
        self.was_read = asyncio.Event()

    async def read(self) -> list[int]:
        self.read_count += 1
        self.was_read.set()
        return list(self.items)


async def test_a_change_wakes_all_that_wait() -> None:
    wakeups, feeds = Wakeups(10), [Feed() for _ in range(3)]
    waiting = [asyncio.create_task(wakeups.until(feed.read, bool, LONG_S)) for feed in feeds]
    for feed in feeds:
        await feed.was_read.wait()
        feed.items.append(1)
    wakeups.notify()
    assert await asyncio.gather(*waiting) == [[1], [1], [1]]


async def test_a_change_of_something_else_does_not_end_the_wait() -> None:
    wakeups, feed = Wakeups(10), Feed()
    waiting = asyncio.create_task(wakeups.until(feed.read, bool, LONG_S))
    await feed.was_read.wait()
    feed.was_read.clear()
    wakeups.notify()
    await feed.was_read.wait()
    assert not waiting.done()
    feed.items.append(1)
    wakeups.notify()
    assert await waiting == [1]


async def test_a_change_between_reading_and_waiting_is_not_missed() -> None:
    wakeups = Wakeups(10)
    answers = iter([[], [1]])

    async def read() -> list[int]:
        answer = next(answers)
        if not answer:
            wakeups.notify()  # committed just after this read
        return answer

    assert await wakeups.until(read, bool, LONG_S) == [1]


async def test_without_time_nobody_waits_and_a_stopping_server_lets_nobody_wait() -> None:
    wakeups, feed = Wakeups(10), Feed()
    assert await wakeups.until(feed.read, bool, 0) == []
    assert feed.read_count == 1
    waiting = asyncio.create_task(wakeups.until(feed.read, bool, LONG_S))
    await feed.was_read.wait()
    wakeups.close()
    assert await waiting == []
    assert await wakeups.until(feed.read, bool, LONG_S) == []


async def test_no_more_wait_than_the_server_takes() -> None:
    wakeups, feed = Wakeups(1), Feed()
    waiting = asyncio.create_task(wakeups.until(feed.read, bool, LONG_S))
    await feed.was_read.wait()
    other = Feed()
    with pytest.raises(TooManyWaiting):
        await wakeups.until(other.read, bool, LONG_S)
    other.items.append(1)
    assert await wakeups.until(other.read, bool, LONG_S) == [1]  # what is there needs no wait
    wakeups.close()
    await waiting
