"""Runs CPU-bound work in separate processes: requests continue meanwhile, and work that takes too long is killed."""

from collections.abc import Callable
from importlib import import_module
from typing import ParamSpec, TypeVar

import anyio
from anyio import to_process
from anyio.lowlevel import RunVar

from wallwatch_backend.kit.problems import WallwatchError

P = ParamSpec("P")
R = TypeVar("R")

MAX_PROCESSES = 2
"""About 80 MB each; further work waits."""
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("workers")


class TookTooLong(WallwatchError):
    status, code, title = 422, "took_too_long", "This takes more time than one request may"


def _load(module: str) -> None:
    import_module(module)


def _current_limiter() -> anyio.CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(MAX_PROCESSES)
        _limiter.set(limiter)
        return limiter


async def run_in_process(seconds: float, what: str, work: Callable[P, R], *args: P.args, **_: P.kwargs) -> R:
    """Run a function of a module with arguments that can be pickled; kill its process when the time is up.

    The time begins once a process has imported the module: on a busy machine that takes seconds, and must not count against each request.

    Raises
    ------
    TookTooLong
        After `seconds`, including the wait for a free process.
    """
    try:
        await to_process.run_sync(_load, work.__module__, limiter=_current_limiter())
        with anyio.fail_after(seconds):
            return await to_process.run_sync(work, *args, cancellable=True, limiter=_current_limiter())
    except (TimeoutError, anyio.BrokenWorkerProcess):
        raise TookTooLong(f"{what} did not finish within {seconds:g} s and was stopped.") from None
