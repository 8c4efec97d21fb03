"""Work that takes the processor for long, in a process of its own: requests go on meanwhile, and what takes too long is ended."""

from collections.abc import Callable
from importlib import import_module
from typing import ParamSpec, TypeVar

import anyio
from anyio import to_process
from anyio.lowlevel import RunVar

from wallwatch_backend.kit.problems import WallwatchError

P = ParamSpec("P")
R = TypeVar("R")

MOST_PROCESSES = 2
"""Some 80 MB each; who comes later waits."""
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("workers")


class TookTooLong(WallwatchError):
    status, code, title = 422, "took_too_long", "This takes more time than one request may"


def _begin(module: str) -> None:
    import_module(module)


def _the_limiter() -> anyio.CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        made = anyio.CapacityLimiter(MOST_PROCESSES)
        _limiter.set(made)
        return made


async def in_worker(seconds: float, what: str, work: Callable[P, R], *args: P.args, **_: P.kwargs) -> R:
    """Run a function of a module with arguments that can be pickled; its process is killed when the time is up.

    The time begins once a process is there that has the module: on a busy machine its start takes seconds, and is not to begin anew
    with every request.

    Raises
    ------
    TookTooLong
        After so many seconds, the wait for a free process included.
    """
    try:
        await to_process.run_sync(_begin, work.__module__, limiter=_the_limiter())
        with anyio.fail_after(seconds):
            return await to_process.run_sync(work, *args, cancellable=True, limiter=_the_limiter())
    except (TimeoutError, anyio.BrokenWorkerProcess):
        raise TookTooLong(f"{what} was not done within {seconds:g} s and was ended.") from None
