"""A test module that fails beside other work gets one second try, alone on the machine, and the summary names what failed.

Thousands of tests use real servers, processes and clocks while two lanes compete for the same cores. One of them can run into a limit that
says nothing about the product. A second try tells such a failure from a defect, and a failure of any size is still one: tests of
pure functions get none, nor do more than `MOST_MODULES` modules, nor a stage that ended in any other way than by failed tests. A stage with
both kinds of tests gets one only if every test that failed uses something real: for pytest that is one that requires servers, for Go one in
a package whose tests use sockets, servers or processes. A module of Go is a package.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wallwatch_local.stages import Outcome, Runner, Stage

MOST_MODULES = 3
TESTS_FAILED = 1  # pytest's exit code when tests ran and some failed
TAB, REAL = "\t", "real"
PLAYWRIGHT_COUNT = re.compile(r"^\s+\d+ (failed|flaky|interrupted)$")


@dataclass(frozen=True)
class Failure:
    """A test that failed: its name, why in one line, whether it passed in a second try, and whether it is known to use something real."""

    stage: str
    test: str
    reason: str = ""
    recovered: bool = False
    real: bool = False


def failures_file(results: Path, stage: Stage) -> Path:
    """Where the failures of a stage's tests are written, as `record` does it."""
    return results / f"{stage.name}.failures"


def record(file: Path, test: str, reason: str, real: bool) -> None:
    """Add a failure: the test, `real` or nothing, and the first line of the reason, separated by tabs."""
    lines = reason.strip().splitlines()
    with file.open("a") as output:
        output.write(f"{test}\t{REAL if real else ''}\t{lines[0].replace(TAB, ' ')[:200] if lines else ''}\n")


def give(runner: Runner, results: Path, outcomes: Sequence[Outcome]) -> tuple[list[Outcome], list[Failure]]:
    """Run the failed modules again, one stage at a time; returns the outcomes after that, and every failure."""
    failures = {outcome.stage.name: failures_of(results, outcome) for outcome in outcomes}
    candidates = {outcome.stage.name: _modules(outcome, failures[outcome.stage.name]) for outcome in outcomes}
    modules = [module for some in candidates.values() for module in some]
    if len(modules) > MOST_MODULES or "" in modules:  # without a path, pytest would run every test
        return list(outcomes), [failure for some in failures.values() for failure in some]
    settled = list(outcomes)
    for at, outcome in enumerate(outcomes):
        if modules := candidates[outcome.stage.name]:
            again = runner.run([[_again(outcome.stage, modules)]])[0]
            settled[at] = replace(outcome, second_code=again.code, wall_s=outcome.wall_s + again.wall_s, cpu_s=outcome.cpu_s + again.cpu_s)
            failures[outcome.stage.name] = [replace(one, recovered=again.code == 0) for one in failures[outcome.stage.name]]
    return settled, [failure for some in failures.values() for failure in some]


def failures_of(results: Path, outcome: Outcome) -> list[Failure]:
    """What failed in a stage, as its test runner recorded it."""
    name = outcome.stage.name
    try:
        lines = failures_file(results, outcome.stage).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return _of_playwright(name, outcome.log) if outcome.stage.part == "e2e" else []
    parts = [line.split(TAB) for line in lines]
    return [Failure(name, test, reason, real=real == REAL) for test, real, reason in parts]


def _of_playwright(stage: str, log: Path) -> list[Failure]:
    """Playwright ends with a list of the tests below each count. It tries again by itself, and calls what passes then flaky."""
    failures: list[Failure] = []
    kind = ""
    for line in log.read_text(errors="replace").splitlines():
        if found := PLAYWRIGHT_COUNT.match(line):
            kind = found[1]
        elif kind and line.startswith("    ["):
            failures.append(Failure(stage, line.strip().rstrip("─ "), recovered=kind == "flaky"))
        else:
            kind = ""
    return failures


def _modules(outcome: Outcome, failures: Sequence[Failure]) -> list[str]:
    """The modules to try again; none for a stage that gets no second try, or has failed for good."""
    stage = outcome.stage
    if outcome.code != TESTS_FAILED or not stage.second_try or (stage.mixed and not all(failure.real for failure in failures)):
        return []
    return sorted({failure.test.partition("::")[0] for failure in failures})


def _again(stage: Stage, modules: Sequence[str]) -> Stage:
    return replace(stage, name=f"{stage.name}-again", command=(*stage.second_try, *modules), alone=False)


def report(failures: Sequence[Failure]) -> str:
    """The last lines of a run: each test that failed, and whether it passed alone.

    >>> print(report([Failure("pytest-local", "test_a.py::test_b", "TimeoutError", recovered=True)]))
    failed once, passed in a second try: 1
      pytest-local test_a.py::test_b: TimeoutError
    """
    blocks = []
    for recovered, title in ((True, "failed once, passed in a second try"), (False, "failed")):
        some = [one for one in failures if one.recovered is recovered]
        if some:
            shown = [f"  {one.stage} {one.test}" + (f": {one.reason}" if one.reason else "") for one in some[:10]]
            more = [f"  and {len(some) - 10} more"] if len(some) > 10 else []
            blocks.append("\n".join([f"{title}: {len(some)}", *shown, *more]))
    return "\n".join(blocks)
