"""`make test`, `make test PART=...`, `make test-fast`: runs stages and prints a summary with the time of each."""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shutil import rmtree
from signal import SIGTERM

from wallwatch_local import kept_servers
from wallwatch_local.errors import LocalStackError
from wallwatch_local.parts import needs_servers
from wallwatch_local.paths import local_dir
from wallwatch_local.processes import die_with_parent, stop
from wallwatch_local.signals import Interrupted, interruptible
from wallwatch_local.stages import Runner, Stage, summary

SERVERS_TIMEOUT_S = 120.0


def run(lanes: Sequence[Sequence[Stage]]) -> int:
    """Run all stages; returns the exit code: 1 when one failed."""
    results = local_dir() / "test-logs"
    rmtree(results, ignore_errors=True)
    begin = time.monotonic()
    try:
        with interruptible("\nstopping ...\n"), _servers(lanes):
            outcomes = Runner(results).run(lanes)
    except Interrupted:
        return 130
    except LocalStackError as error:
        print(error, file=sys.stderr)
        return 1
    print(summary(outcomes))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # with the shared servers
    print(f"{'all':<18} {time.monotonic() - begin:>7.0f}  {used.ru_utime + used.ru_stime:>7.0f}")
    return 0 if all(one.code == 0 for one in outcomes) else 1


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
