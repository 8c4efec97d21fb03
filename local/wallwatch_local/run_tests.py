"""`make test`, `make test PART=...`, `make test-fast`: runs stages and prints a summary with the time of each."""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from signal import SIGTERM

from wallwatch_local import kept_servers, second_tries
from wallwatch_local.errors import LocalStackError
from wallwatch_local.parts import needs_servers
from wallwatch_local.paths import FAILURES_VARIABLE, local_dir
from wallwatch_local.processes import die_with_parent, stop
from wallwatch_local.signals import Interrupted, interruptible
from wallwatch_local.stages import Outcome, Runner, Stage, summary

SERVERS_TIMEOUT_S = 120.0


def run(lanes: Sequence[Sequence[Stage]]) -> int:
    """Run all stages; returns the exit code: 1 when one failed."""
    results = local_dir() / "test-logs"
    rmtree(results, ignore_errors=True)
    begin = time.monotonic()
    try:
        with interruptible("\nstopping ...\n"), _servers(lanes):
            outcomes, failures = run_all(results, lanes)
    except Interrupted:
        return 130
    except LocalStackError as error:
        print(error, file=sys.stderr)
        return 1
    print(summary(outcomes))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # with the shared servers
    print(f"{'all':<18} {time.monotonic() - begin:>7.0f}  {used.ru_utime + used.ru_stime:>7.0f}")
    if failures:
        print(second_tries.report(failures))
    return 0 if all(one.passed for one in outcomes) else 1


def run_all(results: Path, lanes: Sequence[Sequence[Stage]]) -> tuple[list[Outcome], list[second_tries.Failure]]:
    """Run all stages, then what gets a second try."""
    runner = Runner(results)
    recorded = [[_recording_failures(results, stage) for stage in lane] for lane in lanes]
    return second_tries.give(runner, results, runner.run(recorded))


def _recording_failures(results: Path, stage: Stage) -> Stage:
    path = second_tries.failures_file(results, stage)
    return replace(stage, environment={**stage.environment, FAILURES_VARIABLE: str(path)})


@contextmanager
def _servers(lanes: Sequence[Sequence[Stage]]) -> Iterator[None]:
    """PostgreSQL and Kafka for all stages, if several would start their own; kept servers are used and stay up."""
    if not needs_servers(lanes) or kept_servers.find() is not None:
        yield
        return
    command = [sys.executable, "-m", "wallwatch_local", "test-servers", "run"]
    log = local_dir() / "test-servers.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            die_with_parent(command, SIGTERM), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        kept_servers.wait_for(process, log)
        yield
    finally:
        stop(process, SIGTERM, kept_servers.STOP_TIMEOUT_S)
