"""Stages of the tests: each is one command that runs to its end even if others fail, with its own log."""

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals
from typing import IO, cast

from wallwatch_local.paths import REPOSITORY
from wallwatch_local.processes import die_with_parent, last_lines

SUMMARY_LINES = 12
GRACE_S = 60.0  # test runners stop their servers first
DEATH_MARK = "Fatal Python error"  # a crashed interpreter prints the location at the start of a long dump
DEATH_LINES = 40


@dataclass(frozen=True)
class Stage:
    """One command of a part.

    Parameters
    ----------
    repeats_end
        Whether the summary shows the end of its output even if it passed, for test runners that count their tests.
    alone
        Whether nothing may run next to it; such stages run first.
    second_try
        The command to which failed test modules are appended to run them once more; empty if failures get no second try.
    mixed
        Whether some of its tests are pure: one second try for those that use something real, and none once a pure one has failed.
    """

    part: str
    name: str
    command: tuple[str, ...]
    directory: Path = REPOSITORY
    environment: Mapping[str, str] = field(default_factory=dict)
    repeats_end: bool = False
    alone: bool = False
    second_try: tuple[str, ...] = ()
    mixed: bool = False


@dataclass(frozen=True)
class Outcome:
    """Result of a stage: exit code, wall-clock seconds, CPU seconds including all descendants, and the exit code of a second try."""

    stage: Stage
    code: int
    wall_s: float
    cpu_s: float
    log: Path
    second_code: int | None = None

    @property
    def passed(self) -> bool:
        return 0 in (self.code, self.second_code)

    @property
    def verdict(self) -> str:
        if self.code == 0:
            return "ok"
        if self.second_code == 0:
            return f"ok in a second try ({self.code} at first)"
        return f"FAILED ({self.code})"


class Runner:
    """Runs lanes of stages in parallel; the stages of a lane run one after another, and those that run alone come before all lanes."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, lanes: Sequence[Sequence[Stage]]) -> list[Outcome]:
        """Run all stages; with more than one lane, each line of output starts with its stage's name."""
        self._results.mkdir(parents=True, exist_ok=True)
        outcomes: list[Outcome] = []
        alone = [stage for lane in lanes for stage in lane if stage.alone]
        together = [rest for lane in lanes if (rest := [stage for stage in lane if not stage.alone])]
        self._run_in_parallel([alone], outcomes)
        self._run_in_parallel(together, outcomes)
        return outcomes

    def _run_in_parallel(self, lanes: Sequence[Sequence[Stage]], outcomes: list[Outcome]) -> None:
        threads = [threading.Thread(target=self._run_lane, args=(lane, len(lanes) > 1, outcomes), daemon=True) for lane in lanes]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.1)  # in the main thread, so that a signal ends the run immediately
        except BaseException:
            self._stop(threads)
            raise

    def _run_lane(self, lane: Iterable[Stage], prefixed: bool, outcomes: list[Outcome]) -> None:
        for stage in lane:
            if self._stopped:
                return
            outcome = self._run_stage(stage, f"{stage.name} | " if prefixed else "")
            with self._lock:
                outcomes.append(outcome)

    def _run_stage(self, stage: Stage, prefix: str) -> Outcome:
        begin, log = time.monotonic(), self._results / f"{stage.name}.log"
        self._say(f"\n=== {stage.name}: {' '.join(stage.command)}\n")
        process = subprocess.Popen(
            die_with_parent(stage.command, SIGTERM),
            cwd=stage.directory,
            env={**os.environ, **stage.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        with self._lock:
            self._running.add(process)
        with log.open("w") as copy, cast(IO[str], process.stdout) as output:
            for line in output:
                copy.write(line)
                self._say(prefix + line)
        code, usage = _wait(process)
        with self._lock:
            self._running.discard(process)
        outcome = Outcome(stage, code, time.monotonic() - begin, usage.ru_utime + usage.ru_stime, log)
        self._say(f"=== {stage.name}: {outcome.verdict} after {outcome.wall_s:.0f} s\n")
        return outcome

    def _say(self, text: str) -> None:
        with self._lock, suppress(OSError, ValueError):
            sys.stdout.write(text)
            sys.stdout.flush()

    def _stop(self, threads: Sequence[threading.Thread]) -> None:
        self._stopped = True
        for signal, wait_s in ((SIGINT, GRACE_S), (SIGTERM, 5.0), (SIGKILL, 5.0)):
            self._signal(signal)
            deadline = time.monotonic() + wait_s
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))

    def _signal(self, signal: Signals) -> None:
        with self._lock:
            for process in self._running:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal)


def _wait(process: subprocess.Popen[str]) -> tuple[int, resource.struct_rusage]:
    """Like `Popen.wait`, with the resource usage of the process and its descendants."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


def summary(outcomes: Sequence[Outcome]) -> str:
    """The final output: the log ends of failed stages and test runners, then a table of the time per stage."""
    blocks = ["\n\n=== summaries"]
    for outcome in outcomes:
        if outcome.code != 0 or outcome.stage.repeats_end:
            blocks.append(f"\n--- {outcome.stage.name}: {outcome.verdict}\n{last_lines(outcome.log, SUMMARY_LINES)}")
        if outcome.code != 0:
            blocks.append(_death(outcome.log))
    return "\n".join(block for block in blocks if block) + "\n\n" + table(outcomes)


def table(outcomes: Sequence[Outcome]) -> str:
    """Wall-clock and CPU seconds of each stage; stages of different lanes run at the same time.

    >>> print(table([Outcome(Stage("lint", "ruff", ("ruff",)), 0, 1.6, 2.4, Path("ruff.log"))]))
    stage              seconds    CPU s  verdict
    ruff                     2        2  ok
    """
    lines = [f"{'stage':<18} {'seconds':>7}  {'CPU s':>7}  verdict"]
    lines += [f"{one.stage.name:<18} {one.wall_s:>7.0f}  {one.cpu_s:>7.0f}  {one.verdict}" for one in outcomes]
    return "\n".join(lines)


def _death(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    at = next((number for number, line in enumerate(lines) if DEATH_MARK in line), None)
    return "" if at is None else "\n".join(lines[at : at + DEATH_LINES + 1])
