"""Makes series, has them judged by the command and by the naive rule, several at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.isolation_series.judge import Score, Wrong, judge
from tests.isolation_series.kinds import make
from tests.isolation_series.naive import naive
from tests.isolation_series.product import Refused, detect, name

HELD_OUT_FROM = 1001
"""Seeds from here on are not for development: they are run once, when the detector is finished."""


@dataclass(frozen=True)
class Task:
    """One series to judge."""

    kind: str
    seed: int
    keep: Path | None = None
    only_wrong: bool = False


@dataclass(frozen=True)
class Result:
    """How the command and the naive rule judged one series."""

    task: Task
    product: Score
    naive: Score


def run(task: Task) -> Result:
    """Make and judge one series."""
    series = make(task.kind, task.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = task.keep or Path(scratch)
        try:
            product = judge(series, detect(series, folder))
        except Refused as reason:
            product = Score(series=1, refused=1, wrong=[Wrong(task.kind, task.seed, 0.0, "refused", "", str(reason))])
    if task.keep and task.only_wrong and not product.wrong:
        for file in task.keep.glob(f"{name(series)}.*"):
            file.unlink()
    return Result(task, product, judge(series, naive(series)))


def run_all(tasks: Iterable[Task], processes: int = 0, done: Callable[[Result], None] = lambda _: None) -> list[Result]:
    """Judge all over `processes` (0: all cores); results in the order of the tasks."""
    tasks = list(tasks)
    processes = processes or os.cpu_count() or 1
    results = []
    if processes == 1 or len(tasks) == 1:
        for task in tasks:
            results.append(run(task))
            done(results[-1])
        return results
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for result in pool.map(run, tasks):
            results.append(result)
            done(result)
    return results
