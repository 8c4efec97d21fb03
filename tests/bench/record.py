"""How many seconds of a simulated fleet `fleetsim record` records in one second.

The fleets are that of the demo (8 hosts, 32 RNICs) and one quiet host with 4 RNICs. WALLWATCH_BENCH_RECORD_S is how many virtual
seconds are recorded of each (300).
"""

import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from tests.bench.report import report

from wallwatch_local.paths import REPOSITORY, binary

LENGTH_S = int(os.environ.get("WALLWATCH_BENCH_RECORD_S", "300"))
SECONDS_OF_A_DAY = 86_400
QUIET = """# One host with nothing wrong.
name: quiet
seed: 1
topology: {racks: 1, hosts: 1, rnics_per_host: 4, models: [CX-6, CX-7, E810, CX-5], firmware: fixed, externals: 40}
workload:
  - {kind: training, containers: 2, flows: 24, gbps: 6}
  - {kind: microservices, containers: 4, flows: 110, gbps: 3, flow_lifetime: 45s, container_lifetime: 10m}
"""


def speed(scenario: Path, out: Path, interval: str) -> tuple[float, float]:
    """Virtual seconds for each second of the clock, and for each of CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    command = [
        str(binary("fleetsim")),
        "record",
        "--scenario",
        str(scenario),
        "--out",
        str(out),
        "--interval",
        interval,
        "--for",
        f"{LENGTH_S}s",
    ]
    subprocess.run(command, check=True, capture_output=True)
    elapsed = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return LENGTH_S / elapsed, LENGTH_S / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Measure and report."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as name:
        folder = Path(name)
        quiet = folder / "quiet.yaml"
        quiet.write_text(QUIET)
        for fleet, scenario in {"demo": REPOSITORY / "tests" / "scenarios" / "demo.yaml", "quiet_host": quiet}.items():
            for interval in ("10s", "1s"):
                wall, cpu = speed(scenario, folder / f"{fleet}-{interval}", interval)
                figures[f"{fleet}_{interval}_virtual_s_per_s"] = wall
                figures[f"{fleet}_{interval}_virtual_s_per_cpu_s"] = cpu
    day_s = SECONDS_OF_A_DAY / figures["quiet_host_10s_virtual_s_per_s"]
    report("record", **figures, quiet_host_day_at_10s_s=day_s, recorded_s=LENGTH_S)


if __name__ == "__main__":
    main()
