"""Callers that ask the same at the same moment share a query, and none gets an answer older than its question."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from wallwatch_backend.kit.shared_reads import SharedAnswers, SharedLookup


class Table:
    """A table whose content is the number of the query that reads it; each query waits for a permission."""

    def __init__(self) -> None:
        self.queries: list[Sequence[str]] = []
        self.begun, self.go_on = asyncio.Semaphore(0), asyncio.Semaphore(0)
        self.broken = False

    async def look_up(self, keys: Sequence[str]) -> Mapping[str, int]:
        self.queries.append(sorted(keys))
        number = len(self.queries)
        self.begun.release()
        await self.go_on.acquire()
        if self.broken:
            raise OSError("the database is away")
        return {key: number for key in keys if key != "unknown"}


async def test_whoever_asks_while_a_query_runs_gets_the_next_one_s_answer() -> None:
    table = Table()
    lookup = SharedLookup(table.look_up)
    first = asyncio.create_task(lookup.get("a"))
    await table.begun.acquire()
    later = [asyncio.create_task(lookup.get(key)) for key in ("a", "a", "b", "unknown")]
    table.go_on.release()
    assert await first == 1
    await table.begun.acquire()
    table.go_on.release()
    assert await asyncio.gather(*later) == [2, 2, 2, None]
    assert table.queries == [["a"], ["a", "b", "unknown"]]
    assert lookup.is_idle


async def test_a_failed_query_fails_for_its_own_callers_only() -> None:
    table = Table()
    lookup = SharedLookup(table.look_up)
    table.broken = True
    failing = [asyncio.create_task(lookup.get("a")), asyncio.create_task(lookup.get("b"))]
    table.go_on.release()
    results = await asyncio.gather(*failing, return_exceptions=True)
    assert [type(result) for result in results] == [OSError, OSError]
    table.broken = False
    table.go_on.release()
    assert await lookup.get("a") == 2


async def test_a_caller_that_leaves_takes_nothing_from_the_others() -> None:
    table = Table()
    lookup = SharedLookup(table.look_up)
    leaving, staying = asyncio.create_task(lookup.get("a")), asyncio.create_task(lookup.get("a"))
    await table.begun.acquire()
    leaving.cancel()
    table.go_on.release()
    assert await staying == 1
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_questions_of_different_keys_do_not_wait_for_each_other_and_leave_nothing_behind() -> None:
    answers, slow = SharedAnswers(), asyncio.Event()
    asked: list[str] = []

    async def ask_slowly() -> str:
        asked.append("slow")
        await slow.wait()
        return "slow"

    async def ask() -> str:
        asked.append("quick")
        await asyncio.sleep(0)
        return "quick"

    waiting = [asyncio.create_task(answers.get("slow", ask_slowly)) for _ in range(3)]
    assert await asyncio.gather(*(answers.get("quick", ask) for _ in range(5))) == ["quick"] * 5
    slow.set()
    assert await asyncio.gather(*waiting) == ["slow"] * 3
    assert asked.count("quick") == 1
    assert asked.count("slow") == 1
    assert answers.size == 0


async def test_an_error_of_an_answer_reaches_who_asked_and_the_next_one_asks_again() -> None:
    answers = SharedAnswers()

    async def refuse() -> int:
        raise ValueError("a bad cursor")

    async def ask() -> int:
        return 7

    with pytest.raises(ValueError, match="bad cursor"):
        await answers.get("page", refuse)
    assert await answers.get("page", ask) == 7


async def test_a_question_whose_only_caller_left_leaves_nothing_behind() -> None:
    answers, begun, go_on = SharedAnswers(), asyncio.Event(), asyncio.Event()

    async def ask() -> str:
        begun.set()
        await go_on.wait()
        return "unheard"

    leaving = asyncio.create_task(answers.get("page", ask))
    await begun.wait()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert answers.size == 1
    go_on.set()
    assert await answers.get("page", ask) == "unheard"  # waits for the round that nobody heard, too
    assert answers.size == 0


async def test_a_question_asked_while_it_is_answered_is_answered_again() -> None:
    """Whoever has written and then reads must find what was written, also when somebody else's older query is still under way."""
    answers, written, go_on = SharedAnswers(), ["old"], [asyncio.Event(), asyncio.Event()]
    begun = [asyncio.Event(), asyncio.Event()]
    rounds = iter(range(2))

    async def ask() -> str:
        number = next(rounds)
        seen = written[0]
        begun[number].set()
        await go_on[number].wait()
        return seen

    before = asyncio.create_task(answers.get("page", ask))
    await begun[0].wait()
    written[0] = "new"
    after = asyncio.create_task(answers.get("page", ask))
    await asyncio.sleep(0)
    go_on[0].set()
    await begun[1].wait()
    go_on[1].set()
    assert (await before, await after) == ("old", "new")
