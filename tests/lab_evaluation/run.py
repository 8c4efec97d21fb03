"""Runs the lab and the plain labs on planted devices, several at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import Any

from tests.lab_evaluation.adapter import lab_report
from tests.lab_evaluation.judge import judge
from tests.lab_evaluation.naive import BUDGET, Rows, pairwise_rows, random_rows, run_naive

from dut_zoo.device import Device
from dut_zoo.kinds import make

HELD_OUT_FROM = 1001
"""Seeds from here on are not for development: they are judged once, when the lab is finished."""


@dataclass(frozen=True)
class Task:
    """One device to examine."""

    kind: str
    seed: int


@dataclass(frozen=True)
class Plain:
    """What a plain lab found out about a device."""

    right: bool
    tests: int
    """Tests until its last cause was found; its budget where it is not right."""
    spent: int
    """Tests until it stopped."""


@dataclass(frozen=True)
class Row:
    """What the lab and the plain labs found out about a device."""

    kind: str
    seed: int
    exact: bool
    right: bool
    f1: float
    tests: int
    found_at: int
    """Tests until the last cause was found."""
    invalid: int
    complete: bool
    overhead_ms: float
    """CPU time per test that is not the device's, in ms: other programs on the machine do not change it."""
    brute_force: int
    random: Plain
    pairwise: Plain
    wrong: tuple[str, ...] = ()

    def stored(self) -> dict[str, Any]:
        """As JSON: without times, which differ between machines."""
        return {key: value for key, value in asdict(self).items() if key != "overhead_ms"}


def read_row(stored: dict[str, Any]) -> Row:
    """A row that was stored."""
    plain = {name: Plain(**stored[name]) for name in ("random", "pairwise")}
    return Row(**{**stored, **plain, "overhead_ms": stored.get("overhead_ms", 0.0), "wrong": tuple(stored["wrong"])})


class Timed(Device):
    """A device that knows how much CPU time its own answers took, in seconds."""

    seconds = 0.0

    def test(self, config: Any) -> dict[str, Any]:
        """Test, and measure what it takes."""
        start = time.process_time()
        answer = super().test(config)
        self.seconds += time.process_time() - start
        return answer


def run(task: Task) -> Row:
    """Examine one device."""
    planted = make(task.kind, task.seed)
    device = Timed(planted, task.seed)
    start = time.process_time()
    report = lab_report(device, BUDGET, task.seed)
    elapsed = time.process_time() - start - device.seconds
    verdict = judge(planted, report, device.ledger, task.seed)
    return Row(
        task.kind,
        task.seed,
        verdict.exact,
        verdict.right,
        round(verdict.f1, 4),
        verdict.tests,
        report["found_at"],
        verdict.invalid,
        verdict.complete,
        1000 * elapsed / max(verdict.tests, 1),
        planted.brute_force,
        plain(task, random_rows),
        plain(task, pairwise_rows),
        verdict.wrong,
    )


def plain(task: Task, rows: Rows) -> Plain:
    """The same device under a plain lab."""
    planted = make(task.kind, task.seed)
    device = Device(planted, task.seed)
    report = run_naive(device, rows, task.seed)
    verdict = judge(planted, report, device.ledger, task.seed)
    tests = max(report["found_at"], default=report["tests"]) if verdict.right else BUDGET
    return Plain(verdict.right, tests, report["tests"])


def run_all(tasks: Iterable[Task], processes: int = 0, done: Callable[[Row], None] = lambda _: None) -> list[Row]:
    """Examine all over `processes` (0: all cores); rows in the order of the tasks."""
    tasks = list(tasks)
    processes = processes or os.cpu_count() or 1
    rows = []
    if processes == 1 or len(tasks) == 1:
        for task in tasks:
            rows.append(run(task))
            done(rows[-1])
        return rows
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for row in pool.map(run, tasks):
            rows.append(row)
            done(row)
    return rows
