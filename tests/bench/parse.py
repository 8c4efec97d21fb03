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


def measure(package: str, benchmark: str) -> dict[str, float]:
    """Flows per second, flows per second of CPU time (where other work runs meanwhile, the better figure), bytes allocated per flow."""
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
    units = {"flows_per_s": ("flows/s", 1), "flows_per_cpu_s": ("flows/cpu-s", 1), "bytes_allocated_per_flow": ("B/op", FLOWS)}
    found = {name: re.findall(rf"([\d.]+) {unit}(?=\s)", done.stdout) for name, (unit, _) in units.items()}
    if done.returncode != 0 or any(len(values) != RUNS for values in found.values()):
        raise RuntimeError(f"{' '.join(command)} ended with code {done.returncode}:\n{done.stdout}{done.stderr}")
    return {name: statistics.median(float(value) for value in values) / units[name][1] for name, values in found.items()}


def main() -> None:
    """Measure and report."""
    figures: dict[str, float] = {}
    for name, package, benchmark in BENCHMARKS:
        figures |= {f"{name}_{unit}": value for unit, value in measure(package, benchmark).items()}
    report("parse", **figures, flows=FLOWS)


if __name__ == "__main__":
    main()
