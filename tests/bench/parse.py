"""How fast a flow dump is parsed: whole lines as Open vSwitch prints them with -m, each with counters, match and actions. One core.

`parse` is the parser alone, line by line; `gathering` is what one gathering does with a dump of flows that are known already, without the
socket. Both are Go benchmarks; the median of three runs counts.
"""

import os
import re
import statistics
import subprocess

from tests.bench.report import report

from wallwatch_local.paths import REPOSITORY

COLLECTORS = REPOSITORY / "collectors"
RUNS = 3
FLOWS = 10_000
BENCHMARKS = (
    ("parse", "./internal/ovs/dpctl", "BenchmarkWholeLines"),
    ("gathering", "./plugins/inputs/ovs_offload", "BenchmarkDumpOf10000Flows"),
)


def measure(package: str, benchmark: str) -> tuple[float, float]:
    """Flows per second and bytes allocated per flow."""
    command = [
        "go",
        "test",
        "-mod=readonly",
        "-run",
        "^$",
        "-bench",
        f"^{benchmark}$",
        "-benchtime",
        "2s",
        "-count",
        str(RUNS),
        "-cpu",
        "1",
        package,
    ]
    done = subprocess.run(command, cwd=COLLECTORS, env={**os.environ, "CGO_ENABLED": "0"}, capture_output=True, text=True, check=False)
    rates = [float(found) for found in re.findall(r"([\d.]+) flows/s", done.stdout)]
    allocated = [float(found) for found in re.findall(r"([\d.]+) B/op", done.stdout)]
    if done.returncode != 0 or len(rates) != RUNS:
        raise RuntimeError(f"{' '.join(command)} ended with code {done.returncode}:\n{done.stdout}{done.stderr}")
    return statistics.median(rates), statistics.median(allocated) / FLOWS


def main() -> None:
    """Measure and report."""
    figures: dict[str, float] = {}
    for name, package, benchmark in BENCHMARKS:
        figures[f"{name}_flows_per_s"], figures[f"{name}_bytes_allocated_per_flow"] = measure(package, benchmark)
    report("parse", **figures, flows=FLOWS)


if __name__ == "__main__":
    main()
