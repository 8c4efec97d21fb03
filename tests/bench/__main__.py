"""`python -m tests.bench [NAME...]`: runs the benchmarks one after another, each in its own process. Requires `make setup` and root.

A failing benchmark prints a line with its error; the exit code is then 1.
"""

import subprocess
import sys

from tests.bench.report import report

from wallwatch_local.paths import REPOSITORY

BENCHMARKS = (
    "load",
    "fleet",
    "record",
    "ingest",
    "disk",
    "classify",
    "isolation",
    "isolation_memory",
    "isolation_store",
    "incidents",
    "api",
    "agents",
    "ltl",
    "plan",
    "placement",
    "measured_placement",
    "profiling",
    "parse",
    "collector",
    "freshness",
    "fleet_paint",
    "pages",
    "fleet_metrics",
    "forecast",
    "training",
    "lab",
)
TIMEOUT_S = 900


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"unknown benchmark {', '.join(sorted(unknown))}: choose from {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names or BENCHMARKS:
        # One process per benchmark, so that none is affected by memory that another left behind.
        command = [sys.executable, "-m", f"tests.bench.{name}"]
        try:
            code = subprocess.run(command, cwd=REPOSITORY, timeout=TIMEOUT_S, check=False).returncode
        except subprocess.TimeoutExpired:
            code = -1
        if code != 0:
            failed = 1
            report(name, error=f"ended with code {code}; its messages are above")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
