"""Tasks that run as long as the process: restarted when they fail, and some of them on one replica at a time, the leader.

The leader holds an advisory lock of PostgreSQL. A killed process loses the lock with its connection, and another replica takes over; so
does the lock of a machine that is gone, once PostgreSQL's probes get no answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import psycopg
import structlog
from prometheus_client import Counter, Gauge

from wallwatch.database_liveness import NOTICE_DEAD_CLIENT

log = structlog.get_logger(__name__)
LEADER = Gauge("wallwatch_background_leader", "1 while this process does the background work")
FAILURES = Counter("wallwatch_background_failures", "Background tasks that failed and were restarted", ["task"])

LOCK = 7_241_010
_ASK_EVERY_S = 2.0
_RESTART_MAX_S = 30.0
_END_S = 30.0
"""How long cancelled tasks may take to end before the process tries to lead again: a call that never returns must not end all others."""

Task = Callable[[], Awaitable[None]]


async def restart_forever(name: str, task: Task) -> None:
    """Run a task; restart it, after a growing pause, when it ends or fails."""
    pause_s = 1.0
    while True:
        started = asyncio.get_running_loop().time()
        try:
            await task()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            FAILURES.labels(name).inc()
            first = _first_of(error)
            log.error("background_task_failed", task=name, error=type(first).__name__, detail=str(first).splitlines()[:1], retry_s=pause_s)
        if asyncio.get_running_loop().time() - started > 60:
            pause_s = 1.0
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, _RESTART_MAX_S)


def _first_of(error: Exception) -> BaseException:
    """What went wrong first where several tasks of a group failed.

    >>> _first_of(ExceptionGroup("two tasks", [ExceptionGroup("one", [KeyError("host")]), OSError()]))
    KeyError('host')
    """
    first: BaseException = error
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first


async def work_through(process_batch: Callable[[], Awaitable[int]], full: int, period_s: float) -> None:
    """Process batches until cancelled: the next one at once after a full batch, otherwise after a pause of `period_s` seconds.

    `process_batch` returns how many items it processed; `full` is the most that it takes at a time.
    """
    while True:
        if await process_batch() < full:
            await asyncio.sleep(period_s)


async def run_on_leader(dsn: str, tasks: Mapping[str, Task]) -> None:
    """Wait for the lock, run the tasks while this process holds it, and stop them when it may be lost."""
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(dsn, autocommit=True, connect_timeout=5) as connection:
                await _while_held(connection, tasks)
        except (psycopg.Error, OSError) as error:
            log.warning("leader_connection_lost", error=str(error).splitlines()[0] if str(error) else type(error).__name__)
        await asyncio.sleep(_ASK_EVERY_S)


async def _while_held(connection: psycopg.AsyncConnection[tuple[object, ...]], tasks: Mapping[str, Task]) -> None:
    await connection.execute(NOTICE_DEAD_CLIENT)
    while True:
        row = await (await connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])).fetchone()
        if row is not None and row[0]:
            break
        await asyncio.sleep(_ASK_EVERY_S)
    log.info("leading")
    LEADER.set(1)
    running = [asyncio.create_task(restart_forever(name, task), name=name) for name, task in tasks.items()]
    try:
        while True:
            await asyncio.sleep(_ASK_EVERY_S)
            await connection.execute("SELECT 1")
    finally:
        LEADER.set(0)
        await _end(running)


async def _end(running: Sequence[asyncio.Task[None]]) -> None:
    for task in running:
        task.cancel()
    _, stuck = await asyncio.wait(running, timeout=_END_S)
    if stuck:
        log.error("background_tasks_do_not_end", tasks=sorted(task.get_name() for task in stuck), waited_s=_END_S)
